import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fastEngine, startDatabaseServer } from '../support/database-server.ts';
import { silentLog } from '../support/log.ts';
import { directHeaders, messages, startMock, startPortkey, startService, ticket } from './gateways.ts';
import { cpuTime, readStreamsFromOutside, residentMemory, stopProgram } from './processes.ts';
import { median } from './statistics.ts';
import type { StreamLoadResult } from './stream-load.ts';

interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  /** @param model of the mock provider */
  body(model: string): string;
  readonly process: ChildProcess | undefined;
  readonly results: Map<Measurement, Result[]>;
}

interface Result extends StreamLoadResult {
  /** CPU time of the contestant, in microseconds a token. */
  readonly cpu: number;
}

interface Measurement {
  readonly connections: number;
  /** The pause of the provider after each token, in milliseconds. */
  readonly pause: number;
  readonly tokens: number;
}

/** Streams at the usual pace of a model, which load nobody: how much later does the first token come? */
const paced = [1, 16].map((connections): Measurement => ({ connections, pause: 5, tokens: 10 }));
/** As fast as a contestant passes them on. */
const fast: Measurement = { connections: 100, pause: 1, tokens: 200 };
const measurements = [...paced, fast];
const warmUp = 10;

/**
 * Reads streams from the service, as invocations of a stored prompt and as chat completions in OpenAI's format. Beside
 * it, the same stream is read directly and through Portkey's gateway, which has no database. All of them take turns on
 * one local mock provider.
 */
export async function benchStreams(rounds: number, seconds: number): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-'));
  const children: ChildProcess[] = [];
  const database = await startDatabaseServer(fastEngine, silentLog);
  try {
    const provider = await startMock(children, 0);
    const chat = (model: string): string => JSON.stringify({ model, messages, stream: true });
    const options = { folder, provider, engine: fastEngine, databaseUri: database.uri, prompts: 1 };
    const service = await startService(children, options);
    const portkey = await startPortkey(children, provider);
    const path = '/v1/chat/completions';
    const contestants: Contestant[] = [
      {
        name: 'direct call',
        url: `${provider}/chat/completions`,
        headers: directHeaders,
        body: chat,
        process: undefined,
        results: new Map(),
      },
      {
        ...service,
        name: 'prompt-gateway, stored prompt',
        url: `${service.url}/api/v1/prompts/bench-0/invoke`,
        body: (model) => JSON.stringify({ variables: { ticket }, model, stream: true }),
        results: new Map(),
      },
      {
        ...service,
        name: 'prompt-gateway, chat completions',
        url: `${service.url}${path}`,
        body: (model) => chat(`openai/${model}`),
        results: new Map(),
      },
      { ...portkey, url: `${portkey.url}${path}`, body: chat, results: new Map() },
    ];
    for (const contestant of contestants.slice(1)) await read(contestant, fast, warmUp);
    for (let round = 0; round < rounds; round += 1) {
      for (const measurement of measurements) {
        for (const contestant of contestants) {
          const result = await read(contestant, measurement, seconds);
          contestant.results.set(measurement, [...(contestant.results.get(measurement) ?? []), result]);
        }
      }
    }
    await print(contestants, rounds);
  } finally {
    for (const child of children.reverse()) await stopProgram(child);
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function read(contestant: Contestant, measurement: Measurement, seconds: number): Promise<Result> {
  const { url, headers, body, process: child } = contestant;
  const { connections, pause, tokens } = measurement;
  const before = child === undefined ? 0 : await cpuTime(child.pid);
  const result = await readStreamsFromOutside({
    url,
    headers,
    connections,
    seconds,
    tokens,
    // The tokens of the mock provider are `word0 `, `word1 ` …
    body: body(`mock-drip-${pause}-${tokens}`),
    mark: 'word',
  });
  const used = child === undefined ? Number.NaN : (await cpuTime(child.pid)) - before;
  return { ...result, cpu: (used * 1000) / (result.streams * tokens) };
}

async function print(contestants: readonly Contestant[], rounds: number): Promise<void> {
  const [base] = contestants;
  if (base === undefined) return;
  const of = ({ results }: Contestant, measurement: Measurement): Result[] => results.get(measurement) ?? [];
  const middle = (contestant: Contestant, measurement: Measurement, value: (result: Result) => number): number =>
    median(of(contestant, measurement).map(value));
  const failures = (contestant: Contestant, measurement: Measurement): number =>
    of(contestant, measurement).reduce((sum, result) => sum + result.failures, 0);

  console.log(`Time to the first of 10 tokens, 5 ms apart, median of ${rounds} rounds; "added" is to the direct call`);
  console.table(
    paced.flatMap((measurement) =>
      contestants.map((contestant) => {
        const p50 = middle(contestant, measurement, ({ firstP50 }) => firstP50);
        const p99 = middle(contestant, measurement, ({ firstP99 }) => firstP99);
        return {
          connections: measurement.connections,
          '': contestant.name,
          'p50 ms': round(p50),
          'p99 ms': round(p99),
          'added p50 ms': round(p50 - middle(base, measurement, ({ firstP50 }) => firstP50)),
          'added p99 ms': round(p99 - middle(base, measurement, ({ firstP99 }) => firstP99)),
          failures: failures(contestant, measurement),
        };
      }),
    ),
  );
  console.log(`Streams of ${fast.tokens} tokens, ${fast.connections} at the same time, median of ${rounds} rounds`);
  console.table(
    contestants.map((contestant) => ({
      '': contestant.name,
      'tokens/s': Math.round(middle(contestant, fast, ({ tokensPerSecond }) => tokensPerSecond)),
      'CPU µs a token': round(middle(contestant, fast, ({ cpu }) => cpu)),
      'first token p50 ms': round(middle(contestant, fast, ({ firstP50 }) => firstP50)),
      'cores of the reader': round(middle(contestant, fast, ({ ownCpu }) => ownCpu)),
      failures: failures(contestant, fast),
    })),
  );
  for (const { name, process: child } of contestants) {
    if (child !== undefined)
      console.log(`${name}: ${Math.round(await residentMemory(child.pid))} MiB resident after the load`);
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
