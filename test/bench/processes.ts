import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { LoadOptions, LoadResult } from './load.ts';
import type { StreamLoadOptions, StreamLoadResult } from './stream-load.ts';

const run = promisify(execFile);

/** Starts a program, discards its output, and waits until its URL gives any answer. */
export async function startProgram(
  file: string,
  args: readonly string[],
  url: string,
  environment: Record<string, string> = {},
): Promise<ChildProcess> {
  const child = spawn(file, args, {
    env: { ...process.env, ...environment },
    cwd: tmpdir(),
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  for (let attempts = 0; attempts < 1_200; attempts += 1) {
    if (child.exitCode !== null) throw new Error(`${file} ${args.join(' ')} ended with code ${child.exitCode}`);
    try {
      await (await fetch(url)).arrayBuffer();
      return child;
    } catch {
      await sleep(100);
    }
  }
  throw new Error(`${file} does not answer at ${url}`);
}

/** Ends a program and waits until it has ended. */
export async function stopProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** Resident memory of a process, in MiB (Linux). */
export async function residentMemory(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid ?? 0}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** CPU time that the threads of a process have used, in milliseconds (Linux, which counts it in nanoseconds). */
export async function cpuTime(pid: number | undefined): Promise<number> {
  const folder = `/proc/${pid ?? 0}/task`;
  const threads = await readdir(folder);
  const times = await Promise.all(threads.map((id) => readFile(`${folder}/${id}/schedstat`, 'utf8').catch(() => '0')));
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6;
}

/** Applies load from a process of its own. */
export async function loadFromOutside(options: LoadOptions): Promise<LoadResult> {
  return (await runProgram('load.ts', options)) as LoadResult;
}

/** Reads streams from a process of its own. */
export async function readStreamsFromOutside(options: StreamLoadOptions): Promise<StreamLoadResult> {
  return (await runProgram('stream-load.ts', options)) as StreamLoadResult;
}

async function runProgram(file: string, options: unknown): Promise<unknown> {
  const { stdout } = await run(process.execPath, [`${import.meta.dirname}/${file}`, JSON.stringify(options)]);
  return JSON.parse(stdout) as unknown;
}
