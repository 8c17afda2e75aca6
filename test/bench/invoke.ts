import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  engineOfTests,
  fastEngine,
  startDatabaseServer,
  type StartedServer,
  type TestEngine,
} from '../support/database-server.ts';
import { silentLog } from '../support/log.ts';
import {
  claude,
  claudeBody,
  directHeaders,
  messages,
  model,
  portkeyToAnthropic,
  startLiteLlm,
  startMock,
  startPortkey,
  startService,
  startTensorZero,
  ticket,
  type Gateway,
} from './gateways.ts';
import type { LoadResult } from './load.ts';
import { cpuTime, loadFromOutside, residentMemory, stopProgram } from './processes.ts';
import { median, warmUpSeconds } from './statistics.ts';

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
 * Measures invocations through the service, spread over 1,000 stored prompts and all of one prompt, on the database
 * engine that a first start installs and on the quickest one. Beside it, the same call is made directly and through
 * three gateways without a database: Portkey's, and LiteLLM's and TensorZero's if Python is there. `/v1/messages` is
 * measured the same way, by a model of Anthropic, as far as a gateway has it. All of them take
 * turns on one local mock provider. The service reads the prompt from the database after it has received the request.
 */
export async function benchInvoke({ connections, rounds, seconds, delayMs }: InvokeBenchOptions): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-'));
  const children: ChildProcess[] = [];
  const servers: StartedServer[] = [];
  try {
    const provider = await startMock(children, delayMs);
    const contestants = [...direct(provider)];
    for (const engine of new Set([engineOfTests(), fastEngine])) {
      const server = await startDatabaseServer(engine, silentLog);
      servers.push(server);
      console.log(`${engine}: ${server.engine}`);
      contestants.push(...(await gateway(children, { folder, provider, engine, server })));
    }
    contestants.push(
      ...(await peer(
        () => startPortkey(children, provider),
        chat('/v1/chat/completions'),
        ofAnthropic('/v1/messages', claude, portkeyToAnthropic(provider)),
      )),
      ...(await peer(
        () => startLiteLlm(children, folder, provider),
        chat('/v1/chat/completions'),
        ofAnthropic('/v1/messages'),
      )),
      ...(await peer(
        () => startTensorZero(children, folder, provider),
        chat('/openai/v1/chat/completions', `tensorzero::model_name::${model}`),
      )),
    );
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
    for (const server of servers) await server.stop();
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

function direct(provider: string): Contestant[] {
  const shared = { headers: directHeaders, process: undefined };
  const { body } = chat('');
  const message = ofAnthropic('');
  return [
    { ...shared, name: 'direct call', url: `${provider}/chat/completions`, body, results: new Map() },
    {
      ...shared,
      name: `direct call${message.name}`,
      url: `${provider}/messages`,
      body: message.body,
      results: new Map(),
    },
  ];
}

/** A call of a gateway. */
interface PeerCall {
  /** What follows the name of the gateway. */
  readonly name: string;
  readonly path: string;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

function chat(path: string, modelName = model): PeerCall {
  return { name: '', path, body: JSON.stringify({ model: modelName, messages }) };
}

/** A call of Anthropic's Messages API. */
function ofAnthropic(path: string, modelName = claude, headers: Record<string, string> = {}): PeerCall {
  return { name: ', /v1/messages', path, body: JSON.stringify({ model: modelName, ...claudeBody }), headers };
}

async function gateway(
  children: ChildProcess[],
  { folder, provider, engine, server }: { folder: string; provider: string; engine: TestEngine; server: StartedServer },
): Promise<Contestant[]> {
  const own = path.join(folder, engine);
  const options = { folder: own, provider, engine, databaseUri: server.uri, prompts: manyPrompts };
  const { headers, process, url } = await startService(children, options);
  const shared = { headers, body: JSON.stringify({ variables: { ticket } }), process };
  const invoke = `${url}/api/v1/prompts/bench-{i}/invoke`;
  const name = `prompt-gateway on ${engine}`;
  const message = ofAnthropic('/v1/messages', `anthropic/${claude}`);
  return [
    { ...shared, name: `${name}, ${manyPrompts} prompts`, url: invoke, spread: manyPrompts, results: new Map() },
    { ...shared, name: `${name}, 1 prompt`, url: invoke, results: new Map() },
    {
      ...shared,
      name: `${name}${message.name}`,
      url: `${url}${message.path}`,
      body: message.body,
      results: new Map(),
    },
  ];
}

/** Another gateway, without a database. Prints the reason instead on a machine that cannot install it. */
async function peer(start: () => Promise<Gateway>, ...calls: readonly PeerCall[]): Promise<Contestant[]> {
  try {
    const started = await start();
    return calls.map(({ name, path, body, headers }) => ({
      ...started,
      name: `${started.name}${name}`,
      url: `${started.url}${path}`,
      headers: { ...started.headers, ...headers },
      body,
      results: new Map(),
    }));
  } catch (error) {
    console.log(`Left out: ${String(error)}`);
    return [];
  }
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
