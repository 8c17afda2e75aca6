import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

/** An earlier state of this project, with its packages, in a folder of its own. */
export interface EarlierRelease {
  readonly commit: string;
  readonly folder: string;
  /** Starts its service. Resolves when it listens. */
  start(environment: Readonly<Record<string, string>>): Promise<EarlierService>;
  remove(): Promise<void>;
}

export interface EarlierService {
  readonly url: string;
  /** Sends a request as administrator, again while the service has no time. @throws Error for other failures */
  call(method: string, target: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
  stop(): Promise<void>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- callers know what an operation answers
type Answered = any;

export const adminKey = 'administrator-key-of-the-tests-0123456789';

/** Checks out a commit of this repository, with its packages: those of this working tree if they are the same. */
export async function checkOut(commit: string): Promise<EarlierRelease> {
  const folder = await mkdtemp(path.join(tmpdir(), 'prompt-gateway-earlier-'));
  const archive = path.join(folder, 'archive.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: root });
  await run('tar', ['xf', archive, '-C', folder]);
  const [its, ours] = await Promise.all(
    [folder, root].map((place) => readFile(path.join(place, 'package-lock.json'), 'utf8')),
  );
  if (its === ours) await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  else await run('npm', ['ci', '--no-audit', '--no-fund', '--omit=dev', '--ignore-scripts'], { cwd: folder });
  // Before it existed, the validators were committed.
  const build = path.join(folder, 'src/codegen/build-validators.ts');
  if (existsSync(build)) await run(process.execPath, [build], { cwd: folder });
  return {
    commit,
    folder,
    start: (environment) => start(folder, environment),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function start(folder: string, environment: Readonly<Record<string, string>>): Promise<EarlierService> {
  const child = spawn(process.execPath, ['src/server.ts'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', ADMIN_API_KEY: adminKey, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const url = await listening(child);
  return {
    url,
    call: (method, target, body, headers) => call(url + target, method, body, headers),
    async stop() {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
    },
  };
}

async function listening(child: ChildProcess): Promise<string> {
  const lines: string[] = [];
  if (child.stderr === null) throw new Error('no output');
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    const url = /^Listening on (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stderr.resume();
    return url;
  }
  throw new Error(`The earlier release did not start:\n${lines.join('\n')}`);
}

async function call(
  url: string,
  method: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> {
  for (;;) {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${adminKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as Answered;
    if (response.status !== 503) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  }
}
