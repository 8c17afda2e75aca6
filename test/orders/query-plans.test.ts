import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Document } from 'mongodb';
import { ensureIndexes } from '../../src/db/indexes.ts';
import type { OrderStatus } from '../../src/orders/order.ts';
import { countCommand, listFilter, listOrder, orderIndexes } from '../../src/orders/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const size = 600;
const second = 1_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const at = (index: number): Date => new Date(start + index * second);
const statuses: readonly OrderStatus[] = ['open', 'completed', 'completed', 'completed', 'canceled'];

let database: TestDatabase;
/** Does this server read sorted by an index at all? One that sorts even by `_id` in memory cannot show it. */
let readsInOrder: boolean;

beforeAll(async () => {
  database = await createTestDatabase();
  await ensureIndexes(database.db, [orderIndexes]);
  const orders = database.db.collection<{ _id: string }>('orders');
  await orders.insertMany(
    Array.from({ length: size }, (_, index) => ({
      _id: `order-${String(index).padStart(6, '0')}`,
      location_id: `location-${index % 3}`,
      status: statuses[index % statuses.length],
      created_at: at(index),
      outbox: [],
    })),
  );
  const plain = database.db.collection<{ a: number; b: number }>('plain');
  await plain.createIndex({ a: 1, b: -1 });
  await plain.insertMany(Array.from({ length: 10 }, (_, b) => ({ a: 1, b })));
  readsInOrder = !stagesOf(await plain.find({ a: 1 }).sort({ b: -1 }).explain()).includes('SORT');
});
// Not dropped: that takes SecantusDB's Python server seconds in which it answers nobody else.
afterAll(() => database.close());

const span = { since: at(200), until: at(300) };
const anything = { status: undefined, locationId: undefined, since: undefined, until: undefined };
const status = 'completed';
const locationId = 'location-1';

describe.each([
  ['no filter', anything, size],
  ['a status', { ...anything, status }, 360],
  ['a location', { ...anything, locationId }, 200],
  ['a location and a status', { ...anything, locationId, status }, 120],
  ['a span', { ...anything, ...span }, 100],
  ['a status and a span', { ...anything, status, ...span }, 60],
  ['a location and a span', { ...anything, locationId, ...span }, 33],
  ['a location, a status and a span', { locationId, status, ...span }, 20],
] as const)('a list by %s', (_name, filter, total) => {
  it('is read from an index, in order, as far as the page', async () => {
    const orders = database.db.collection('orders');
    const cursor = orders
      .find(listFilter(filter) as Document)
      .sort(listOrder)
      .skip(5)
      .limit(10);
    const explained = await cursor.explain('executionStats');
    const stages = stagesOf(explained);
    expect(stages).toContain('IXSCAN');
    expect(stages).not.toContain('COLLSCAN');
    if (!readsInOrder) return;
    expect(stages).not.toContain('SORT');
    // The page, and what was skipped before it.
    expect(explained['executionStats']).toMatchObject({ nReturned: 10 });
    expect((explained['executionStats'] as { totalKeysExamined: number }).totalKeysExamined).toBeLessThanOrEqual(16);
  });

  it('is counted by an index', async () => {
    const { readConcern: _, ...count } = countCommand(listFilter(filter));
    expect((await database.db.command(count))['n']).toBe(total);
    const explained = await database.db.command({ explain: count, verbosity: 'executionStats' });
    const stages = stagesOf(explained);
    expect(stages).not.toContain('COLLSCAN');
    expect(stages.some((stage) => stage === 'COUNT_SCAN' || stage === 'IXSCAN')).toBe(true);
    if (readsInOrder) {
      expect((explained['executionStats'] as { totalKeysExamined: number }).totalKeysExamined).toBeLessThanOrEqual(
        total + 1,
      );
    }
  });
});

/** The stages of the plan that was chosen. */
function stagesOf(explained: Document): string[] {
  const plan: unknown = (explained['queryPlanner'] as { winningPlan: unknown }).winningPlan;
  return [...JSON.stringify(plan).matchAll(/"stage":"(\w+)"/g)].map(([, stage]) => stage ?? '');
}
