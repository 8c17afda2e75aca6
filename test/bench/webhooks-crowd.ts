/**
 * Many integrations, each with a receiver of its own: how soon one event reaches all of them, how late retries are, what
 * receivers that do not answer cost the others, and what the engine costs when nothing happens. Engine, database and
 * receivers run in a process each.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { read } from '../../src/storage/db/writes.ts';
import { percentile } from '../faults/webhooks/percentile.ts';
import { openDatabase } from '../support/database.ts';
import type { Arrival } from './webhooks-crowd-receivers.ts';
import { openCrowd } from './webhooks-crowd-world.ts';

/** Integrations of the comparison, which get the same number of deliveries. */
const fewIntegrations = 100;
const mostFailing = 2_000;
const deadShare = 0.1;
const idleSeconds = 10;
const waitMs = 180_000;

/** Passes connections on, and counts what is sent: about one part for each command. */
async function countCommands(uri: string): Promise<{ uri: string; count: () => number; close: () => void }> {
  const target = new URL(uri);
  const [host, port] = [target.hostname, Number(target.port)];
  let count = 0;
  const server = createServer((client) => {
    const upstream = connect(port, host);
    client.on('data', () => (count += 1));
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) socket.on('error', () => [client, upstream].map((each) => each.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  target.port = String((server.address() as AddressInfo).port);
  return { uri: target.href, count: () => count, close: () => server.close() };
}

/** Measures with a number of integrations, and prints a table. */
export async function benchCrowd(databaseUri: string, integrations: number): Promise<void> {
  const [everywhere, few, failing] = [randomUUID(), randomUUID(), randomUUID()];
  const databaseName = `bench_${randomUUID().slice(0, 8)}`;
  const crowd = await openCrowd(databaseUri, databaseName);
  const { database, receivers, webhooks, engineOn, place } = crowd;
  const rows: Record<string, string | number>[] = [];
  const print = (what: string, value: number, unit: string): void => {
    console.log(what, value);
    rows.push({ '': what, value: value < 10 ? Math.round(value * 100) / 100 : Math.round(value), unit });
  };

  const add = (index: number): Promise<string> =>
    crowd.add(index, [
      everywhere,
      ...(index < fewIntegrations ? [few] : []),
      ...(index < mostFailing ? [failing] : []),
    ]);
  /** Through a connection that counts, which the other measurements do without. */
  const idleOperations = async (): Promise<number> => {
    const counted = await countCommands(databaseUri);
    const connection = await openDatabase(counted.uri, databaseName);
    const idle = engineOn(connection);
    idle.start();
    await sleep(3_000);
    const before = counted.count();
    await sleep(idleSeconds * 1_000);
    const operations = (counted.count() - before) / idleSeconds;
    await idle.stop(0);
    await connection.close();
    counted.close();
    return operations;
  };
  const settled = async (): Promise<void> => {
    const pending = { lane: { $gt: '' } };
    for (const end = performance.now() + waitMs; performance.now() < end; await sleep(200)) {
      if ((await read(() => database.db.collection('deliveries').findOne(pending))) === null) return;
    }
  };
  const after = (start: number, arrivals: readonly Arrival[]): number[] => arrivals.map(([, at]) => at - start);

  try {
    for (let index = 0; index < integrations; index += 50) {
      const some = Array.from({ length: Math.min(50, integrations - index) }, (_, offset) => add(index + offset));
      await Promise.all(some);
    }
    print('idle', await idleOperations(), 'database operations/s');
    webhooks.start();
    await sleep(3_000);

    const cpu = (): number => {
      const { user, system: inSystem } = process.cpuUsage();
      return (user + inSystem) / 1_000;
    };
    receivers.react({});
    let before = cpu();
    let start = await place(few, Math.ceil(integrations / fewIntegrations));
    const comparison = after(start, await receivers.until(integrations));
    print(`${integrations} deliveries to ${fewIntegrations} receivers, last`, Math.max(...comparison) / 1_000, 's');
    await settled();
    print('  CPU of the engine for each', (cpu() - before) / integrations, 'ms');

    receivers.react({});
    before = cpu();
    start = await place(everywhere);
    const all = after(start, await receivers.until(integrations));
    print(`one event to ${integrations} receivers, last`, Math.max(...all) / 1_000, 's');
    print('  as a multiple of the former', Math.max(...all) / Math.max(...comparison), '');
    print('  missing', integrations - all.length, '');
    await settled();
    print('  CPU of the engine for each', (cpu() - before) / integrations, 'ms');

    const failures = Math.min(mostFailing, integrations);
    receivers.react({ failOnce: failures });
    await place(failing);
    const due = new Map<string, number>();
    const retried = receivers.until(2 * failures);
    const pending = database.db.collection<{ _id: string; integration_id: string; next_attempt_at: Date }>(
      'deliveries',
    );
    for (const end = performance.now() + 4_000; performance.now() < end; await sleep(500)) {
      const found = await read(() => pending.find({ lane: { $gt: '' }, failures: 1 } as object).toArray());
      for (const { integration_id, next_attempt_at } of found) due.set(integration_id, next_attempt_at.getTime());
    }
    const indexOf = new Map<string, number>();
    const addresses = database.db.collection<{ _id: string; url: string }>('integrations');
    for await (const { _id, url: address } of addresses.find({}, { projection: { url: 1 } })) {
      indexOf.set(_id, Number(address.slice(address.lastIndexOf('/') + 1)));
    }
    const second = new Map((await retried).map(([index, at]) => [index, at]));
    const late = [...due]
      .flatMap(([id, at]) => (second.get(indexOf.get(id) ?? -1) ?? NaN) - at)
      .filter((ms) => ms > -500);
    print(`${failures} first attempts fail: retries after they are due, p50`, percentile(late, 0.5), 'ms');
    print('  p95', percentile(late, 0.95), 'ms');
    await settled();

    const dead = Math.floor(integrations * deadShare);
    receivers.react({ hang: dead });
    start = await place(everywhere);
    const living = (await receivers.until(integrations - dead)).filter(([index]) => index >= dead);
    const p99 = percentile(after(start, living), 0.99);
    print(`${dead} of ${integrations} hang: the others, p99`, p99 / 1_000, 's');
    print('  as a multiple of that without them', p99 / percentile(all, 0.99), '');
    print('  missing', integrations - dead - living.length, '');
    console.table(rows);
  } finally {
    await crowd.close();
  }
}
