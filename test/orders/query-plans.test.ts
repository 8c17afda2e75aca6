import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Document } from 'mongodb';
import { ensureIndexes } from '../../src/db/indexes.ts';
import { count, cut, listPositions, matching, sampleField } from '../../src/db/narrow-reads.ts';
import type { OrderDocument } from '../../src/orders/order-store.ts';
import type { OrderStatus } from '../../src/orders/order.ts';
import { listSource, orderIndexes } from '../../src/orders/order-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const size = 3_000;
const second = 1_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const at = (index: number): Date => new Date(start + index * second);
/** As evenly distributed as random ids. */
const idOf = (index: number): string => createHash('sha256').update(String(index)).digest('hex').slice(0, 32);
const statuses: readonly OrderStatus[] = ['open', 'completed', 'completed', 'completed', 'canceled'];

let database: TestDatabase;
/** Whether this server reads in the order of an index. A server that sorts even by `_id` in memory cannot show it. */
let readsInOrder: boolean;

beforeAll(async () => {
  database = await createTestDatabase();
  await ensureIndexes(database.db, [orderIndexes]);
  const orders = database.db.collection<{ _id: string }>('orders');
  await orders.insertMany(
    Array.from({ length: size }, (_, index) => ({
      _id: idOf(index),
      ...sampleField(idOf(index)),
      location_id: `location-${index % 3}`,
      ...(index % 100 === 0 ? { reference_id: `till-${index % 300}` } : {}),
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
// The database is not dropped: this blocks SecantusDB's Python server for seconds.
afterAll(() => database.close());

const span = { since: at(200), until: at(300) };
const anything = { status: undefined, locationId: undefined, since: undefined, until: undefined };
const status = 'completed';
const locationId = 'location-1';

describe.each([
  ['no filter', anything, size],
  ['a status', { ...anything, status }, 1_800],
  ['a location', { ...anything, locationId }, 1_000],
  ['a location and a status', { ...anything, locationId, status }, 600],
  ['a span', { ...anything, ...span }, 100],
  ['a reference', { ...anything, referenceId: 'till-0' }, 10],
  ['a status and a span', { ...anything, status, ...span }, 60],
  ['a location and a span', { ...anything, locationId, ...span }, 33],
  ['a location, a status and a span', { locationId, status, ...span }, 20],
] as const)('a list by %s', (_name, filter, total) => {
  it('is read from an index in parts, and counted in the same way', async () => {
    const source = listSource(database.db.collection<OrderDocument>('orders'), filter);
    const parts = await cut(source);
    expect(parts.length).toBeGreaterThan(filter.since === undefined ? 4 : 0);
    for (const part of parts) {
      const explained = await database.db
        .collection('orders')
        .find((matching(source, part)[0] as { $match: Document }).$match)
        .project({ _id: 1, created_at: 1 })
        .explain('executionStats');
      const stages = stagesOf(explained);
      expect(stages).toContain('IXSCAN');
      expect(stages).not.toContain('COLLSCAN');
      if (!readsInOrder) continue;
      const { totalKeysExamined, nReturned } = explained['executionStats'] as Record<string, number>;
      expect(totalKeysExamined).toBeLessThanOrEqual((nReturned ?? 0) + 1);
    }
    expect(await count(source)).toBe(total);
  });

  it('gives the same page as a single query', async () => {
    const orders = database.db.collection<OrderDocument>('orders');
    const source = listSource(orders, filter);
    const [{ $match: all }] = matching(source, source.span) as [{ $match: Document }];
    const wanted = await orders.find(all).sort({ created_at: -1, _id: 1 }).skip(5).limit(10).toArray();
    const page = wanted.map(({ _id: id, created_at }) => ({ at: created_at.getTime(), id }));
    expect(await listPositions(source, { offset: 5 }, 10)).toEqual(page);
    expect(await listPositions(source, { offset: 0 }, size)).toHaveLength(total);
    expect(await listPositions(source, { offset: total }, 10)).toEqual([]);
    const [first = { at: 0, id: '' }] = page;
    expect(await listPositions(source, { after: first }, 9)).toEqual(page.slice(1));
  });
});

/** The stages of the chosen plan. */
function stagesOf(explained: Document): string[] {
  const plan: unknown = (explained['queryPlanner'] as { winningPlan: unknown }).winningPlan;
  return [...JSON.stringify(plan).matchAll(/"stage":"(\w+)"/g)].map(([, stage]) => stage ?? '');
}
