/**
 * `npm run bench:against COMMIT` compares this working tree with an earlier commit of this repository. Both services run
 * side by side on one database server, one mock provider and one receiver of events, and get the same load at the same
 * time. So whatever else the machine does slows down both. What counts is the CPU time of a service for a request. The
 * ratio is below 1 if this working tree uses less. In the same way, this working tree runs beside itself: the noise is
 * what the ratio shows there. Only HTTP operations and settings that both know are used; what the earlier commit does
 * not have is left out.
 *
 * A service starts with the flags of its own `npm start`, or all of them with the same ones, or the earlier commit with
 * others. So flags can be compared, too:
 *
 *     npm run bench:against 00b71ea -- --rounds 8 --seconds 1 --only invoke --flags=--max-semi-space-size=16
 *     npm run bench:against HEAD -- --only invo --flags=--max-semi-space-size=32 --base-flags=--max-semi-space-size=8
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../src/storage/db/embedded/server-process.ts';
import { percentile } from '../faults/webhooks/percentile.ts';
import { fastEngine, startDatabaseServer } from '../support/database-server.ts';
import { silentLog } from '../support/log.ts';
import { checkOut } from './earlier-release.ts';
import { adminKey, messages, startMock } from './gateways.ts';
import {
  cpuTime,
  loadFromOutside,
  readStreamsFromOutside,
  residentMemory,
  startProgram,
  stopProgram,
} from './processes.ts';
import { median } from './statistics.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    flags: { type: 'string' },
    'base-flags': { type: 'string' },
  },
});
const [commit] = positionals;
if (commit === undefined) throw new Error('Name a commit: npm run bench:against 00b71ea');
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const root = path.resolve(import.meta.dirname, '../..');
const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
const promptCount = 100;
/** The integrations that get each order. */
const fanOut = 3;
const tokens = 100;
/**
 * Rounds of each kind of load before it is measured. V8 compiles hot code in several steps: the first thousands of
 * requests use three times the CPU of later ones, and more so the more code they run. A service runs for days.
 */
const warmUpRounds = 5;
/** The time limit for the last deliveries of a round, in milliseconds. */
const drainMs = 30_000;

interface Service {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
  /** The events that the receiver has got from it. */
  received: number;
}

interface Measured {
  /** CPU time of the service for each unit, in microseconds. */
  readonly cpu: number;
  /** In milliseconds. */
  readonly p50: number;
}

/** A kind of load. */
interface Case {
  readonly name: string;
  readonly connections: readonly number[];
  /** The request that shows whether a service has this. */
  readonly probe: { readonly path: string; readonly status: number; readonly body?: string };
  /** Applies the load. @returns the units, which are requests, tokens or deliveries */
  run(service: Service, connections: number): Promise<{ readonly units: number; readonly p50: number }>;
}

function requests(
  name: string,
  connections: readonly number[],
  target: { readonly path: string; readonly body?: string; readonly spread?: number; readonly status?: number },
): Case {
  const { path, body, spread = 1, status = 200 } = target;
  return {
    name,
    connections,
    probe: { path: path.replace('{i}', '0'), status, ...(body === undefined ? {} : { body }) },
    async run(service, count) {
      const load = { url: service.url + path, headers, spread, connections: count, seconds, status };
      const result = await loadFromOutside(body === undefined ? load : { ...load, body });
      if (result.failures > 0) throw new Error(`${name}: ${result.failures} requests to ${service.name} failed`);
      return { units: result.requests, p50: result.p50 };
    },
  };
}

function streams(name: string, connections: readonly number[], path: string, body: string): Case {
  return {
    name,
    connections,
    probe: { path, body, status: 200 },
    async run(service, count) {
      const load = { url: service.url + path, headers, body, connections: count, seconds, mark: 'word', tokens };
      const result = await readStreamsFromOutside(load);
      if (result.failures > 0) throw new Error(`${name}: ${result.failures} streams of ${service.name} failed`);
      return { units: result.streams * tokens, p50: result.firstP50 };
    },
  };
}

/** Orders, each with one event that goes to several integrations. The units are deliveries. */
function deliveries(order: Readonly<Record<string, string>>): Case {
  const [path, status] = ['/v1/orders', 201];
  const bodyOf = (service: Service): string => order[service.name] ?? '';
  return {
    name: 'order and delivery',
    connections: [8],
    probe: { path: '/v1/orders?limit=1', status: 200 },
    async run(service, count) {
      const before = service.received;
      const load = { url: service.url + path, headers, body: bodyOf(service), connections: count, seconds, status };
      const result = await loadFromOutside(load);
      const wanted = before + result.requests * fanOut;
      for (const limit = performance.now() + drainMs; service.received < wanted; await sleep(20)) {
        if (performance.now() > limit) throw new Error(`${service.name} did not deliver all events`);
      }
      return { units: result.requests * fanOut, p50: result.p50 };
    },
  };
}

/** Changes of the catalog. @param order whose location is used */
function categories(order: Readonly<Record<string, string>>): Case {
  return {
    name: 'create a category',
    connections: [1, 16],
    probe: { path: '/v1/categories?limit=1', status: 200 },
    async run(service, count) {
      const { location_id } = JSON.parse(order[service.name] ?? '{}') as { location_id?: string };
      const body = JSON.stringify({ location_id, name: 'Drinks' });
      const load = { url: `${service.url}/v1/categories`, headers, body, connections: count, seconds, status: 201 };
      const { requests: units, failures, p50 } = await loadFromOutside(load);
      if (failures > 0) throw new Error(`${failures} requests to ${service.name} failed`);
      return { units, p50 };
    },
  };
}

function casesOf(order: Readonly<Record<string, string>>): Case[] {
  const ask = (variables: object): string => JSON.stringify({ variables });
  const ticket = 'The export button does nothing. '.repeat(10);
  const chat = (model: string, more = {}): string => JSON.stringify({ model, messages, ...more });
  return [
    requests('get prompt', [1, 16], { path: '/api/v1/prompts/echo' }),
    requests('list prompts', [16], { path: '/api/v1/prompts?limit=20' }),
    requests('refused body', [16], { path: '/api/v1/prompts', body: '{"name":', status: 400 }),
    requests('invoke, echo', [1, 8, 32], { path: '/api/v1/prompts/echo/invoke', body: '{}' }),
    requests('invoke, openai', [1, 8, 32], { path: '/api/v1/prompts/bench-0/invoke', body: ask({ ticket }) }),
    requests(`invoke, ${promptCount} prompts`, [32], {
      path: '/api/v1/prompts/bench-{i}/invoke',
      body: ask({ ticket }),
      spread: promptCount,
    }),
    requests('invoke, 100 KB', [8], {
      path: '/api/v1/prompts/bench-0/invoke',
      body: ask({ ticket: 'x'.repeat(100_000) }),
    }),
    requests('chat completion', [1, 16], { path: '/v1/chat/completions', body: chat('openai/gpt-5-mini') }),
    streams('stream of an invocation', [1, 8, 32], '/api/v1/prompts/drip/invoke', JSON.stringify({ stream: true })),
    streams('stream of a chat', [16], '/v1/chat/completions', chat(`openai/mock-drip-1-${tokens}`, { stream: true })),
    deliveries(order),
    categories(order),
  ];
}

/** Starts the service in a folder, in the way of its own `npm start` unless other flags are given. */
async function start(name: string, folder: string, databaseUri: string, provider: string): Promise<Service> {
  const given = (name === 'base' ? values['base-flags'] : undefined) ?? values.flags;
  const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const flags = (given ?? manifest.scripts.start).split(' ').filter((word) => word.startsWith('--max-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = await startProgram(
    process.execPath,
    [...flags, path.join(folder, 'src/server.ts')],
    `${url}/health/ready`,
    {
      PORT: new URL(url).port,
      DATA_DIR: path.join(temporary, `data-${name}`),
      MONGODB_URI: databaseUri,
      MONGODB_DATABASE: `against_${name}`,
      DATABASE_CHECK: 'off',
      ADMIN_API_KEY: adminKey,
      RATE_LIMIT: 'off',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      OPENAI_API_KEY: 'sk-bench',
      OPENAI_BASE_URL: provider,
    },
  );
  return { name, url, process: child, received: 0 };
}

async function create(service: Service, target: string, body: object): Promise<string> {
  const answer = await fetch(service.url + target, { method: 'POST', headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`${service.name}: POST ${target}: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}

/** Creates the documents that the load uses. @returns the body of an order */
async function fill(service: Service, receiver: string): Promise<string> {
  const prompt = { name: 'Bench', selected_provider: 'openai', selected_model: 'gpt-5-mini', messages };
  const withVariable = [{ role: 'user', content: 'Summarise in {{sentences|three}} sentences: {{ticket}}' }];
  for (let index = 0; index < promptCount; index += 1) {
    await create(service, '/api/v1/prompts', { ...prompt, slug: `bench-${index}`, messages: withVariable });
  }
  const echo = [{ role: 'user', content: 'Hello {{name|world}}' }];
  await create(service, '/api/v1/prompts', { name: 'Echo', slug: 'echo', messages: echo, selected_provider: 'echo' });
  await create(service, '/api/v1/prompts', { ...prompt, slug: 'drip', selected_model: `mock-drip-1-${tokens}` });
  const [place, zone] = [{ name: 'Canal', currency: 'EUR' }, 'Europe/Amsterdam'];
  const location_id = await create(service, '/v1/locations', { ...place, time_zone: zone }).catch(
    // The name of the member before 1.0.0-beta.1.
    async () => await create(service, '/v1/locations', { ...place, timezone: zone }),
  );
  const category_id = await create(service, '/v1/categories', { location_id, name: 'Drinks' });
  const product = { location_id, category_id, name: 'Café crème', price: 420 };
  const product_id = await create(service, '/v1/products', product);
  for (let index = 0; index < fanOut; index += 1) {
    const url = `${receiver}/${service.name}`;
    await create(service, '/api/v1/integrations', { name: `Receiver ${index}`, url, event_types: ['ORDER_PLACED'] });
  }
  return JSON.stringify({ location_id, items: [{ product_id, quantity: 1 }] });
}

/** Counts the events of each service. */
async function startReceiver(services: readonly Service[]): Promise<{ server: Server; url: string }> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const service = services.find(({ name }) => request.url === `/${name}`);
    request.resume().on('end', () => {
      if (service !== undefined) service.received += 1;
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function has(service: Service, { probe: { path, status, body } }: Case): Promise<boolean> {
  const request = body === undefined ? { headers } : { headers, body, method: 'POST' };
  const answer = await fetch(service.url + path, request);
  await answer.arrayBuffer();
  return answer.status === status;
}

async function measure(service: Service, load: Case, connections: number): Promise<Measured> {
  const before = await cpuTime(service.process.pid);
  const { units, p50 } = await load.run(service, connections);
  return { cpu: (((await cpuTime(service.process.pid)) - before) * 1_000) / units, p50 };
}

/** Measures two services at the same time. */
async function sideBySide(pair: readonly [Service, Service], load: Case, connections: number): Promise<Measured[]> {
  return await Promise.all(pair.map((service) => measure(service, load, connections)));
}

async function compare(load: Case, connections: number, base: Service, now: Service, twin: Service): Promise<object> {
  const results: { base: Measured; now: Measured; ratio: number; noise: number }[] = [];
  // The first round opens connections.
  for (let round = 0; round <= rounds; round += 1) {
    const [before, after] = await sideBySide([base, now], load, connections);
    const [one, other] = await sideBySide([now, twin], load, connections);
    if (before === undefined || after === undefined || one === undefined || other === undefined) continue;
    if (round > 0) {
      results.push({ base: before, now: after, ratio: after.cpu / before.cpu, noise: other.cpu / one.cpu });
    }
  }
  const middle = (of: (result: (typeof results)[number]) => number): number => round2(median(results.map(of)));
  const quartiles = (of: 'ratio' | 'noise'): [number, number] => {
    const ratios = results.map((result) => result[of]);
    return [percentile(ratios, 0.25), percentile(ratios, 0.75)];
  };
  const [ratio, noise] = [quartiles('ratio'), quartiles('noise')];
  return {
    '': load.name,
    connections,
    'base CPU µs': middle((result) => result.base.cpu),
    'CPU µs': middle((result) => result.now.cpu),
    ratio: middle((result) => result.ratio),
    spread: ratio.map((value) => value.toFixed(2)).join(' to '),
    noise: noise.map((value) => value.toFixed(2)).join(' to '),
    'base p50 ms': middle((result) => result.base.p50),
    'p50 ms': middle((result) => result.now.p50),
    // Of the twin, because `now` runs beside both and so gets twice the load.
    'base MiB': Math.round(await residentMemory(base.process.pid)),
    MiB: Math.round(await residentMemory(twin.process.pid)),
    verdict: ratio[0] > Math.max(1, noise[1]) ? 'slower' : ratio[1] < Math.min(1, noise[0]) ? 'faster' : 'same',
  };
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}

const temporary = await mkdtemp(path.join(tmpdir(), 'bench-against-'));
const children: ChildProcess[] = [];
const release = await checkOut(commit);
const database = await startDatabaseServer(fastEngine, silentLog, false);
const services: Service[] = [];
const receiver = await startReceiver(services);
try {
  const provider = await startMock(children, 0);
  const order: Record<string, string> = {};
  for (const [name, folder] of [
    ['base', release.folder],
    ['now', root],
    ['twin', root],
  ] as const) {
    const service = await start(name, folder, database.uri, provider);
    children.push(service.process);
    services.push(service);
    order[name] = await fill(service, receiver.url);
  }
  const [base, now, twin] = services;
  if (base === undefined || now === undefined || twin === undefined) throw new Error('three services must run');
  const memory = async (): Promise<string> => {
    const [of, ours] = [await residentMemory(base.process.pid), await residentMemory(twin.process.pid)];
    return `${Math.round(of)} MiB at ${commit}, ${Math.round(ours)} MiB now, ratio ${(ours / of).toFixed(2)}`;
  };
  console.log(`Base ${commit}, database ${database.engine}, median of ${rounds} rounds of ${seconds} s; quartiles`);
  const idle = await memory();
  const rows: object[] = [];
  for (const load of casesOf(order).filter(({ name }) => name.includes(values.only))) {
    if (!(await has(now, load))) throw new Error(`${load.name} fails`);
    if (!(await has(base, load))) {
      console.log(`${load.name}: not in ${commit}`);
      continue;
    }
    for (let round = 0; round < warmUpRounds; round += 1) {
      await Promise.all(services.map((service) => load.run(service, Math.max(...load.connections))));
    }
    for (const connections of load.connections) {
      const row = await compare(load, connections, base, now, twin);
      console.log(Object.values(row).join(' | '));
      rows.push(row);
    }
  }
  console.table(rows);
  console.log(`Resident memory after the start: ${idle}; after the load: ${await memory()}`);
} finally {
  for (const child of children.reverse()) await stopProgram(child);
  receiver.server.closeAllConnections();
  receiver.server.close();
  await database.stop();
  await release.remove();
  await rm(temporary, { recursive: true, force: true });
}
