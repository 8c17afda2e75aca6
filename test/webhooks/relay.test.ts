import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Document } from 'mongodb';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { fromOutboxDocuments, outboxIndex, type WithOutbox } from '../../src/webhooks/events/outbox.ts';
import { createIntegrationDirectory } from '../../src/webhooks/integrations/directory.ts';
import { createIntegrationStore } from '../../src/webhooks/integrations/integration-store.ts';
import { createSecretBox } from '../../src/base/secrets/secret-box.ts';
import { openDatabase, testDatabaseUri } from '../support/database.ts';
import { silentLog } from '../support/log.ts';
import { expectIndexRead } from '../support/query-plan.ts';
import { defaultLocationId, quickTiming, startHarness, type Harness } from './webhooks-harness.ts';
import { until } from '../support/until.ts';

let harness: Harness;
let ids: string[];
const url = 'http://127.0.0.1:9/hook';

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness.close();
});
beforeEach(async () => {
  ids = await Promise.all([1, 2, 3].map(() => harness.addIntegration({ url })));
});
afterEach(async () => {
  await harness.removeIntegrations();
});

const rows = (collection: string, eventId: string): Promise<Document[]> =>
  harness.database.db
    .collection(collection)
    .find(collection === 'events' ? { _id: eventId as never } : { event_id: eventId })
    .toArray();

async function expectRelayedOnce(eventId: string, recipients: readonly string[] = ids): Promise<void> {
  expect(await harness.waitingEvents()).toBe(0);
  expect(await rows('events', eventId)).toHaveLength(1);
  const deliveries = await rows('deliveries', eventId);
  expect(deliveries.map((delivery) => String(delivery['integration_id'])).sort()).toEqual([...recipients].sort());
}

describe('relayNow', () => {
  it('creates one delivery for each subscriber, with the bytes of the event, and empties the outbox', async () => {
    const engine = harness.createEngine();
    const eventId = await harness.placeOrder();
    await engine.relay.relayNow('orders', await harness.holderOf(eventId));
    await expectRelayedOnce(eventId);
    const [event] = await rows('events', eventId);
    const bodies = (await rows('deliveries', eventId)).map(({ body }) => String(body));
    expect(new Set([...bodies, String(event?.['body'])]).size).toBe(1);
  });

  it('has the same result if many run at the same time', async () => {
    const engines = [1, 2, 3, 4].map(() => harness.createEngine());
    const eventId = await harness.placeOrder();
    const holder = await harness.holderOf(eventId);
    await Promise.all(engines.map((engine) => engine.relay.relayNow('orders', holder)));
    // A relay that read the outbox before it was emptied comes late.
    await until(async () => (await harness.waitingEvents()) === 0);
    await expectRelayedOnce(eventId);
  });

  it('leaves out integrations that are limited to other locations', async () => {
    const elsewhere = '9d0f4f5f-6f0e-4a53-8e6a-3e0f9c114a6e';
    await harness.addIntegration({ url, locationIds: [elsewhere] });
    const here = await harness.addIntegration({ url, locationIds: [elsewhere, defaultLocationId] });
    const eventId = await harness.placeOrder();
    await harness.createEngine().relay.relayNow('orders', await harness.holderOf(eventId));
    await expectRelayedOnce(eventId, [...ids, here]);
  });

  it('leaves out integrations whose filter the payload does not match', async () => {
    const filters = [
      { 'data.total': { $gte: 1250 } },
      { 'data.itemTags': 'hot' },
      { 'data.spotName': { $exists: false } },
    ];
    const kept = await Promise.all(filters.map((filter) => harness.addIntegration({ url, filter })));
    await harness.addIntegration({ url, filter: { 'data.total': { $gte: 1251 } } });
    await harness.addIntegration({ url, filter: { 'data.total': 1250, 'data.spotName': 'Bar' } });
    const eventId = await harness.placeOrder();
    await harness.createEngine().relay.relayNow('orders', await harness.holderOf(eventId));
    await expectRelayedOnce(eventId, [...ids, ...kept]);
  });

  it('stores an event without subscribers, for later replays', async () => {
    await harness.removeIntegrations();
    const engine = harness.createEngine();
    const eventId = await harness.placeOrder();
    await engine.relay.relayNow('orders', await harness.holderOf(eventId));
    await expectRelayedOnce(eventId, []);
  });

  it('keeps the recipients that were decided first', async () => {
    const engine = harness.createEngine();
    const eventId = await harness.placeOrder();
    const holder = await harness.holderOf(eventId);
    const outbox = await harness.database.db.collection('orders').findOne({ _id: holder as never });
    await engine.relay.relayNow('orders', holder);
    await harness.addIntegration({ url });
    // This is the state after a crash before the outbox was emptied.
    await harness.database.db
      .collection('orders')
      .updateOne({ _id: holder as never }, { $set: { outbox: outbox?.['outbox'] } });
    await engine.relay.relayNow('orders', holder);
    await expectRelayedOnce(eventId);
  });

  it('leaves an event that violates its schema in the outbox, and relays the others', async () => {
    const errors: string[] = [];
    const log = {
      ...silentLog,
      error: (_fields: object, message: string) => errors.push(message),
    };
    const engine = harness.createEngine({ log });
    const broken = await harness.placeOrder(undefined, { data: { total: 'much' } });
    const right = await harness.placeOrder();
    engine.start();
    await until(async () => (await rows('deliveries', right)).length === 3);
    await engine.stop(1_000);
    expect(await rows('events', broken)).toHaveLength(0);
    expect(await harness.waitingEvents()).toBe(1);
    expect(errors).toEqual(['an event cannot be sent; it stays in its outbox']);
    await harness.database.db.collection('orders').deleteOne({ _id: (await harness.holderOf(broken)) as never });
  });

  it('leaves an event with more recipients than a document can have in the outbox, and relays the others', async () => {
    const crowd = Array.from({ length: 300_001 }, () => ids[0] ?? '');
    const integrations: typeof harness.directory = {
      ...harness.directory,
      subscribers: () => Promise.resolve(({ locationId }) => (locationId === defaultLocationId ? ids : crowd)),
    };
    const engine = harness.createEngine({ integrations });
    const crowded = await harness.placeOrder(undefined, { locationId: '9d0f4f5f-6f0e-4a53-8e6a-3e0f9c114a6e' });
    const right = await harness.placeOrder();
    const holders = await Promise.all([crowded, right].map((eventId) => harness.holderOf(eventId)));
    for (const holder of holders) engine.relay.nudge('orders', holder);
    await until(async () => (await rows('deliveries', right)).length === 3);
    await engine.relay.stop();
    expect(await harness.waitingEvents()).toBe(1);
    await harness.database.db.collection('orders').deleteOne({ _id: holders[0] as never });
  });
});

describe('a nudge', () => {
  it('with the waiting events relays them without reading the document', async () => {
    const engine = harness.createEngine();
    const eventId = await harness.placeOrder();
    const holder = await harness.holderOf(eventId);
    const [order] = await harness.database.db.collection<WithOutbox>('orders').find({ 'outbox.id': eventId }).toArray();
    await harness.database.db.collection('orders').deleteOne({ _id: holder as never });
    engine.relay.nudge('orders', holder);
    engine.relay.nudge('orders', holder, fromOutboxDocuments(order?.outbox ?? []));
    await engine.relay.stop();
    await expectRelayedOnce(eventId);
  });
});

describe('the poll', () => {
  it('finds all events without a nudge', async () => {
    const events = await harness.placeOrders(Array.from({ length: 300 }, () => ({})));
    const engine = harness.createEngine();
    engine.start();
    await until(async () => (await harness.waitingEvents()) === 0);
    await engine.stop(1_000);
    for (const eventId of events.slice(0, 5)) await expectRelayedOnce(eventId);
    expect(await harness.database.db.collection('deliveries').countDocuments({ event_id: { $in: events } })).toBe(900);
  });

  it('does not repeat what is being relayed, however long it takes', async () => {
    const directory = createIntegrationDirectory(
      createIntegrationStore(harness.database),
      createSecretBox(randomBytes(32)),
    );
    let reads = 0;
    const arrived = Promise.withResolvers<undefined>();
    const resumed = Promise.withResolvers<undefined>();
    const slow = harness.createEngine({
      integrations: {
        ...directory,
        async subscribers(types) {
          reads += 1;
          arrived.resolve(undefined);
          await resumed.promise;
          return directory.subscribers(types);
        },
      },
    });
    const eventId = await harness.placeOrder(slow);
    slow.relay.start();
    await arrived.promise;
    // Some polls find it meanwhile.
    await sleep(10 * quickTiming.poll);
    expect(await harness.waitingEvents()).toBe(1);
    expect(reads).toBe(1);
    resumed.resolve(undefined);
    await slow.relay.stop();
    await expectRelayedOnce(eventId);
  });

  it('uses the index of waiting events', async () => {
    const plan = await harness.database.db
      .collection('orders')
      .find({ 'outbox.id': { $gt: '' } })
      .hint(outboxIndex.name)
      .explain('queryPlanner');
    expectIndexRead(plan);
  });
});

describe('a relay that is interrupted', () => {
  let proxy: LossyProxy;
  beforeAll(async () => {
    proxy = await LossyProxy.start(testDatabaseUri());
  });
  afterAll(async () => {
    await proxy.stop();
  });

  it.each(
    (['answer', 'request', 'confirmation'] as const).flatMap((of) =>
      (['events', 'deliveries', 'orders'] as const).map((collection) => ({ of, collection })),
    ),
  )('loses and doubles nothing: $of lost when it writes $collection', async ({ of, collection }) => {
    const { databaseName } = harness.database;
    const lossy = await openDatabase(proxy.uri, databaseName);
    const engine = harness.createEngine({ on: lossy });
    const eventId = await harness.placeOrder();
    const lost = proxy.lose({ of, collection });
    await engine.relay.relayNow('orders', await harness.holderOf(eventId));
    await lost;
    await expectRelayedOnce(eventId);
    await lossy.close();
  });

  it.each(['events', 'deliveries', 'orders'] as const)(
    'continues after a crash before it wrote %s',
    async (collection) => {
      const { databaseName } = harness.database;
      const dyingProxy = await LossyProxy.start(testDatabaseUri());
      const lossy = await openDatabase(dyingProxy.uri, databaseName);
      const eventId = await harness.placeOrder();
      const holder = await harness.holderOf(eventId);
      void dyingProxy.lose({ of: 'request', collection, times: 1_000 });
      const relaying = harness.createEngine({ on: lossy }).relay.relayNow('orders', holder);
      await Promise.all([
        expect(relaying).rejects.toMatchObject({ type: 'database-unavailable' }),
        new Promise((resolve) => setTimeout(resolve, 200)).then(() => lossy.close()),
      ]);
      await dyingProxy.stop();
      expect(await harness.waitingEvents()).toBe(1);
      await harness.createEngine().relay.relayNow('orders', holder);
      await expectRelayedOnce(eventId);
    },
  );
});
