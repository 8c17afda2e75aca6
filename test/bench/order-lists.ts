/**
 * `npm run program -- bench:orders [orders] [engine]` measures how long pages and counts of a long list of orders take. It
 * fills a database of its own, on the engine that the service would start, and reads through the store of orders.
 */
import { randomUUID } from 'node:crypto';
import { createOrderStore, orderIndexes, type OrderFilter } from '../../src/orders/order-store.ts';
import { fillLists } from './measure-lists.ts';

const size = Number(process.argv[2] ?? 1_000_000);
const locations = 100;
/** One order every 30 s: a million orders are a year. */
const start = Date.parse('2026-01-01T00:00:00Z');
const at = (index: number): Date => new Date(start + index * 30_000);

/** In the form of the service, but without items. */
const lists = await fillLists({ collection: 'orders', indexes: [orderIndexes] }, size, process.argv[3], (index) => ({
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
  updated_at: at(index),
  fingerprint: '0'.repeat(64),
  fiscal_day: '2026-01-01',
  outbox: [],
  revision: 1,
  writes: [],
}));
const store = createOrderStore(lists.database);
const anything: OrderFilter = { status: undefined, locationIds: undefined, since: undefined, until: undefined };
const day = { since: at(Math.floor(size / 2)), until: at(Math.floor(size / 2) + 2_880) };
const measured: readonly (readonly [string, OrderFilter, offset?: number])[] = [
  ['a location, a status and a day', { locationIds: ['location-7'], status: 'completed', ...day }],
  ['a day', { ...anything, ...day }],
  ['a location and a status', { ...anything, locationIds: ['location-7'], status: 'completed' }],
  ['a location (1 in 100)', { ...anything, locationIds: ['location-7'] }],
  ['status open (1 in 50)', { ...anything, status: 'open' }],
  ['status completed', { ...anything, status: 'completed' }],
  ['all', anything],
  ['all, offset 10,000', anything, 10_000],
];
for (const [name, filter, offset] of measured) await lists.measure(name, store.list(filter), offset);
await lists.close();
