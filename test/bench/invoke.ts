import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { installPythonPackage } from '../../src/db/embedded/python-package.ts';
import { defaultCacheDir } from '../../src/db/embedded/cache-dir.ts';
import { freePort } from '../../src/db/embedded/server-process.ts';
import { fastEngine, startDatabaseServer } from '../support/database-server.ts';
import { silentLog } from '../support/log.ts';
import { adminKey, directHeaders, messages, model, startMock, startPortkey, startService, ticket } from './gateways.ts';
import type { LoadResult } from './load.ts';
import { cpuTime, loadFromOutside, residentMemory, startProgram, stopProgram } from './processes.ts';
import { median, warmUpSeconds } from './statistics.ts';

const liteLlmRelease = '1.106.2';
/** The number of prompts that the invocations are spread over. */
const manyPrompts = 1_000;

interface Contestant {
  readonly name: string;
  readonly url: string;
  /** The number of prompts that `url` stands for. */
  readonly spread?: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly process: ChildProcess | undefined;
  /** The results by number of connections. */
  readonly results: Map<number, Result[]>;
}

interface Result extends LoadResult {
  /** CPU time of the contestant in microseconds. */
  readonly cpu: number;
}

export interface InvokeBenchOptions {
  readonly connections: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  /** The delay of the provider, in milliseconds. */
  readonly delayMs: number;
}

/**
 * Measures invocations through the service, spread over 1,000 stored prompts and all of one prompt. Beside it, the same
 * call is made directly and through two gateways without a database: Portkey's, and LiteLLM's if Python is there. All
 * of them take turns on one local mock provider. The service reads the prompt from the database after it has received
 * the request.
 */
export async function benchInvoke({ connections, rounds, seconds, delayMs }: InvokeBenchOptions): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-'));
  const children: ChildProcess[] = [];
  const database = await startDatabaseServer(fastEngine, silentLog);
  try {
    const provider = await startMock(children, delayMs);
    const contestants = [
      direct(provider),
      ...(await gateway(children, folder, provider, database.uri)),
      await portkey(children, provider),
      ...(await liteLlm(children, folder, provider)),
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
    console.log(`Database of prompt-gateway: ${database.engine}`);
    await print(contestants, connections, rounds);
  } finally {
    for (const child of children.reverse()) await stopProgram(child);
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function load(contestant: Contestant, connections: number, seconds: number): Promise<Result> {
  const { url, spread, headers, body, process: child } = contestant;
  const before = child === undefined ? 0 : await cpuTime(child.pid);
  const load = { url, headers, body, connections, seconds, status: 200, ...(spread !== undefined && { spread }) };
  const result = await loadFromOutside(load);
  const used = child === undefined ? Number.NaN : (await cpuTime(child.pid)) - before;
  return { ...result, cpu: (used * 1000) / result.requests };
}

function direct(provider: string): Contestant {
  return {
    name: 'direct call',
    url: `${provider}/chat/completions`,
    headers: directHeaders,
    body: JSON.stringify({ model, messages }),
    process: undefined,
    results: new Map(),
  };
}

async function gateway(
  children: ChildProcess[],
  folder: string,
  provider: string,
  databaseUri: string,
): Promise<Contestant[]> {
  const { name, url, headers, process } = await startService(children, folder, provider, databaseUri, manyPrompts);
  const shared = { headers, body: JSON.stringify({ variables: { ticket } }), process };
  const invoke = `${url}/api/v1/prompts/bench-{i}/invoke`;
  return [
    { ...shared, name: `${name}, ${manyPrompts} prompts`, url: invoke, spread: manyPrompts, results: new Map() },
    { ...shared, name: `${name}, 1 prompt`, url: invoke, results: new Map() },
  ];
}

async function portkey(children: ChildProcess[], provider: string): Promise<Contestant> {
  const started = await startPortkey(children, provider);
  return {
    ...started,
    url: `${started.url}/v1/chat/completions`,
    body: JSON.stringify({ model, messages }),
    results: new Map(),
  };
}

/** Starts LiteLLM's proxy. Returns the reason instead on a machine that cannot install it. */
async function liteLlm(children: ChildProcess[], folder: string, provider: string): Promise<Contestant[]> {
  let programs: string;
  try {
    programs = await installPythonPackage({
      name: 'litellm[proxy]',
      version: liteLlmRelease,
      env: process.env,
      cacheDir: defaultCacheDir(process.env, homedir()),
      log: { info: () => undefined, warn: () => undefined },
    });
  } catch (error) {
    console.log(`LiteLLM is left out: ${String(error)}`);
    return [];
  }
  const config = path.join(folder, 'litellm.json');
  const target = { model: `openai/${model}`, api_base: provider, api_key: 'sk-bench' };
  await writeFile(config, JSON.stringify({ model_list: [{ model_name: model, litellm_params: target }] }));
  const url = `http://127.0.0.1:${await freePort()}`;
  const args = ['--config', config, '--host', '127.0.0.1', '--port', new URL(url).port];
  const key = `sk-${adminKey}`;
  const environment = { LITELLM_MASTER_KEY: key, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' };
  const child = await startProgram(path.join(programs, 'litellm'), args, `${url}/health/liveliness`, environment);
  children.push(child);
  const { body } = direct(provider);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  return [
    {
      name: `LiteLLM ${liteLlmRelease}`,
      url: `${url}/v1/chat/completions`,
      headers,
      body,
      process: child,
      results: new Map(),
    },
  ];
}

async function print(
  contestants: readonly Contestant[],
  connections: readonly number[],
  rounds: number,
): Promise<void> {
  const middle = (contestant: Contestant, count: number, of: (result: Result) => number): number =>
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
        'CPU µs': Math.round(middle(contestant, count, ({ cpu }) => cpu)),
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
