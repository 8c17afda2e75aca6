import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { startFlags } from '../../support/start-flags.ts';

/** A service process that can be killed, stopped and started again. */
export interface ServiceNode {
  /** Undefined while the process is stopped. */
  readonly url: string | undefined;
  readonly pid: number;
  /** The log and messages of all its processes. */
  readonly output: readonly string[];
  /** Resolves when the process listens. */
  start(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Sends SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Sends SIGTERM, and waits for the end. */
  stop(): Promise<void>;
}

export interface NodeSettings {
  readonly environment: Readonly<Record<string, string>>;
  /** The error of the process's wall clock, in milliseconds. */
  readonly clockShift?: number;
}

const startLimit = 60_000;

export function createServiceNode({ environment, clockShift = 0 }: NodeSettings): ServiceNode {
  const preload = clockShift === 0 ? [] : ['--import', path.join(import.meta.dirname, 'shifted-clock.ts')];
  const args = [...startFlags, ...preload, path.join(import.meta.dirname, 'program.ts')];
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    ...environment,
    FAULTS_CLOCK_SHIFT_MS: String(clockShift),
  };
  const output: string[] = [];
  let url: string | undefined;
  let pid = 0;
  let exited: Promise<unknown> = Promise.resolve();

  const signal = (name: NodeJS.Signals): void => {
    if (pid !== 0) process.kill(pid, name);
  };
  const end = async (name: NodeJS.Signals): Promise<void> => {
    url = undefined;
    signal(name);
    await exited;
  };
  return {
    get url() {
      return url;
    },
    get pid() {
      return pid;
    },
    output,
    async start() {
      const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      pid = child.pid ?? 0;
      exited = once(child, 'close').then(() => {
        url = undefined;
        pid = 0;
      });
      createInterface({ input: child.stdout }).on('line', (line) => output.push(line));
      const listening = new Promise<string>((resolve) => {
        createInterface({ input: child.stderr }).on('line', (line) => {
          output.push(line);
          const found = /^Listening on (\S+)/.exec(line)?.[1];
          if (found !== undefined) resolve(found);
        });
      });
      const timer = setTimeout(() => child.kill('SIGKILL'), startLimit);
      const found = await Promise.race([listening, exited.then(() => undefined)]);
      clearTimeout(timer);
      if (found === undefined) throw new Error(`The service did not start:\n${output.slice(-20).join('\n')}`);
      url = found;
    },
    signal,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}
