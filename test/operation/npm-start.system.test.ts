import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from '@jest/globals';
import { send } from '../support/send.ts';
import { createPrompt, setUpProcesses } from './operation-harness.ts';
import { until } from '../support/until.ts';

const processes = setUpProcesses();
const groups: ChildProcess[] = [];
afterEach(() => {
  for (const npm of groups.splice(0)) signalGroup(npm, 'SIGKILL');
});

interface Npm {
  readonly process: ChildProcess;
  readonly url: string;
  readonly messages: readonly string[];
}

/** Runs `npm start` as the leader of a process group, as a shell does. */
async function npmStart(): Promise<Npm> {
  const npm = spawn('npm', ['start'], {
    cwd: path.resolve(import.meta.dirname, '../..'),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...processes.environment },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  groups.push(npm);
  const messages: string[] = [];
  createInterface({ input: npm.stderr }).on('line', (line) => messages.push(line));
  const url = await until(() => messages.map((line) => /^Listening on (\S+)/.exec(line)?.[1]).find(Boolean));
  return { process: npm, url: url ?? '', messages };
}

function signalGroup({ pid = 0 }: ChildProcess, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}

describe('npm start', () => {
  it.each([
    ['SIGTERM to npm alone', (npm: ChildProcess) => npm.kill('SIGTERM')],
    // npm passes it on, so the service gets it twice.
    ['SIGINT to the whole group, as from a terminal', (npm: ChildProcess) => signalGroup(npm, 'SIGINT')],
  ])('finishes the requests in progress on %s, ends with 0, and leaves no process', async (_title, stop) => {
    const npm = await npmStart();
    const prompt = await createPrompt(npm);
    const answer = send(npm, 'POST', `${prompt}/invoke`, { model: 'mock-held' });
    await until(() => processes.mock.requests.length > 0);
    const exited = once(npm.process, 'exit');
    stop(npm.process);
    await until(() => npm.messages.some((line) => /^SIG\w+: finishing/.test(line)));
    processes.mock.release();
    expect((await answer).status).toBe(200);
    expect(await exited).toEqual([0, null]);
    expect(signalGroup(npm.process, 0)).toBe(false);
  });
});
