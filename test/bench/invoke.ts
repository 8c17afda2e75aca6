import { execFile, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { defaultCacheDir } from '../../src/db/embedded/cache-dir.ts';
import { startFlags } from '../support/start-flags.ts';
import type { LoadResult } from './load.ts';
import { freePort } from '../../src/db/embedded/server-process.ts';
import { loadFromOutside, residentMemory, startProgram, stopProgram } from './processes.ts';
import { median, warmUpSeconds } from './statistics.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const peerRelease = '1.15.2';
const adminKey = 'administrator-key-of-the-benchmark-0123456789';
const model = 'gpt-5-mini';

const system = `You summarise support tickets. ${'Keep to the facts of the ticket. '.repeat(15)}`;
const ticket = `The export button does nothing. ${'I pressed it again and again. '.repeat(10)}`;
const user = `Summarise this ticket in three sentences:\n\n${ticket}`;

interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly process: ChildProcess | undefined;
  readonly results: Map<number, LoadResult[]>;
}

export interface InvokeBenchOptions {
  readonly connections: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  /** Of the provider, in milliseconds. */
  readonly delayMs: number;
}

/**
 * Invocations through the service, the same call made directly, and through the Portkey gateway, all against one local
 * mock provider, in turn. The service reads the stored prompt from the database each time.
 */
export async function benchInvoke({ connections, rounds, seconds, delayMs }: InvokeBenchOptions): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-'));
  const children: ChildProcess[] = [];
  try {
    const provider = `http://127.0.0.1:${await startMock(children, delayMs)}/v1`;
    const contestants = [
      direct(provider),
      await gateway(children, folder, provider),
      await portkey(children, provider),
    ];
    for (const contestant of contestants) await load(contestant, 32, warmUpSeconds);
    for (const count of connections) {
      for (let round = 0; round < rounds; round += 1) {
        for (const contestant of contestants) {
          const result = await load(contestant, count, seconds);
          contestant.results.set(count, [...(contestant.results.get(count) ?? []), result]);
        }
      }
    }
    await print(contestants, connections, rounds);
  } finally {
    for (const child of children.reverse()) await stopProgram(child);
    await rm(folder, { recursive: true, force: true });
  }
}

function load({ url, headers, body }: Contestant, connections: number, seconds: number): Promise<LoadResult> {
  return loadFromOutside({ url, headers, body, connections, seconds, status: 200 });
}

async function startMock(children: ChildProcess[], delayMs: number): Promise<number> {
  const port = await freePort();
  const args = ['test/support/mock-provider.ts', '--port', String(port), '--delay-ms', String(delayMs)];
  children.push(await startProgram(process.execPath, args.map(absolute), `http://127.0.0.1:${port}/`));
  return port;
}

function absolute(argument: string): string {
  return argument.endsWith('.ts') ? path.join(root, argument) : argument;
}

function direct(provider: string): Contestant {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
  return {
    name: 'direct call',
    url: `${provider}/chat/completions`,
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-bench' },
    body: JSON.stringify({ model, messages }),
    process: undefined,
    results: new Map(),
  };
}

async function gateway(children: ChildProcess[], folder: string, provider: string): Promise<Contestant> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = await startProgram(
    process.execPath,
    [...startFlags, absolute('src/server.ts')],
    `${url}/health/ready`,
    {
      PORT: new URL(url).port,
      DATA_DIR: folder,
      ADMIN_API_KEY: adminKey,
      RATE_LIMIT: 'off',
      OPENAI_API_KEY: 'sk-bench',
      OPENAI_BASE_URL: provider,
    },
  );
  children.push(child);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${adminKey}` };
  const prompt = {
    name: 'Bench',
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: 'Summarise this ticket in {{sentences|three}} sentences:\n\n{{ticket}}' },
    ],
    variables: { ticket: { required: true } },
    selected_provider: 'openai',
    selected_model: model,
  };
  const created = await fetch(`${url}/api/v1/prompts`, { method: 'POST', headers, body: JSON.stringify(prompt) });
  if (created.status !== 201) throw new Error(await created.text());
  return {
    name: 'prompt-gateway',
    url: `${url}/api/v1/prompts/bench/invoke`,
    headers,
    body: JSON.stringify({ variables: { ticket } }),
    process: child,
    results: new Map(),
  };
}

async function portkey(children: ChildProcess[], provider: string): Promise<Contestant> {
  const prefix = path.join(defaultCacheDir(process.env, homedir()), `portkey-${peerRelease}`);
  await run('npm', ['install', '--no-save', '--prefix', prefix, `@portkey-ai/gateway@${peerRelease}`]);
  const port = await freePort();
  const script = path.join(prefix, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  children.push(
    await startProgram(process.execPath, [script, '--headless', `--port=${port}`], `http://127.0.0.1:${port}/`),
  );
  const { headers, body } = direct(provider);
  return {
    name: `Portkey ${peerRelease}`,
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    headers: { ...headers, 'x-portkey-provider': 'openai', 'x-portkey-custom-host': provider },
    body,
    process: children.at(-1),
    results: new Map(),
  };
}

async function print(
  contestants: readonly Contestant[],
  connections: readonly number[],
  rounds: number,
): Promise<void> {
  const middle = (contestant: Contestant, count: number, of: (result: LoadResult) => number): number =>
    median((contestant.results.get(count) ?? []).map(of));
  const base = contestants[0];
  console.log(`Invocations against a local mock provider, median of ${rounds} rounds; "added" is to the direct call`);
  const rows = connections.flatMap((count) =>
    contestants.map((contestant) => {
      const p50 = middle(contestant, count, (result) => result.p50);
      const p99 = middle(contestant, count, (result) => result.p99);
      return {
        connections: count,
        '': contestant.name,
        'requests/s': Math.round(middle(contestant, count, (result) => result.requestsPerSecond)),
        'p50 ms': round(p50),
        'p99 ms': round(p99),
        'added p50 ms': base === undefined ? 0 : round(p50 - middle(base, count, (result) => result.p50)),
        'added p99 ms': base === undefined ? 0 : round(p99 - middle(base, count, (result) => result.p99)),
        failures: (contestant.results.get(count) ?? []).reduce((sum, { failures }) => sum + failures, 0),
      };
    }),
  );
  console.table(rows);
  for (const { name, process: child } of contestants) {
    if (child !== undefined)
      console.log(`${name}: ${Math.round(await residentMemory(child.pid))} MiB resident after the load`);
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
