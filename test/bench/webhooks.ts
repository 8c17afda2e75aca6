/**
 * `npm run program -- bench:webhooks` measures from placed orders to verified POSTs. Orders are placed over HTTP, or directly
 * through the rules of orders (because HTTP intake can be the limit). Each event goes to one integration, or to five.
 * Full load keeps a fixed number of orders outstanding. Half load places half as many per second as were delivered at
 * full load. Latency is the time from the acknowledgment of an order to the arrival of each of its POSTs. The bare
 * transport runs beside it: the same bodies, signatures and receiver, without service and database. All of it runs on
 * loopback. Service, database, receiver and (for HTTP) the client that places orders run in a process each.
 *
 *     npm run program -- bench:webhooks --seconds 10 --fan-out 1,5 --intake http,rules
 *     npm run program -- bench:webhooks --integrations 10000     see webhooks-crowd.ts
 *     npm run program -- bench:webhooks --waiting 100000         see webhooks-backlog.ts
 */
import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { secretRecord } from '../../src/webhooks/integrations/integration.ts';
import { ensureSecretKey } from '../../src/base/secrets/secret-key-file.ts';
import { createSecretBox } from '../../src/base/secrets/secret-box.ts';
import { createIntegrationStore } from '../../src/webhooks/integrations/integration-store.ts';
import { percentile } from '../faults/webhooks/percentile.ts';
import { checkSetting, fastEngine, startDatabaseServer } from '../support/database-server.ts';
import { openDatabase } from '../support/database.ts';
import { silentLog } from '../support/log.ts';
import { startFlags } from '../support/start-flags.ts';
import { benchBacklog } from './webhooks-backlog.ts';
import { benchCrowd } from './webhooks-crowd.ts';
import { pace, type Acknowledged, type PaceOptions } from './webhooks-pace.ts';
import type { ServiceAnswer, ServiceRequest } from './webhooks-service.ts';
import { preciseNow, type SinkArrival, type SinkMessage } from './webhooks-sink.ts';
import type { TransportOptions, TransportResult } from './webhooks-transport.ts';
import { someEntry } from '../support/author.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    'fan-out': { type: 'string', default: '1,5' },
    intake: { type: 'string', default: 'http,rules' },
    'cpu-prof': { type: 'string' },
    integrations: { type: 'string' },
    waiting: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const key = 'administrator-key-of-the-benchmark-0123456789';
const concurrency = 32;
const outstanding = 128;
/** The time limit for the last deliveries to arrive and settle. */
const drainMs = 30_000;

type Intake = 'http' | 'rules';

/** The results of some seconds of load. */
interface Measured {
  readonly ordersPerSecond: number;
  readonly deliveriesPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly missing: number;
  readonly unverified: number;
  /** CPU milliseconds per delivery. */
  readonly serviceCpu: number;
  readonly databaseCpu: number;
}

function program(name: string, args: readonly string[], execArgv: readonly string[] = [], env = {}): ChildProcess {
  return fork(path.join(import.meta.dirname, name), args, { execArgv: [...execArgv], env: { ...process.env, ...env } });
}

/** Waits for the next message of a process that `isWanted` accepts, and ignores others. */
async function message<Wanted>(child: ChildProcess, isWanted: (message: object) => boolean): Promise<Wanted> {
  for (;;) {
    const [received] = (await once(child, 'message')) as [object];
    if (isWanted(received)) return received as Wanted;
  }
}

/** Ends a process by disconnecting from it. */
async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
}

/** Starts the process of the receiver. */
function startSink(): { child: ChildProcess; port: Promise<number>; received: () => number } {
  const child = program('webhooks-sink.ts', []);
  let received = 0;
  child.on('message', (told: SinkMessage) => {
    if ('received' in told) received = told.received;
    else if ('arrivals' in told) received = 0;
  });
  const port = message<{ port: number }>(child, (told) => 'port' in told).then((told) => told.port);
  return { child, port, received: () => received };
}

async function report(sink: ChildProcess): Promise<{ arrivals: SinkArrival[]; unverified: number }> {
  const answer = message<{ arrivals: SinkArrival[]; unverified: number }>(sink, (told) => 'arrivals' in told);
  sink.send('report');
  return answer;
}

/** CPU milliseconds that a process has used (Linux). */
async function cpuOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Starts one service on a fresh database, with this number of integrations. */
async function benchService(fanOut: number, intake: Intake): Promise<{ full: Measured; half: Measured }> {
  const sink = startSink();
  const url = `http://127.0.0.1:${await sink.port}/hook`;
  const dataDir = await mkdtemp(path.join(tmpdir(), 'bench-webhooks-'));
  const databaseName = `bench_${randomUUID().slice(0, 8)}`;
  const connection = await openDatabase(database.uri, databaseName);
  const service = program(
    'webhooks-service.ts',
    [],
    [...startFlags, ...(values['cpu-prof'] === undefined ? [] : profiling(values['cpu-prof']))],
    {
      DATA_DIR: dataDir,
      PORT: '0',
      ADMIN_API_KEY: key,
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'warn',
      MONGODB_URI: database.uri,
      MONGODB_DATABASE: databaseName,
      ...checkSetting(fastEngine),
    },
  );
  try {
    const serviceUrl = (await message<{ url: string }>(service, (told) => 'url' in told)).url;
    const pool = new Pool(serviceUrl, { connections: concurrency, pipelining: 1 });
    const create = async (what: string, body: unknown): Promise<string> => {
      const { statusCode, body: answer } = await pool.request({
        path: `/v1/${what}`,
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      });
      const text = await answer.text();
      if (statusCode !== 201) throw new Error(`${what} answered ${statusCode} ${text}`);
      return (JSON.parse(text) as { id: string }).id;
    };
    const locationId = await create('locations', { name: 'Canal', currency: 'EUR', time_zone: 'Europe/Amsterdam' });
    const categoryId = await create('categories', { location_id: locationId, name: 'Drinks' });
    const product = { location_id: locationId, category_id: categoryId, name: 'Café crème', price: 420, tags: ['hot'] };
    const productId = await create('products', product);

    const box = createSecretBox(await ensureSecretKey(dataDir));
    const integrations = createIntegrationStore(connection);
    const secrets = newSecrets(fanOut);
    for (const [id, secret] of Object.entries(secrets)) {
      const at = new Date();
      await integrations.insert(
        {
          id,
          name: 'Sink',
          url,
          headers: [],
          status: 'active',
          createdAt: at,
          updatedAt: at,
          eventTypes: ['ORDER_PLACED'],
          secret: box.seal(secret, secretRecord(id)),
          rotation: undefined,
          finishedRotationId: undefined,
          disabled: undefined,
          warning: undefined,
          locationIds: undefined,
          filter: undefined,
        },
        someEntry(),
      );
    }
    sink.child.send({ secrets });

    const placeOverHttp = async (options: PaceOptions): Promise<Acknowledged[]> => {
      const order = { location_id: locationId, items: [{ product_id: productId, quantity: 2 }] };
      return pace(
        async () => {
          const id = await create('orders', order);
          return [id, preciseNow()];
        },
        () => sink.received() / fanOut,
        options,
      );
    };
    const placeByRules = async (options: PaceOptions): Promise<readonly Acknowledged[]> => {
      const placed = message<{ acknowledged: Acknowledged[] }>(service, (told) => 'acknowledged' in told);
      ask(service, { kind: 'place', locationId, productId, fanOut, pace: options });
      return (await placed).acknowledged;
    };
    const place = intake === 'http' ? placeOverHttp : placeByRules;

    const load = async (options: PaceOptions): Promise<Measured> => {
      const cpu = async (): Promise<[number, number]> => [await cpuTime(service), await cpuOf(await database.pid())];
      await report(sink.child);
      const before = await cpu();
      const acknowledged = await place(options);
      const wanted = acknowledged.length * fanOut;
      for (const limit = performance.now() + drainMs; sink.received() < wanted && performance.now() < limit;) {
        await sleep(10);
      }
      await untilSettled(connection.db.collection('deliveries'));
      const after = await cpu();
      const { arrivals, unverified } = await report(sink.child);
      return evaluate(acknowledged, arrivals, wanted, unverified, [after[0] - before[0], after[1] - before[1]]);
    };
    await load({ concurrency, outstanding, seconds: Math.min(3, seconds) });
    const full = await load({ concurrency, outstanding, seconds });
    const half = await load({ concurrency, seconds, rate: full.deliveriesPerSecond / fanOut / 2 });
    await pool.close();
    return { full, half };
  } finally {
    await end(service);
    await end(sink.child);
    await connection.db.dropDatabase();
    await connection.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function profiling(folder: string): string[] {
  return ['--cpu-prof', '--cpu-prof-dir', path.resolve(folder)];
}

function newSecrets(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, () => [randomUUID(), randomBytes(16).toString('hex')]));
}

function ask(service: ChildProcess, request: ServiceRequest): void {
  service.send(request);
}

async function cpuTime(service: ChildProcess): Promise<number> {
  const answer = message<Extract<ServiceAnswer, { cpu: number }>>(service, (told) => 'cpu' in told);
  ask(service, { kind: 'cpu' });
  return (await answer).cpu;
}

async function untilSettled(deliveries: { countDocuments(filter: object): Promise<number> }): Promise<void> {
  for (const limit = performance.now() + drainMs; performance.now() < limit;) {
    if ((await deliveries.countDocuments({ status: 'pending' })) === 0) return;
    await sleep(50);
  }
}

function evaluate(
  acknowledged: readonly Acknowledged[],
  arrivals: readonly SinkArrival[],
  wanted: number,
  unverified: number,
  [serviceCpu, databaseCpu]: readonly [number, number],
): Measured {
  const acknowledgedAt = new Map(acknowledged);
  const mine = arrivals.filter(([id]) => acknowledgedAt.has(id));
  // A delivery can arrive before the client has read the acknowledgment of the order.
  const delays = mine.map(([id, at]) => Math.max(0, at - (acknowledgedAt.get(id) ?? 0)));
  const first = Math.min(...acknowledged.map(([, at]) => at));
  const last = Math.max(...mine.map(([, at]) => at));
  const lastPlaced = Math.max(...acknowledged.map(([, at]) => at));
  return {
    ordersPerSecond: (acknowledged.length * 1_000) / (lastPlaced - first),
    deliveriesPerSecond: (mine.length * 1_000) / (last - first),
    p50: percentile(delays, 0.5),
    p99: percentile(delays, 0.99),
    missing: wanted - mine.length,
    unverified,
    serviceCpu: serviceCpu / mine.length,
    databaseCpu: databaseCpu / mine.length,
  };
}

async function benchTransport(fanOut: number): Promise<TransportResult> {
  const sink = startSink();
  const url = `http://127.0.0.1:${await sink.port}/hook`;
  const secrets = newSecrets(fanOut);
  sink.child.send({ secrets });
  const data = { itemNames: ['Café crème'], itemTags: ['hot'], total: 840, currency: 'EUR' };
  const options: TransportOptions = { url, secrets, data, seconds };
  const child = program('webhooks-transport.ts', [JSON.stringify(options)]);
  const [result] = (await once(child, 'message')) as [TransportResult];
  const { unverified } = await report(sink.child);
  if (unverified > 0) throw new Error(`${unverified} requests of the transport could not be verified`);
  await end(sink.child);
  return result;
}

const database = await startDatabaseServer(fastEngine, silentLog);
try {
  const load = (): string =>
    loadavg()
      .map((value) => value.toFixed(1))
      .join(' ');
  console.log(
    `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown CPU'}, load ${load()}`,
  );
  console.log(`Database: ${database.engine}, on the same machine; latencies from acknowledgment to verified arrival`);
  if (values.integrations !== undefined) await benchCrowd(database.uri, Number(values.integrations));
  if (values.waiting !== undefined) await benchBacklog(database.uri, Number(values.waiting));
  const rows: Record<string, string | number>[] = [];
  const round = (value: number): number => (value < 10 ? Math.round(value * 100) / 100 : Math.round(value));
  const line = (what: string, fanOut: number, measured: Measured): Record<string, string | number> => ({
    '': what,
    'fan-out': fanOut,
    'orders/s': round(measured.ordersPerSecond),
    'deliveries/s': round(measured.deliveriesPerSecond),
    'p50 ms': round(measured.p50),
    'p99 ms': round(measured.p99),
    missing: measured.missing,
    unverified: measured.unverified,
    'service CPU ms/delivery': round(measured.serviceCpu),
    'database CPU ms/delivery': round(measured.databaseCpu),
  });
  const isOther = values.integrations !== undefined || values.waiting !== undefined;
  const fanOuts = isOther ? [] : values['fan-out'].split(',').map(Number);
  for (const fanOut of fanOuts) {
    const bare = await benchTransport(fanOut);
    const { deliveriesPerSecond, p50, p99 } = bare;
    rows.push({
      '': 'bare transport',
      'fan-out': fanOut,
      'deliveries/s': round(deliveriesPerSecond),
      'p50 ms': round(p50),
      'p99 ms': round(p99),
    });
    for (const intake of values.intake.split(',') as Intake[]) {
      const { full, half } = await benchService(fanOut, intake);
      rows.push(line(`${intake}, full load`, fanOut, full), line(`${intake}, half load`, fanOut, half));
    }
  }
  if (rows.length > 0) console.table(rows);
  console.log(`load afterwards ${load()}`);
} finally {
  await database.stop();
}
