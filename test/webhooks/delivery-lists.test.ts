import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Binary } from 'mongodb';
import { sorts } from '../../src/storage/db/open-pages.ts';
import { pageQuery } from '../../src/storage/db/plain-pages.ts';
import { deriveUuid } from '../../src/base/runtime/derived-id.ts';
import type { DeliveryDocument } from '../../src/webhooks/deliveries/delivery-documents.ts';
import { deliverySource } from '../../src/webhooks/deliveries/delivery-lists.ts';
import { createDeliveryStore, deliveryIndexes } from '../../src/webhooks/deliveries/delivery-store.ts';
import { createIndexes, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectIndexRead } from '../support/query-plan.ts';
import { readList } from '../support/read-list.ts';

const size = 3_000;
const start = Date.parse('2026-03-01T12:00:00Z');
const idOf = (text: string): string => deriveUuid('test', text);
const integrations = ['first', 'second', 'third'].map(idOf);
const [integrationId = ''] = integrations;

/** Of 100 deliveries one waits, two are retrying, five have failed, and the others are delivered. */
const documents = Array.from({ length: size }, (_, index): DeliveryDocument => {
  const turn = index % 100;
  const isPending = turn < 3;
  return {
    _id: idOf(String(index)),
    event_id: idOf(`event ${index}`),
    event_type: index % 150 === 7 ? 'PRODUCT_UPDATED' : 'ORDER_PLACED',
    integration_id: integrations[index % 3] ?? '',
    target_id: idOf(`target ${index % 50}`),
    event_created_at: new Date(start),
    created_at: new Date(start + Math.floor(index / 2) * 1_000),
    body: new Binary(Buffer.from('{}')),
    stamp: 1,
    tries: 1,
    failures: turn > 0 && turn < 8 ? 1 : 0,
    status: isPending ? 'pending' : turn < 8 ? 'failed' : 'delivered',
    ...(turn > 0 && { last_outcome: turn === 1 ? 'timeout' : turn < 8 ? '5xx' : '2xx' }),
  };
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await createIndexes(database, deliveryIndexes);
  await database.db.collection<DeliveryDocument>('deliveries').insertMany(documents);
});
afterAll(() => database.close());

const pending = { status: 'pending' } as const;
const target_id = idOf('target 8');

describe.each([
  ['a type', { eventType: 'PRODUCT_UPDATED' }, { event_type: 'PRODUCT_UPDATED' }, 'event_type_1_created_at_-1__id_1'],
  ['a status', { status: 'failed' }, { status: 'failed' }, 'undelivered_status_1_created_at_-1__id_1'],
  ['delivery', { status: 'delivered' }, { status: 'delivered' }, 'delivered_created_at_-1__id_1_status_1'],
  [
    'a failed attempt',
    { ...pending, hasFailed: true },
    { ...pending, failures: 1 },
    'retrying_created_at_-1__id_1_last_outcome_1',
  ],
  ['no attempt', { ...pending, hasFailed: false }, { ...pending, failures: 0 }, undefined],
  ['an outcome', { lastOutcome: 'timeout' }, { last_outcome: 'timeout' }, 'failed_last_outcome_1_created_at_-1__id_1'],
  ['a target', { targetId: target_id }, { target_id }, 'target_id_1_created_at_-1__id_1'],
] as const)('a list by %s', (name, filter, equal, index) => {
  it.each([
    ['all integrations', {}, {}, ''],
    ['one integration', { integrationId }, { integration_id: integrationId }, 'integration_id_1_'],
  ] as const)('of %s has what matches, the newest first, and reads no more', async (_, also, alsoEqual, prefix) => {
    const wanted = documents
      .filter((document) =>
        Object.entries({ ...equal, ...alsoEqual }).every(
          ([field, value]) => document[field as keyof DeliveryDocument] === value,
        ),
      )
      .toSorted((a, b) => b.created_at.getTime() - a.created_at.getTime() || (a._id < b._id ? -1 : 1));
    const all = { ...filter, ...also };
    const { items, total } = await readList(createDeliveryStore(database).list(all), 20, 3);
    expect(items.map(({ id }) => id)).toEqual(wanted.slice(3, 23).map(({ _id }) => _id));
    expect(total).toBe(wanted.length);
    // A target has few deliveries.
    if (!database.pages.readsInOrder || index === undefined || (name === 'a target' && prefix !== '')) return;
    const collection = database.db.collection<DeliveryDocument>('deliveries');
    const { filter: query, options } = pageQuery(deliverySource(collection, all), { offset: 0 }, 5);
    const hint =
      name === 'delivery' && prefix !== ''
        ? 'integration_id_1_status_1_created_at_-1__id_1'
        : index.replace(/^(undelivered_|delivered_|failed_|retrying_)?/, (kind) =>
            kind === 'undelivered_' && prefix !== '' ? prefix : `${kind}${prefix}`,
          );
    const explained = await collection.find(query, { ...options, hint }).explain('executionStats');
    expectIndexRead(explained);
    expect([hint, sorts(explained)]).toEqual([hint, false]);
    const stats = explained['executionStats'] as { totalKeysExamined?: number } | undefined;
    if (stats?.totalKeysExamined !== undefined) expect(stats.totalKeysExamined).toBeLessThanOrEqual(6);
  });
});
