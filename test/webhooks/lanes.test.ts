import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Db } from 'mongodb';
import type { PagedDatabase } from '../../src/db/pages.ts';
import { createDueTimes } from '../../src/webhooks/lanes/due-times.ts';
import { createLaneStore, type LaneStore } from '../../src/webhooks/lanes/lane-store.ts';
import type { Webhooks } from '../../src/webhooks/webhooks.ts';
import { openDatabase } from '../support/database.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { quickTiming, settableClock, startHarness, takeoverTiming, type Harness } from './webhooks-harness.ts';
import { until } from '../support/until.ts';

let harness: Harness;
let lanes: LaneStore;
let receiver: Receiver;

beforeAll(async () => {
  harness = await startHarness();
  lanes = createLaneStore(harness.database);
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

describe('the lane store', () => {
  it('gives a lane to one of many takers, with a larger token each time', async () => {
    const seen = (await lanes.find(['a'])).get('a');
    const first = await Promise.all(['x', 'y', 'z'].map((holder) => lanes.acquire('a', seen, holder)));
    const [winner] = first.filter((lane) => lane !== undefined);
    expect(first.filter((lane) => lane !== undefined)).toHaveLength(1);
    const again = await Promise.all(['x', 'y', 'z'].map((holder) => lanes.acquire('a', winner, holder)));
    expect(again.filter((lane) => lane !== undefined)).toMatchObject([{ token: 2 }]);
  });

  it('renews a lane only for its holder, and ignores a release by a former holder', async () => {
    const first = await lanes.acquire('b', undefined, 'x');
    const second = await lanes.acquire('b', first, 'y');
    expect([...(await lanes.renew(['b'], 'x'))]).toEqual([]);
    expect([...(await lanes.renew(['b'], 'y'))]).toEqual(['b']);
    await lanes.release('b', first?.token ?? 0);
    expect((await lanes.find(['b'])).get('b')).toMatchObject({ holder: 'y', token: 2, beat: (second?.beat ?? 0) + 1 });
    await lanes.release('b', second?.token ?? 0);
    expect((await lanes.find(['b'])).get('b')?.holder).toBeUndefined();
  });
});

/** The same database, with an action before each update of a single document in a collection. */
function beforeUpdates(database: PagedDatabase, collection: string, act: () => Promise<void>): PagedDatabase {
  const db = new Proxy(database.db, {
    get(target, member: keyof Db) {
      if (member !== 'collection') return target[member];
      return (name: string) => {
        const whole = target.collection(name);
        if (name !== collection) return whole;
        const { updateOne } = whole;
        return Object.assign(whole, {
          async updateOne(...parameters: Parameters<typeof updateOne>) {
            await act();
            return updateOne.apply(whole, parameters);
          },
        });
      };
    },
  });
  return { ...database, db };
}

describe('the times of the last attempt and the last success', () => {
  it('are stored with the lane, by far fewer writes than there are attempts', async () => {
    const id = await harness.addIntegration({ url: receiver.url, status: 'paused' });
    let writes = 0;
    const on = beforeUpdates(harness.database, 'lanes', () => {
      writes += 1;
      return Promise.resolve();
    });
    const engine = harness.createEngine({ on, timing: { ...quickTiming, renewal: 5_000 } });
    for (let each = 0; each < 100; each += 1) {
      await engine.relay.relayNow('orders', await harness.holderOf(await harness.placeOrder()));
    }
    await harness.edit(id, (integration) => ({ ...integration, status: 'active' }));
    engine.start();
    await harness.settled(id, 100);
    const { activity } = await until(
      async () => (await lanes.find([id])).get(id) ?? { activity: undefined, holder: 'nobody yet' },
      ({ holder }) => holder === undefined,
    );
    expect(activity?.lastAttemptAt).toEqual(expect.any(Date));
    expect(activity?.lastSuccessAt).toEqual(activity?.lastAttemptAt);
    expect(writes).toBeLessThan(50);
  });

  it('outlast a change of the settings, and a lane that moves to another process', async () => {
    const first = await lanes.acquire('c', undefined, 'x');
    const activity = {
      lastAttemptAt: new Date('2026-03-01T12:00:05Z'),
      lastSuccessAt: new Date('2026-03-01T12:00:00Z'),
    };
    await lanes.release('c', first?.token ?? 0, { health: undefined, activity });
    const second = await lanes.acquire('c', (await lanes.find(['c'])).get('c'), 'y');
    expect(second?.activity).toEqual(activity);
    await lanes.release('c', second?.token ?? 0);
    expect((await lanes.find(['c'])).get('c')?.activity).toEqual(activity);
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

  it('send every event once if two reasons to take a lane meet in one process', async () => {
    receiver.always({ kind: 'answer', delay: 800 });
    const id = await harness.addIntegration({ url: receiver.url });
    const others = await lanes.acquire(id, undefined, 'another process');
    let meet: (() => Promise<void>) | undefined;
    const engine = harness.createEngine({
      on: beforeUpdates(harness.database, 'lanes', async () => {
        const first = meet;
        meet = undefined;
        await first?.();
      }),
    });
    const events = await Promise.all([1, 2, 3].map(() => harness.placeOrder(engine)));
    // It has seen that another process holds the lane, and is about to look again.
    await sleep(150);
    meet = async () => {
      engine.engine.nudge(id);
      await sleep(400);
    };
    await lanes.release(id, others?.token ?? 0);
    await harness.settled(id, 3);
    expect(receivedIds().sort()).toEqual([...events].sort());
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
    expect((await lanes.find([id])).get(id)?.holder).toBeUndefined();
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

describe('a later due time', () => {
  it('is remembered without a round through all integrations', async () => {
    const integrations = { ...harness.directory, activeIds: () => Promise.resolve([]) };
    const webhooks = harness.createEngine({ integrations });
    webhooks.start();
    const id = await harness.addIntegration({ url: receiver.url });
    receiver.next({ kind: 'cut' }, { kind: 'cut' });
    await harness.placeOrder(webhooks);
    await harness.settled(id, 1);
    expect(receiver.requests).toHaveLength(3);
  });

  it('is reported once, at its second', () => {
    const times = createDueTimes();
    const at = (milliseconds: number): Date => new Date(1_000_000 + milliseconds);
    times.add('a', at(1));
    times.add('a', at(900));
    times.add('b', at(2_000));
    expect(times.takeDue(at(999))).toEqual(new Set());
    expect(times.takeDue(at(1_000))).toEqual(new Set(['a']));
    expect(times.takeDue(at(5_000))).toEqual(new Set(['b']));
    expect(times.takeDue(at(9_000))).toEqual(new Set());
  });
});
