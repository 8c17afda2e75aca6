import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { deliveryId } from '../../src/webhooks/deliveries/delivery.ts';
import type { Webhooks } from '../../src/webhooks/webhooks.ts';
import { databaseUnavailable } from '../../src/storage/db/database-errors.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { quickTiming, settableClock, startHarness, type Harness } from './webhooks-harness.ts';
import { refusing, type Command } from '../support/refusing-database.ts';
import { until } from '../support/until.ts';
import { readList } from '../support/read-list.ts';
import { sampleEvent } from '../../src/webhooks/events/samples.ts';
import { someEntry } from '../support/author.ts';

let harness: Harness;
let webhooks: Webhooks;
let receiver: Receiver;

beforeAll(async () => {
  harness = await startHarness();
  webhooks = harness.createEngine();
  webhooks.start();
});
afterAll(async () => {
  await harness.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await harness.removeIntegrations();
  await receiver.close();
});

const receivedIds = (): string[] => receiver.requests.map(({ headers }) => String(headers['webhook-id'])).sort();
/** What an engine does not find at once, it finds much later. */
const seldomSearching = { ...quickTiming, search: 3_600_000 };
const types = ['ORDER_PLACED'] as const;

/** Places orders with events of one day in 2025, three in each second. */
async function placeOrders(count: number, day: string): Promise<string[]> {
  const first = new Date(`${day}T00:00:00.000Z`).getTime();
  const times = Array.from({ length: count }, (_, each) => new Date(first + Math.floor(each / 3) * 1_000));
  const events = await harness.placeOrders(times.map((createdAt) => ({ createdAt })));
  await until(async () => (await harness.waitingEvents()) === 0);
  return events.sort();
}

/** On a busy machine an attempt can time out and be repeated. But only an event that failed is sent twice. */
async function expectNoNeedlessAttempts(integrationId: string, count: number): Promise<void> {
  const { items: deliveries } = await readList(harness.deliveries.list({ integrationId }));
  const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
  expect(deliveries).toHaveLength(count);
  expect(sum(deliveries.map(({ attemptCount }) => attemptCount))).toBe(
    count + sum(deliveries.map(({ failures }) => failures)),
  );
}

const daySpan = (day: string): { since: Date; until: Date; types: typeof types } => ({
  since: new Date(`${day}T00:00:00.000Z`),
  until: new Date(`${day}T23:59:59.999Z`),
  types,
});

describe('a replay of a span', () => {
  it('sends all its events to a new integration, page by page, and no others', async () => {
    const events = await placeOrders(450, '2025-03-01');
    await placeOrders(3, '2025-03-02');
    const id = await harness.addIntegration({ url: receiver.url });
    const replayId = randomUUID();
    const replay = await webhooks.replays.beginSpan({ id: replayId, integrationId: id, ...daySpan('2025-03-01') });
    expect(replay).toMatchObject({ status: 'running', deliveries: 0 });
    await harness.settled(id, 450);
    await until(async () => (await webhooks.replays.find(replayId))?.status === 'done');
    expect(await webhooks.replays.find(replayId)).toMatchObject({ deliveries: 450 });
    expect([...new Set(receivedIds())].sort()).toEqual(events);
    await expectNoNeedlessAttempts(id, 450);
  });

  it.each([
    ['an outage of the database', '2025-03-10', databaseUnavailable(new Error('no answer'))],
    ['an unexpected error', '2025-03-09', new TypeError('a mistake in the program')],
  ])('continues after %s, without a new search', async (_what, day, error) => {
    const events = await placeOrders(3, day);
    const id = await harness.addIntegration({ url: receiver.url });
    await webhooks.stop(1_000);
    let mustFail = false;
    const { directory } = harness;
    const find: typeof directory.find = async (ids) => {
      if (!mustFail) return await directory.find(ids);
      mustFail = false;
      throw error;
    };
    webhooks = harness.createEngine({ integrations: { ...directory, find }, timing: seldomSearching });
    webhooks.start();
    const first = await harness.placeOrder(webhooks);
    await harness.settled(id, 1);
    mustFail = true;
    const replayId = randomUUID();
    await webhooks.replays.beginSpan({ id: replayId, integrationId: id, ...daySpan(day) });
    await until(async () => (await webhooks.replays.find(replayId))?.status === 'done');
    await harness.settled(id, 1 + events.length);
    expect([mustFail, receivedIds()]).toEqual([false, [first, ...events].sort()]);
  });

  it('that fails keeps no other from its end, and continues when it can', async () => {
    await placeOrders(3, '2025-03-11');
    const id = await harness.addIntegration({ url: receiver.url });
    await webhooks.stop(1_000);
    const [poisoned, sound] = [randomUUID(), randomUUID()];
    let isRefused = true;
    const refuses = ({ collection, method, text }: Command): boolean =>
      isRefused && collection === 'replays' && method === 'updateOne' && text.includes(poisoned);
    webhooks = harness.createEngine({ on: refusing(harness.database, refuses), timing: seldomSearching });
    webhooks.start();
    for (const replayId of [poisoned, sound]) {
      await webhooks.replays.beginSpan({ id: replayId, integrationId: id, ...daySpan('2025-03-11') });
    }
    await until(async () => (await webhooks.replays.find(sound))?.status === 'done');
    expect(await webhooks.replays.find(poisoned)).toMatchObject({ status: 'running' });
    // Nothing else waits for it, either.
    await harness.placeOrder(webhooks);
    await harness.settled(id, 7);
    isRefused = false;
    await until(async () => (await webhooks.replays.find(poisoned))?.status === 'done');
  });

  it('sends only the events of the locations of the new integration', async () => {
    const locationId = '9d0f4f5f-6f0e-4a53-8e6a-3e0f9c114a6e';
    const createdAt = new Date('2025-03-20T12:00:00.000Z');
    await placeOrders(3, '2025-03-20');
    const wanted = await harness.placeOrder(webhooks, { createdAt, locationId });
    await until(async () => (await harness.waitingEvents()) === 0);
    const id = await harness.addIntegration({ url: receiver.url, locationIds: [locationId] });
    const replayId = randomUUID();
    await webhooks.replays.beginSpan({ id: replayId, integrationId: id, ...daySpan('2025-03-20') });
    await until(async () => (await webhooks.replays.find(replayId))?.status === 'done');
    await harness.settled(id, 1, 'delivered');
    expect(receivedIds()).toEqual([wanted]);
    expect(await webhooks.replays.find(replayId)).toMatchObject({ deliveries: 1 });
  });

  it('sends only the events that match the present filter of the integration', async () => {
    const createdAt = new Date('2025-03-22T12:00:00.000Z');
    const data = { itemNames: [], itemTags: [], currency: 'EUR' };
    const [, large = '', larger = ''] = await harness.placeOrders(
      [9, 10, 11].map((total) => ({ createdAt, data: { ...data, total } })),
    );
    await until(async () => (await harness.waitingEvents()) === 0);
    const id = await harness.addIntegration({ url: receiver.url, filter: { 'data.total': 9 } });
    await harness.edit(id, (integration) => ({ ...integration, filter: { 'data.total': { $gte: 10 } } }));
    const replayId = randomUUID();
    await webhooks.replays.beginSpan({ id: replayId, integrationId: id, ...daySpan('2025-03-22') });
    await until(async () => (await webhooks.replays.find(replayId))?.status === 'done');
    await harness.settled(id, 2, 'delivered');
    expect(receivedIds()).toEqual([large, larger].sort());
    expect(await webhooks.replays.find(replayId)).toMatchObject({ deliveries: 2 });
  });

  it('sends only what failed or expired and was not made up for, if this is asked for', async () => {
    const id = await harness.addIntegration({ url: receiver.url });
    const [first = '', second = '', third = ''] = await placeOrders(4, '2025-03-25');
    await harness.settled(id, 4, 'delivered');
    receiver.forget();
    const idOf = (eventId: string, replayId?: string): string => deliveryId({ eventId, integrationId: id, replayId });
    const collection = harness.database.db.collection<{ _id: string }>('deliveries');
    const end = (ids: readonly string[], status: string) =>
      collection.updateMany({ _id: { $in: [...ids] } }, { $set: { status } });
    await end([idOf(first), idOf(second)], 'failed');
    await end([idOf(third)], 'expired');
    const sendFailed = async (): Promise<string> => {
      const replayId = randomUUID();
      const span = daySpan('2025-03-25');
      await webhooks.replays.beginSpan({ id: replayId, integrationId: id, ...span, only: 'failed' });
      await until(async () => (await webhooks.replays.find(replayId))?.status === 'done');
      return replayId;
    };
    const replayId = await sendFailed();
    await until(() => receiver.requests.length === 3);
    expect(receivedIds()).toEqual([first, second, third].sort());
    // One of these replays fails too. The others have made up for the first deliveries.
    await until(
      async () => (await collection.countDocuments({ _id: idOf(first, replayId), status: 'delivered' })) === 1,
    );
    await end([idOf(first, replayId)], 'failed');
    expect(await webhooks.replays.find(await sendFailed())).toMatchObject({ deliveries: 1 });
    await until(() => receiver.requests.length === 4);
    expect(await webhooks.replays.find(await sendFailed())).toMatchObject({ deliveries: 0 });
  });

  it('is created once under one id', async () => {
    await placeOrders(2, '2025-04-01');
    const id = await harness.addIntegration({ url: receiver.url });
    const request = { id: randomUUID(), integrationId: id, ...daySpan('2025-04-01') };
    await Promise.all([webhooks.replays.beginSpan(request), webhooks.replays.beginSpan(request)]);
    await harness.settled(id, 2);
    await webhooks.replays.beginSpan(request);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(receiver.requests).toHaveLength(2);
  });

  it('continues in another process where the first one stopped', async () => {
    await placeOrders(300, '2025-05-01');
    const id = await harness.addIntegration({ url: receiver.url, status: 'paused' });
    await webhooks.replays.beginSpan({ id: randomUUID(), integrationId: id, ...daySpan('2025-05-01') });
    await webhooks.stop(1_000);
    await harness.edit(id, (integration) => ({ ...integration, status: 'active' }));
    webhooks = harness.createEngine();
    webhooks.start();
    await harness.settled(id, 300);
    expect(new Set(receivedIds()).size).toBe(300);
  });
});

describe('a resend', () => {
  it('sends the same event and bytes in a new delivery, once for each id', async () => {
    const id = await harness.addIntegration({ url: receiver.url });
    const eventId = await harness.placeOrder(webhooks);
    await harness.settled(id, 1);
    const original = await harness.delivery(eventId, id);
    const replayId = randomUUID();
    const resent = await webhooks.deliveries.resend(original?.id ?? '', replayId, false);
    expect(resent).toMatchObject({ eventId, integrationId: id, replayId, eventType: 'ORDER_PLACED' });
    expect(resent.id).not.toBe(original?.id);
    await harness.settled(id, 2);
    expect((await webhooks.deliveries.resend(original?.id ?? '', replayId, false)).id).toBe(resent.id);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const [first, second, ...more] = receiver.requests;
    expect(more).toEqual([]);
    expect(second?.headers['webhook-id']).toBe(eventId);
    expect(second?.body).toEqual(first?.body);
  });

  it('of an unknown delivery is a problem', async () => {
    await expect(webhooks.deliveries.resend(randomUUID(), randomUUID(), false)).rejects.toMatchObject({
      type: 'delivery-not-found',
    });
    await expect(webhooks.deliveries.attempts(randomUUID())).rejects.toMatchObject({ type: 'delivery-not-found' });
  });
});

describe('a test event', () => {
  it('goes to one integration, once for each id, whatever its subscriptions', async () => {
    const id = await harness.addIntegration({ url: receiver.url });
    await harness.addIntegration({ url: receiver.url });
    const eventId = randomUUID();
    const [delivery, again] = await Promise.all([
      webhooks.deliveries.sendTest(id, sampleEvent('TEST', { id, locationIds: undefined }), eventId),
      webhooks.deliveries.sendTest(id, sampleEvent('TEST', { id, locationIds: undefined }), eventId),
    ]);
    expect(again.id).toBe(delivery.id);
    await harness.settled(id, 1);
    expect(receiver.requests).toHaveLength(1);
    const [request] = receiver.requests;
    expect(request?.headers).toMatchObject({
      'x-service-event-type': 'TEST',
      'x-service-event-target-uuid': id,
      'webhook-id': eventId,
    });
    expect(JSON.parse(String(request?.body))).toEqual({
      type: 'TEST',
      targetUuid: id,
      targetId: id,
      createdAt: expect.any(String),
      data: {},
      id: eventId,
    });
  });
});

describe('retention', () => {
  it('drops deliveries that were held for thirty days, and no younger ones', async () => {
    const clock = settableClock();
    const engine = harness.createEngine({ clock, timing: quickTiming });
    const id = await harness.addIntegration({ url: receiver.url, status: 'paused' });
    await harness.placeOrder(webhooks);
    await until(async () => (await harness.deliveries.list({ integrationId: id }).total()) === 1);
    clock.skew(30 * 86_400_000 - 60_000);
    await engine.retention.expireHeld();
    expect(await harness.deliveries.list({ integrationId: id, status: 'pending' }).total()).toBe(1);
    clock.skew(120_000);
    await engine.retention.expireHeld();
    expect((await readList(harness.deliveries.list({ integrationId: id }))).items).toMatchObject([
      { status: 'expired' },
    ]);
  });

  it('removes all data of deleted integrations, and nothing of others', async () => {
    const [gone, kept] = [
      await harness.addIntegration({ url: receiver.url }),
      await harness.addIntegration({ url: receiver.url }),
    ];
    const eventId = await harness.placeOrder(webhooks);
    await Promise.all([harness.settled(gone, 1), harness.settled(kept, 1)]);
    const integration = await harness.integration(gone);
    if (integration !== undefined) await harness.integrationStore.remove(integration, someEntry());
    // The sweep finds it when the time of its last attempt is stored.
    await until(async () => {
      await webhooks.retention.sweepDeleted();
      return (await harness.deliveries.list({ integrationId: gone }).total()) === 0;
    });
    expect(await harness.attempts(eventId, gone)).toEqual([]);
    expect(await harness.deliveries.list({ integrationId: kept }).total()).toBe(1);
    expect(await harness.attempts(eventId, kept)).toHaveLength(1);
    expect(await harness.lane(gone)).toBeUndefined();
  });

  it('removes deliveries of a deleted integration that never had an attempt', async () => {
    const id = await harness.addIntegration({ url: receiver.url, status: 'paused' });
    await harness.placeOrder(webhooks);
    await until(async () => (await harness.deliveries.list({ integrationId: id }).total()) === 1);
    await harness.removeIntegrations();
    await webhooks.retention.sweepOrphans();
    expect(await harness.deliveries.list({ integrationId: id }).total()).toBe(0);
  });

  it('removes the deliveries of others if those of one cannot be removed', async () => {
    const ids = [];
    for (let each = 0; each < 4; each += 1) {
      ids.push(await harness.addIntegration({ url: receiver.url, status: 'paused' }));
    }
    // The first one cannot be removed, the third one still exists.
    const [refused = '', second, kept, last] = ids.toSorted();
    const eventId = await harness.placeOrder(webhooks);
    const left = async (): Promise<unknown[]> =>
      Promise.all([refused, second, kept, last].map((id) => harness.deliveries.list({ integrationId: String(id) }).total()));
    await until(left, (counts) => counts.every((count) => count === 1));
    for (const id of [refused, second, last]) {
      const integration = await harness.integration(String(id));
      if (integration !== undefined) await harness.integrationStore.remove(integration, someEntry());
    }
    const names = [refused, deliveryId({ eventId, integrationId: refused })];
    const refuses = ({ collection, method, text }: Command): boolean =>
      collection === 'deliveries' && method === 'deleteMany' && names.some((name) => text.includes(name));
    const engine = harness.createEngine({ on: refusing(harness.database, refuses) });
    await expect(engine.retention.sweepOrphans()).rejects.toThrow(refused);
    expect(await left()).toEqual([1, 0, 1, 0]);
    await webhooks.retention.sweepOrphans();
    expect(await left()).toEqual([0, 0, 1, 0]);
  });
});
