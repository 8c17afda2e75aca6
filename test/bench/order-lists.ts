/**
 * `npm run bench:orders -- [orders] [engine]` measures how long pages and counts of a long list of orders take. It
 * fills a database of its own, on the engine that the service would start, and reads through the store of orders.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../../src/errors/problem-error.ts';
import { createOrderStore, orderIndexes, type OrderFilter } from '../../src/orders/order-store.ts';
import { createIndexes, openDatabase } from '../support/database.ts';
import { fastEngine, startDatabaseServer, testEngineSchema } from '../support/database-server.ts';
import { readList } from '../support/read-list.ts';
import { median } from './statistics.ts';

const size = Number(process.argv[2] ?? 1_000_000);
const preferred = testEngineSchema.parse(process.argv[3] ?? fastEngine);
const batch = 5_000;
const locations = 100;
const rounds = 7;
/** One order every 30 s: a million orders are a year. */
const start = Date.parse('2026-01-01T00:00:00Z');
const at = (index: number): Date => new Date(start + index * 30_000);

const server = await startDatabaseServer(preferred);
const database = await openDatabase(server.uri, 'order_lists');
await createIndexes(database, [orderIndexes]);
await fill();

const store = createOrderStore(database);
const anything: OrderFilter = { status: undefined, locationId: undefined, since: undefined, until: undefined };
const day = { since: at(Math.floor(size / 2)), until: at(Math.floor(size / 2) + 2_880) };
const lists: readonly (readonly [string, OrderFilter, number])[] = [
  ['a location, a status and a day', { locationId: 'location-7', status: 'completed', ...day }, 0],
  ['a day', { ...anything, ...day }, 0],
  ['a location and a status', { ...anything, locationId: 'location-7', status: 'completed' }, 0],
  ['a location (1 in 100)', { ...anything, locationId: 'location-7' }, 0],
  ['status open (1 in 50)', { ...anything, status: 'open' }, 0],
  ['status completed', { ...anything, status: 'completed' }, 0],
  ['all', anything, 0],
  ['all, offset 10,000', anything, 10_000],
];
console.log(`\n${size.toLocaleString('en')} orders on ${server.engine}\n`);
console.log('| List | of | page of 20 and total, ms |\n|---|---|---|');
for (const [name, filter, offset] of lists) {
  const times: number[] = [];
  let total: number | undefined;
  try {
    for (let round = 0; round < rounds; round += 1) {
      const before = performance.now();
      ({ total } = await readList(store.list(filter), 20, offset));
      times.push(performance.now() - before);
    }
  } catch (error) {
    // The service would answer 503: a request waits no longer than the database's time limit.
    if (!(error instanceof ProblemError)) throw error;
    // The server continues the query after the client stops waiting. It must not run during the next measurement.
    await sleep(30_000);
  }
  const figure = total === undefined ? 'no answer within 6 s' : median(times).toFixed(1);
  console.log(`| ${name} | ${total?.toLocaleString('en') ?? ''} | ${figure} |`);
}
await database.close();
await server.stop();

/** Writes orders in the form of the service, but without items. */
async function fill(): Promise<void> {
  const orders = database.db.collection<{ _id: string }>('orders');
  for (let first = 0; first < size; first += batch) {
    const documents = Array.from({ length: Math.min(batch, size - first) }, (_, offset) => {
      const index = first + offset;
      return {
        _id: randomUUID(),
        location_id: `location-${index % locations}`,
        status: index % 50 === 0 ? 'open' : 'completed',
        currency: 'EUR',
        items: [],
        subtotal: 420,
        taxes: 38,
        fees: 11,
        total: 469,
        created_at: at(index),
        fingerprint: '0'.repeat(64),
        fiscal_day: '2026-01-01',
        outbox: [],
        revision: 1,
        writes: [],
      };
    });
    await orders.insertMany(documents, { ordered: false });
  }
}
