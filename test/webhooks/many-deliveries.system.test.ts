import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { withWindowedPages } from '../../src/storage/db/windowed-pages.ts';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import { newDelivery } from '../../src/webhooks/deliveries/delivery.ts';
import { firstDue } from '../../src/webhooks/deliveries/delivery-documents.ts';
import { createDeliveryStore, type DeliveryStore } from '../../src/webhooks/deliveries/delivery-store.ts';
import { createEventStore, type StoredEvent } from '../../src/webhooks/events/event-store.ts';
import { webhookIndexes } from '../../src/webhooks/webhooks.ts';
import { createWaitingStore } from '../../src/webhooks/waiting/waiting-store.ts';
import { createIndexes, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { countMatchedDocuments, type MatchedDocuments } from '../support/matched-documents.ts';
import { attemptOf } from './webhooks-harness.ts';
import { readList } from '../support/read-list.ts';

/** Enough for several parts of a time span with some hundred deliveries each. */
const size = 2_000;
const most = 1_500;
const start = Date.parse('2026-03-01T12:00:00Z');
const at = (index: number): Date => new Date(start + index * 1_000);
const body = Buffer.from('{}');
const noPause = (): Promise<void> => Promise.resolve();
const later = new Date(Date.now() + 86_400_000);

let connection: TestDatabase;
/** Whatever the server needs: what is counted here is what short reads match. */
let database: PagedDatabase;
let counted: MatchedDocuments;
let deliveries: DeliveryStore;
const integrationId = randomUUID();
const otherId = randomUUID();
let ids: string[];

beforeAll(async () => {
  connection = await createTestDatabase();
  database = connection.pages.readsInOrder ? withWindowedPages(connection) : connection;
  await createIndexes(database, webhookIndexes);
  counted = countMatchedDocuments(database);
  deliveries = createDeliveryStore(counted.database);
  const plain = createDeliveryStore(database);
  for (let index = 0; index < size; index += 200) {
    const some = Array.from({ length: 200 }, (_, offset) => {
      const eventType = offset % 100 === 0 ? 'TEST' : 'ORDER_PLACED';
      const added = { eventId: randomUUID(), eventType, integrationId, body, targetId: randomUUID() } as const;
      return newDelivery({ ...added, eventCreatedAt: at(index) }, at(index));
    });
    await plain.insertMissing(some);
  }
  const one = { eventId: randomUUID(), eventType: 'TEST', integrationId: otherId, targetId: randomUUID() } as const;
  await plain.insertMissing([newDelivery({ ...one, eventCreatedAt: at(0), body }, at(0))]);
  ids = [];
  // The first read of a list shows how to divide it.
  for (const filter of [{}, { integrationId }, { status: 'pending' }] as const) await deliveries.list(filter).total();
  for await (const _ of deliveries.firstDue({ from: '', before: undefined }));
});
afterAll(() => connection.close());
beforeEach(() => counted.most());

const expectNarrow = async (): Promise<void> => {
  const { documents, filter } = await counted.most();
  expect([filter, documents < most ? 'few' : documents]).toEqual([filter, 'few']);
};

describe('with thousands of deliveries of an integration, no command reads thousands', () => {
  it('to list them, newest first, with their number', async () => {
    const { items: page, total } = await readList(deliveries.list({ integrationId }), 100, 350);
    ids = (await readList(deliveries.list({ integrationId }), size)).items.map(({ id }) => id);
    expect(new Set(ids).size).toBe(size);
    expect([page.map(({ id }) => id), total]).toEqual([ids.slice(350, 450), size]);
    const times = page.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    await expectNarrow();
  });

  it('to list those with a type, a status, a last outcome or a time', async () => {
    const byType = await readList(deliveries.list({ integrationId, eventType: 'TEST' }), 10);
    expect([byType.total, byType.items.length]).toEqual([size / 100, 10]);
    expect(await deliveries.list({ integrationId, status: 'failed' }).total()).toBe(0);
    expect(await deliveries.list({ integrationId, lastOutcome: 'timeout' }).total()).toBe(0);
    const filter = { integrationId, since: at(200), until: at(600) };
    expect(await deliveries.list(filter).total()).toBe(400);
    await expectNarrow();
  });

  it('to list those of all integrations, whatever the filter', async () => {
    const all = (await readList(deliveries.list({}), size + 1)).items;
    expect(new Set(all.map(({ id }) => id)).size).toBe(size + 1);
    const pages = await Promise.all([
      readList(deliveries.list({}), 100, 350),
      readList(deliveries.list({ status: 'pending' }), 100, 350),
      readList(deliveries.list({ status: 'pending', integrations: { except: [otherId] } }), 100, 350),
    ]);
    for (const { items } of pages) expect(items.map(({ id }) => id)).toEqual(all.slice(350, 450).map(({ id }) => id));
    expect(pages.map(({ total }) => total)).toEqual([size + 1, size + 1, size]);
    const totalOf = async (filter: Parameters<DeliveryStore['list']>[0]): Promise<number> =>
      (await readList(deliveries.list(filter), 10)).total;
    expect(await totalOf({ eventType: 'TEST' })).toBe(size / 100 + 1);
    expect(await totalOf({ status: 'pending', eventType: 'TEST' })).toBe(size / 100 + 1);
    expect(await totalOf({ status: 'delivered', eventType: 'TEST' })).toBe(0);
    expect(await totalOf({ status: 'failed' })).toBe(0);
    expect(await totalOf({ status: 'pending', integrations: { among: [otherId] } })).toBe(1);
    expect(await totalOf({ integrationId: otherId, status: 'pending' })).toBe(1);
    expect(await totalOf({ targetId: randomUUID() })).toBe(0);
    expect(await totalOf({ targetId: `cat_${'0'.repeat(32)}` })).toBe(0);
    expect(await totalOf({ lastOutcome: 'timeout' })).toBe(0);
    expect(await totalOf({ lastOutcome: '2xx' })).toBe(0);
    expect(await totalOf({ since: at(200), until: at(600) })).toBe(400);
    await expectNarrow();
  });

  it('to find due deliveries, the longest due first and none twice', async () => {
    const fail = (_id: string, error: unknown): never => {
      throw error;
    };
    const first = await deliveries.due(integrationId, new Date(), 256, new Set(), fail);
    expect(first).toHaveLength(256);
    const next = await deliveries.due(integrationId, new Date(), 256, new Set(first.map(({ id }) => id)), fail);
    expect(new Set([...first, ...next].map(({ id }) => id)).size).toBe(512);
    const times = [...first, ...next].map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(await deliveries.due(integrationId, new Date(start - 2 * 86_400_000), 256, new Set(), fail)).toEqual([]);
    await expectNarrow();
  });

  it('to find the integrations with waiting deliveries, and when the first of each is due', async () => {
    const found = new Map<string, Date>();
    for await (const some of deliveries.firstDue({ from: '', before: undefined })) {
      for (const { integrationId: id, at: dueAt } of some) found.set(id, dueAt);
    }
    expect(found).toEqual(new Map([integrationId, otherId].map((id) => [id, firstDue(at(0))])));
    await expectNarrow();
  });

  it('to count the waiting ones, and to find the oldest', async () => {
    const store = createWaitingStore(counted.database);
    // Only the oldest thousand are read.
    expect(await store.find(integrationId, new Date())).toMatchObject({
      count: size,
      oldestAt: at(0),
      isEstimated: true,
    });
    const one = { count: 1, oldestAt: at(0) };
    expect(await store.find(otherId, new Date())).toEqual({
      ...one,
      isEstimated: false,
      later: undefined,
      due: { count: 1, since: at(0) },
    });
    expect(await store.find(randomUUID(), new Date())).toBeUndefined();
    await expectNarrow();
  });

  it('to find integrations that have deliveries', async () => {
    const found = new Set([
      ...(await deliveries.integrationsBetween('', integrationId)),
      ...(await deliveries.integrationsBetween(integrationId, undefined)),
    ]);
    expect([...found]).toEqual([otherId]);
    await expectNarrow();
    expect(await deliveries.integrationsBetween('', undefined)).toContain(integrationId);
  });

  it('to drop those that were held too long', async () => {
    const expired = await deliveries.expire(
      integrationId,
      at(1_000),
      () => ({ at: new Date(), expiresAt: later }),
      noPause,
    );
    expect(expired).toBe(1_000);
    expect(await deliveries.list({ integrationId, status: 'expired' }).total()).toBe(1_000);
    await expectNarrow();
  });

  it('to remove them and their attempts', async () => {
    for (let index = 0; index < 1_000; index += 500) {
      const some = ids.slice(index, index + 500).map((id) => attemptOf(id, integrationId));
      await createDeliveryStore(database).recordAttempts(some, later);
    }
    await counted.most();
    await deliveries.removeAllOf(integrationId, noPause);
    await expectNarrow();
    expect(await database.db.collection('deliveries').countDocuments()).toBe(1);
    expect(await database.db.collection('attempts').countDocuments()).toBe(0);
  });
});

describe('with thousands of events, no command reads thousands', () => {
  it('to replay events of a rare type', async () => {
    const events = createEventStore(counted.database);
    const about = { targetId: randomUUID(), locationId: undefined, recipients: [], body };
    const all = Array.from({ length: size }, (_, index): StoredEvent => ({
      id: randomUUID(),
      type: index % 500 === 0 ? 'TEST' : 'ORDER_PLACED',
      createdAt: at(index),
      ...about,
    }));
    await createEventStore(database).insertMissing(all, later);
    const wanted = all.filter(({ type }) => type === 'TEST').map(({ id }) => id);
    const found: string[] = [];
    await events.listAfter({ createdAt: at(0), id: '' }, at(size), ['TEST'], 3);
    await counted.most();
    let position = { createdAt: at(0), id: '' };
    for (let pages = 0; pages < 100; pages += 1) {
      const { events: page, next } = await events.listAfter(position, at(size), ['TEST'], 3);
      found.push(...page.map(({ id }) => id));
      if (next === undefined) break;
      position = next;
    }
    expect(found).toEqual(wanted);
    await expectNarrow();
  });
});
