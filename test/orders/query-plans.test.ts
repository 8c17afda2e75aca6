import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Document, Filter } from 'mongodb';
import { matching } from '../../src/storage/db/windowed-pages.ts';
import { sorts } from '../../src/storage/db/open-pages.ts';
import { pageQuery } from '../../src/storage/db/plain-pages.ts';
import type { Source } from '../../src/storage/db/pages.ts';
import { readPage, type Position } from '../../src/base/lists/listing.ts';
import { overriding } from '../../src/base/runtime/overriding.ts';
import type { OrderDocument } from '../../src/orders/order-store.ts';
import type { OrderStatus } from '../../src/orders/order.ts';
import { listSource, orderIndexes } from '../../src/orders/order-store.ts';
import { createIndexes, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectIndexRead } from '../support/query-plan.ts';

const size = 3_000;
const second = 1_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const at = (index: number): Date => new Date(start + index * second);
/** As evenly distributed as random ids. */
const idOf = (index: number): string => createHash('sha256').update(String(index)).digest('hex').slice(0, 32);
const statuses: readonly OrderStatus[] = ['open', 'completed', 'completed', 'completed', 'canceled'];

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await createIndexes(database, [orderIndexes]);
  const orders = database.db.collection<{ _id: string }>('orders');
  const all = Array.from({ length: size }, (_, index) => ({
    _id: idOf(index),
    location_id: `location-${index % 3}`,
    ...(index % 100 === 0 ? { reference_id: `till-${index % 300}` } : {}),
    status: statuses[index % statuses.length],
    created_at: at(index),
    // In another order, each once.
    updated_at: at((index * 7) % size),
    ...(index < 1_500 ? { fiscal_day: `2026-01-0${1 + (index % 5)}` } : {}),
    ...(index % 10 === 0 ? { spot: { id: `spot-${index % 100}` } } : {}),
    outbox: [],
  }));
  for (let from = 0; from < size; from += 500) await orders.insertMany(all.slice(from, from + 500));
});
// The database is not dropped: this blocks SecantusDB's Python server for seconds.
afterAll(() => database.close());

const span = { since: at(200), until: at(300) };
const anything = { status: undefined, locationIds: undefined, since: undefined, until: undefined };
const status = 'completed';
const locationId = 'location-1';

describe.each([
  ['no filter', anything, size, 'created_at_-1__id_1'],
  ['a status', { ...anything, status }, 1_800, 'status_1_created_at_-1__id_1'],
  ['a location', { ...anything, locationIds: [locationId] }, 1_000, 'location_id_1_created_at_-1__id_1'],
  [
    'a location and a status',
    { ...anything, locationIds: [locationId], status },
    600,
    'location_id_1_status_1_created_at_-1__id_1',
  ],
  ['a span', { ...anything, ...span }, 100, 'created_at_-1__id_1'],
  ['a reference', { ...anything, referenceId: 'till-0' }, 10, 'reference_id_1_created_at_-1__id_1'],
  ['a status and a span', { ...anything, status, ...span }, 60, 'status_1_created_at_-1__id_1'],
  [
    'a location and a span',
    { ...anything, locationIds: [locationId], ...span },
    33,
    'location_id_1_created_at_-1__id_1',
  ],
  [
    'a location, a status and a span',
    { locationIds: [locationId], status, ...span },
    20,
    'location_id_1_status_1_created_at_-1__id_1',
  ],
  ['a change', { ...anything, updatedSince: at(100) }, 2_900, 'updated_at_-1__id_1'],
  [
    'a change at a location',
    // 7 is 1 by 3: what remains by 3 is the same of both times.
    { ...anything, updatedSince: at(100), locationIds: [locationId] },
    967,
    'location_id_1_updated_at_-1__id_1',
  ],
  ['a fiscal day', { ...anything, fiscalDay: '2026-01-03' }, 300, 'fiscal_day_1_created_at_-1__id_1'],
  [
    'a fiscal day of a location',
    { ...anything, fiscalDay: '2026-01-03', locationIds: [locationId] },
    100,
    'location_id_1_fiscal_day_1_created_at_-1__id_1',
  ],
  ['a spot', { ...anything, spotId: 'spot-30' }, 30, 'spot.id_1_created_at_-1__id_1'],
] as const)('a list by %s', (_name, filter, total, index) => {
  it('is read from an index, as far as it is needed', async () => {
    const source = listSource(database.db.collection<OrderDocument>('orders'), filter);
    await (database.pages.readsInOrder ? expectOrdered(source, index) : expectWindows(source, total));
    expect(
      await database.pages
        .listsOf(({ _id }: OrderDocument) => _id)(source)
        .total(),
    ).toBe(total);
  });

  it('gives the same page as a single query', async () => {
    const orders = database.db.collection<OrderDocument>('orders');
    const source = listSource(orders, filter);
    const [{ $match: all }] = matching(source, source.span) as [{ $match: Document }];
    const wanted = await orders
      .find(all)
      .sort({ [source.time]: -1, _id: 1 })
      .skip(5)
      .limit(10)
      .toArray();
    const page = wanted.map((order) => ({ at: (order[source.time] as Date).getTime(), id: order._id }));
    const list = database.pages.listsOf(({ _id }: OrderDocument) => _id)(source);
    const positions = async (...range: Parameters<typeof list.entries>): Promise<Position[]> =>
      (await Array.fromAsync(list.entries(...range))).map(([position]) => position);
    expect(await positions({ offset: 5 }, 10)).toEqual(page);
    expect(await positions({ offset: 0 }, size)).toHaveLength(total);
    expect(await positions({ offset: total }, 10)).toEqual([]);
    const [first = { at: 0, id: '' }] = page;
    expect(await positions({ after: first }, 9)).toEqual(page.slice(1));
  });
});

/** The first page, and one that continues, take their order from the index. */
async function expectOrdered(source: Source<OrderDocument>, index: string): Promise<void> {
  const limit = 5;
  const { collection } = source;
  for (const start of [{ offset: 0 }, { after: { at: at(250).getTime(), id: '8' } }]) {
    const { filter, options } = pageQuery(source, start, limit);
    // For few documents some servers choose another plan. The hint shows whether the index could serve the list.
    const explained = await collection.find(filter, { ...options, hint: index }).explain('executionStats');
    expectIndexRead(explained);
    expect([explained['queryPlanner'], sorts(explained)]).toEqual([explained['queryPlanner'], false]);
    const stats = explained['executionStats'] as { totalKeysExamined?: number } | undefined;
    // Servers that explain in the form of PostgreSQL do not tell how much they read.
    if (stats?.totalKeysExamined !== undefined) expect(stats.totalKeysExamined).toBeLessThanOrEqual(limit + 1);
  }
}

/** Windows are read from an index, and short as soon as they are known. */
async function expectWindows(source: Source<OrderDocument>, total: number): Promise<void> {
  const { collection } = source;
  let filters: Document[] = [];
  const watched = overriding(collection, {
    aggregate: (stages: Document[]) => {
      filters.push((stages[0] as { $match: Document }).$match);
      return collection.aggregate(stages);
    },
  });
  const list = database.pages.listsOf(({ _id }: OrderDocument) => _id)({ ...source, collection: watched });
  await readPage(list, { offset: 0 }, size, (id) => id);
  filters = [];
  await readPage(list, { offset: 0 }, size, (id) => id);
  expect(filters.length).toBeGreaterThan(Math.floor(total / 1_000));
  for (const filter of filters) {
    const explained = await collection
      .find(filter as Filter<OrderDocument>)
      .project({ _id: 1, [source.time]: 1 })
      .explain('executionStats');
    expectIndexRead(explained);
    expect(await collection.countDocuments(filter)).toBeLessThan(1_000);
  }
}
