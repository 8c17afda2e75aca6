import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { adminKey } from './send.ts';
import { startFlags } from './start-flags.ts';

/** What every service that is tried under load and faults is started with. */
export const underTest = { PORT: '0', ADMIN_API_KEY: adminKey, RATE_LIMIT: 'off', LOG_LEVEL: 'warn' } as const;

/** How a process ended: one of the two is null. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The service in a process of its own, from `src/server.ts`. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** Lines of standard output so far: the log. */
  readonly log: readonly string[];
  /** Lines of standard error so far: the messages for the operator. */
  readonly messages: readonly string[];
  readonly exited: Promise<Exit>;
  signal(name: NodeJS.Signals): void;
  /** Sends SIGTERM, and waits for the end. */
  stop(): Promise<Exit>;
  /** Sends SIGKILL, and waits for the end. */
  kill(): Promise<Exit>;
}

/** The program of the service, which may not have started to listen yet. */
export interface SpawnedService {
  readonly pid: number;
  readonly log: string[];
  readonly messages: string[];
  readonly exited: Promise<Exit>;
  signal(name: NodeJS.Signals): void;
  /** Calls back for each line of standard error. */
  onMessage(listen: (line: string) => void): void;
}

export interface SpawnOptions {
  readonly args?: readonly string[];
  readonly workingDirectory?: string;
  /** Another program that starts the service. */
  readonly program?: string;
  /** The error of the wall clock, in milliseconds. */
  readonly clockShift?: number;
}

/** Runs the program of the service with only this environment. */
export function spawnService(
  environment: Readonly<Record<string, string>>,
  {
    args = [],
    workingDirectory = tmpdir(),
    program = path.resolve(import.meta.dirname, '../../src/server.ts'),
    clockShift = 0,
  }: SpawnOptions = {},
): SpawnedService {
  const preload = clockShift === 0 ? [] : ['--import', path.join(import.meta.dirname, 'shifted-clock.ts')];
  const child = spawn(process.execPath, [...startFlags, ...preload, program, ...args], {
    // No other variables of this process: settings for other tests must not configure the service.
    env: {
      ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
      ...(clockShift !== 0 && { CLOCK_SHIFT_MS: String(clockShift) }),
    },
    // No `.env` of the developer either.
    cwd: workingDirectory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  const messages: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => log.push(line));
  const said = createInterface({ input: child.stderr }).on('line', (line) => messages.push(line));
  return {
    pid: child.pid ?? 0,
    log,
    messages,
    // `close` comes after `exit`, when all output has been read.
    exited: once(child, 'close').then(
      ([code, signal]: (Exit['code'] | Exit['signal'])[]) => ({ code, signal }) as Exit,
    ),
    signal: (name) => void child.kill(name),
    onMessage: (listen) => said.on('line', listen),
  };
}

/** Starts the service with only this environment. Resolves when it listens. */
export async function startServiceProcess(
  environment: Readonly<Record<string, string>>,
  options?: SpawnOptions,
): Promise<ServiceProcess> {
  const { onMessage, ...service } = spawnService(environment, options);
  const listening = new Promise<string>((resolve) => {
    onMessage((line) => {
      const url = /^Listening on (\S+)/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const url = await Promise.race([listening, service.exited.then(() => undefined)]);
  if (url === undefined) throw new Error(`The service did not start:\n${service.messages.join('\n')}`);
  const end = (name: NodeJS.Signals): Promise<Exit> => {
    service.signal(name);
    return service.exited;
  };
  return { ...service, url, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

/** Runs the program of the service until it ends. */
export async function runServiceProgram(
  environment: Readonly<Record<string, string>>,
  options?: SpawnOptions,
): Promise<Exit & { output: string; messages: string }> {
  const service = spawnService(environment, options);
  const exit = await service.exited;
  return { ...exit, output: service.log.join('\n'), messages: service.messages.join('\n') };
}
