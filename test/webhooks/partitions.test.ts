import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { randomUUID } from 'node:crypto';
import { withWindowedPages } from '../../src/storage/db/windowed-pages.ts';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import { newDelivery } from '../../src/webhooks/deliveries/delivery.ts';
import { createDeliveryStore } from '../../src/webhooks/deliveries/delivery-store.ts';
import { Agenda } from '../../src/webhooks/lanes/agenda.ts';
import { createHealthStore, type HealthStore } from '../../src/webhooks/lanes/health-store.ts';
import { createLayoutStore, type LayoutStore } from '../../src/webhooks/partitions/layout-store.ts';
import { partitionOf } from '../../src/webhooks/partitions/partition.ts';
import type { Webhooks } from '../../src/webhooks/webhooks.ts';
import { openDatabase } from '../support/database.ts';
import { countMatchedDocuments } from '../support/matched-documents.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import {
  hastyTiming,
  quickTiming,
  settableClock,
  startHarness,
  takeoverTiming,
  type Harness,
} from './webhooks-harness.ts';
import { until } from '../support/until.ts';

let harness: Harness;
let layout: LayoutStore;
let health: HealthStore;
let receiver: Receiver;

beforeAll(async () => {
  harness = await startHarness();
  layout = createLayoutStore(harness.database);
  health = createHealthStore(harness.database);
});
afterAll(async () => {
  await harness.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await harness.stopEngines();
  await harness.removeIntegrations();
  await receiver.close();
});

const receivedIds = (): string[] => receiver.requests.map(({ headers }) => String(headers['webhook-id']));

describe('the layout', () => {
  it('gives a partition to one of many takers, with a larger token each time', async () => {
    const members = ['x', 'y', 'z'];
    await layout.read();
    for (const member of members) await layout.join(member);
    for (const taken of [1, 2]) {
      const seen = await layout.read();
      const take = (member: string): Promise<boolean> =>
        layout.change(seen, { raised: member, holders: seen.holders.map(() => member) });
      const outcomes = await Promise.all(members.map(take));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const after = await layout.read();
      const winner = after.holders[0] ?? '';
      expect(members[outcomes.indexOf(true)]).toBe(winner);
      expect([after.token, after.members.get(winner)?.token]).toEqual([2 ** 32 + taken, 2 ** 32 + taken]);
    }
    const seen = await layout.read();
    await layout.change(seen, { holders: seen.holders.map(() => undefined) });
  });

  it('shows who lives, and keeps a member that beats while it is removed', async () => {
    expect(await layout.beat('x')).toBe(true);
    const seen = await layout.read();
    const removed = { member: 'x', beat: seen.members.get('x')?.beat ?? 0 };
    await layout.beat('x');
    expect(await layout.change(seen, { removed })).toBe(false);
    for (const member of ['x', 'y', 'z'])
      expect(await layout.change(await layout.read(), { removed: { member } })).toBe(true);
    expect(await layout.beat('x')).toBe(false);
    expect((await layout.read()).members.size).toBe(0);
  });
});

/** The same database, with an action before each command with many writes to a collection. */
function beforeWrites(database: PagedDatabase, collection: string, act: () => Promise<void>): PagedDatabase {
  const db = new Proxy(database.db, {
    get(target, member: keyof Db) {
      if (member !== 'collection') return target[member];
      return (name: string) => {
        const whole = target.collection(name);
        if (name !== collection) return whole;
        const { bulkWrite } = whole;
        return Object.assign(whole, {
          async bulkWrite(...parameters: Parameters<typeof bulkWrite>) {
            await act();
            return bulkWrite.apply(whole, parameters);
          },
        });
      };
    },
  });
  return { ...database, db };
}

describe('the times of the last attempt and the last success', () => {
  it('are stored, by far fewer writes than there are attempts', async () => {
    const id = await harness.addIntegration({ url: receiver.url, status: 'paused' });
    let writes = 0;
    const on = beforeWrites(harness.database, 'lanes', () => {
      writes += 1;
      return Promise.resolve();
    });
    const engine = harness.createEngine({ on });
    for (let each = 0; each < 100; each += 1) {
      await engine.relay.relayNow('orders', await harness.holderOf(await harness.placeOrder()));
    }
    await harness.edit(id, (integration) => ({ ...integration, status: 'active' }));
    engine.start();
    await harness.settled(id, 100);
    await engine.stop(1_000);
    const { activity } = (await health.find([id])).get(id) ?? {};
    expect(activity?.lastAttemptAt).toEqual(expect.any(Date));
    expect(activity?.lastSuccessAt).toEqual(activity?.lastAttemptAt);
    expect(writes).toBeGreaterThan(0);
    expect(writes).toBeLessThan(50);
  });
});

describe('fencing', () => {
  const stampOf = async (eventId: string): Promise<number> => {
    const found = await harness.database.db.collection('deliveries').findOne({ event_id: eventId });
    return Number(found?.['stamp']);
  };

  it('a failure is settled only by the latest holder, a success by any', async () => {
    const id = await harness.addIntegration({ url: receiver.url, status: 'paused' });
    const engine = harness.createEngine();
    const eventId = await harness.placeOrder();
    await engine.relay.relayNow('orders', await harness.holderOf(eventId));
    const delivery = await harness.delivery(eventId, id);
    const deliveryId = delivery?.id ?? '';
    const { deliveries } = harness;

    expect([...(await deliveries.stamp([deliveryId], 10))]).toEqual([deliveryId]);
    expect([...(await deliveries.stamp([deliveryId], 20))]).toEqual([deliveryId]);
    expect([...(await deliveries.stamp([deliveryId], 15))]).toEqual([]);
    expect(await stampOf(eventId)).toBe(20);

    const nextAttemptAt = new Date(Date.now() + 60_000);
    const failure = { deliveryId, failuresBefore: 0, nextAttemptAt, outcome: '5xx' } as const;
    await deliveries.settleFailed([{ ...failure, stamp: 10 }], new Date(), new Date());
    expect(await harness.delivery(eventId, id)).toMatchObject({ status: 'pending', attemptCount: 2, failures: 0 });
    await deliveries.settleFailed([{ ...failure, stamp: 20 }], new Date(), new Date());
    await deliveries.settleFailed([{ ...failure, stamp: 20 }], new Date(), new Date());
    expect(await harness.delivery(eventId, id)).toMatchObject({ status: 'pending', failures: 1, nextAttemptAt });

    await deliveries.settleDelivered([deliveryId], new Date(), new Date(Date.now() + 60_000));
    await deliveries.settleFailed([{ ...failure, stamp: 20, failuresBefore: 1 }], new Date(), new Date());
    expect(await harness.delivery(eventId, id)).toMatchObject({ status: 'delivered', failures: 1 });
    expect([...(await deliveries.stamp([deliveryId], 30))]).toEqual([]);
  });
});

describe('several engines', () => {
  it('send every event once in normal operation, with clocks a minute apart', async () => {
    const ahead = settableClock();
    ahead.skew(60_000);
    const behind = settableClock();
    behind.skew(-60_000);
    const engines = [ahead, behind].map((clock) => harness.createEngine({ clock }));
    for (const engine of engines) engine.start();
    const ids = await Promise.all([1, 2, 3].map(() => harness.addIntegration({ url: receiver.url })));
    const events: string[] = [];
    for (let each = 0; each < 60; each += 1) {
      events.push(await harness.placeOrder(engines[each % 2], { createdAt: (each % 4 < 2 ? ahead : behind).now() }));
    }
    await Promise.all(ids.map((id) => harness.settled(id, 60)));
    expect(receivedIds().sort()).toEqual([...events, ...events, ...events].sort());
    await Promise.all(engines.map((engine) => engine.stop(1_000)));
  });

  it('take over immediately from one that stops normally', async () => {
    receiver.always({ kind: 'answer', delay: 200 });
    const [first, second] = [1, 2].map(() => harness.createEngine()) as [Webhooks, Webhooks];
    const id = await harness.addIntegration({ url: receiver.url });
    first.start();
    await harness.placeOrder(first);
    await receiver.received(1);
    const stopping = first.stop(5_000);
    await harness.placeOrder();
    await stopping;
    expect((await layout.read()).holders[partitionOf(id)]).toBeUndefined();
    second.start();
    await harness.settled(id, 2);
    expect(receiver.requests).toHaveLength(2);
    await second.stop(1_000);
  });

  it('repeat the attempts that one cuts off when it stops, and do not count them as failures', async () => {
    receiver.always({ kind: 'hang' });
    const [first, second] = [harness.createEngine(), harness.createEngine()];
    const id = await harness.addIntegration({ url: receiver.url });
    first.start();
    const eventId = await harness.placeOrder(first);
    await receiver.received(1);
    await first.stop(50);
    receiver.always({ kind: 'answer' });
    second.start();
    await harness.settled(id, 1);
    expect(await harness.delivery(eventId, id)).toMatchObject({ attemptCount: 2, failures: 0 });
    await second.stop(1_000);
  });

  it('take over from one that lost its database, and lose nothing', async () => {
    receiver.always({ kind: 'answer', delay: 300 });
    const { uri, databaseName } = harness.database;
    const own = await openDatabase(uri, databaseName);
    const [first, second] = [
      harness.createEngine({ on: own, timing: takeoverTiming }),
      harness.createEngine({ timing: takeoverTiming }),
    ];
    const id = await harness.addIntegration({ url: receiver.url });
    first.start();
    const events = await Promise.all([1, 2, 3].map(() => harness.placeOrder(first)));
    await receiver.received(3);
    await own.close();
    second.start();
    await harness.settled(id, 3);
    expect(new Set(receivedIds())).toEqual(new Set(events));
    await Promise.all([first.stop(0), second.stop(1_000)]);
  });
});

describe('a receiver that hangs, with thousands of waiting deliveries', () => {
  it('does not make any command read them while others get theirs', async () => {
    const narrow = harness.database.pages.readsInOrder ? withWindowedPages(harness.database) : harness.database;
    const counted = countMatchedDocuments(narrow);
    receiver.always({ kind: 'hang' });
    const hanging = await harness.addIntegration({ url: receiver.url, eventTypes: ['PRODUCT_UPDATED'] });
    const event = { eventType: 'ORDER_PLACED', targetId: randomUUID(), eventCreatedAt: new Date() } as const;
    for (let each = 0; each < 2_000; each += 500) {
      const added = Array.from({ length: 500 }, () => ({ ...event, eventId: randomUUID(), body: Buffer.from('{}') }));
      const last = Date.now() - each * 1_000;
      const rows = added.map((row, index) => newDelivery({ ...row, integrationId: hanging }, new Date(last - index)));
      await createDeliveryStore(narrow).insertMissing(rows);
    }
    const other = await startReceiver();
    const id = await harness.addIntegration({ url: other.url });
    const webhooks = harness.createEngine({ on: counted.database, timing: hastyTiming });
    webhooks.start();
    await receiver.received(64);
    // The first read of what waits for an integration shows how to divide it.
    await counted.most();
    for (let each = 0; each < 5; each += 1) await harness.placeOrder(webhooks);
    await harness.settled(id, 5);
    // Its breaker opens meanwhile, and its next probe is due.
    await until(async () => (await harness.lane(hanging))?.open !== undefined);
    await webhooks.stop(0);
    const { documents, filter } = await counted.most();
    expect([filter, documents < 1_000 ? 'few' : documents]).toEqual([filter, 'few']);
    await other.close();
  });
});

describe('more waiting deliveries than one read finds', () => {
  it('are all sent, also if an operator makes changes while they are read', async () => {
    const id = await harness.addIntegration({ url: receiver.url });
    const event = { eventType: 'ORDER_PLACED', targetId: randomUUID(), eventCreatedAt: new Date() } as const;
    const added = Array.from({ length: 300 }, () => ({ ...event, eventId: randomUUID(), body: Buffer.from('{}') }));
    const rows = added.map((row) => newDelivery({ ...row, integrationId: id }, new Date()));
    await harness.deliveries.insertMissing(rows);
    const webhooks = harness.createEngine();
    webhooks.start();
    for (let nudges = 0; nudges < 300; nudges += 1) {
      webhooks.engine.nudge(id);
      await sleep(2);
    }
    await harness.settled(id, 300);
    await webhooks.stop(1_000);
  });
});

describe('a later due time', () => {
  it('is kept without a search of the database', async () => {
    const webhooks = harness.createEngine({ timing: { ...quickTiming, search: 3_600_000 } });
    webhooks.start();
    const id = await harness.addIntegration({ url: receiver.url });
    receiver.next({ kind: 'cut' }, { kind: 'cut' });
    await harness.placeOrder(webhooks);
    await harness.settled(id, 1);
    expect(receiver.requests).toHaveLength(3);
  });

  it('of each delivery is found when a partition is taken', async () => {
    const id = await harness.addIntegration({ url: receiver.url });
    const row = {
      eventType: 'ORDER_PLACED',
      integrationId: id,
      targetId: randomUUID(),
      body: Buffer.from('{}'),
    } as const;
    const rows = [0, 1, 2].map(() =>
      newDelivery({ ...row, eventId: randomUUID(), eventCreatedAt: new Date() }, new Date()),
    );
    await harness.deliveries.insertMissing(rows);
    const failure = { stamp: 0, failuresBefore: 0, outcome: '5xx' } as const;
    for (const [index, { id: deliveryId }] of rows.entries()) {
      const nextAttemptAt = new Date(Date.now() + 400 * (index + 1));
      await harness.deliveries.settleFailed([{ ...failure, deliveryId, nextAttemptAt }], new Date(), new Date());
    }
    harness.createEngine({ timing: { ...quickTiming, search: 3_600_000 } }).start();
    await harness.settled(id, 3);
  });

  it('is kept in the order of time', () => {
    const agenda = new Agenda(settableClock(), quickTiming);
    const times = Array.from({ length: 1_000 }, (_, index) => (index * 7_919) % 1_000);
    for (const at of times) agenda.add({ at, integrationId: String(at) });
    expect(agenda.next()).toBe(0);
    expect(agenda.takeDue(-1)).toEqual([]);
    const first = agenda.takeDue(499).map(({ at }) => at);
    expect(first).toEqual(Array.from({ length: 500 }, (_, index) => index));
    expect([agenda.next(), agenda.size]).toEqual([500, 500]);
    expect(agenda.takeDue(10_000)).toHaveLength(500);
    expect([agenda.next(), agenda.size]).toEqual([undefined, 0]);
  });
});
