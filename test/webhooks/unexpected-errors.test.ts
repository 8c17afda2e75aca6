import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { deliveryId } from '../../src/webhooks/deliveries/delivery.ts';
import { outboxCollections } from '../../src/webhooks/events/outbox.ts';
import { silentObserver, type WebhookLog, type WebhookObserver } from '../../src/webhooks/observer.ts';
import type { WebhookTiming } from '../../src/webhooks/timing.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { refusing, type Command } from '../support/refusing-database.ts';
import { until } from '../support/until.ts';
import { quickTiming, startHarness, type Harness } from './webhooks-harness.ts';

let harness: Harness;
let receiver: Receiver;
/** What the engines say with the level `error`. */
let errors: Record<string, unknown>[];

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());
beforeEach(async () => {
  receiver = await startReceiver();
  errors = [];
});
afterEach(async () => {
  await harness.stopEngines();
  await harness.removeIntegrations();
  await receiver.close();
});

const log: WebhookLog = {
  info: () => undefined,
  warn: () => undefined,
  error: (fields) => void errors.push(fields),
};
const fails = (): never => {
  throw new TypeError('a mistake in the program');
};
/** Events that are placed one after the other arrive later than what would be repeated at once. */
async function afterOthers(webhooks: ReturnType<Harness['createEngine']>, id: string, count: number): Promise<void> {
  for (let each = 0; each < 5; each += 1) {
    const next = await harness.placeOrder(webhooks);
    await until(
      () => harness.delivery(next, id),
      (delivery) => delivery?.status === 'delivered',
    );
  }
  expect(receiver.requests.length).toBe(count + 5);
}

describe('a mistake while the answer of a receiver is counted', () => {
  const observers: Partial<WebhookObserver>[] = [{ attempted: fails }, { finished: fails }];
  it.each(observers)('neither repeats the request nor loses the answer: %o', async (observer) => {
    const webhooks = harness.createEngine({ log, observer: { ...silentObserver, ...observer } });
    webhooks.start();
    const id = await harness.addIntegration({ url: receiver.url });
    const event = await harness.placeOrder(webhooks);
    await harness.settled(id, 1);
    expect(await harness.delivery(event, id)).toMatchObject({ status: 'delivered', attemptCount: 1 });
    await afterOthers(webhooks, id, 1);
    const ids = { integration_id: id, delivery_id: deliveryId({ eventId: event, integrationId: id }) };
    expect(errors).toContainEqual({ ...ids, error: expect.any(TypeError) });
  });

  it('keeps the schedule of a failure', async () => {
    const observer = { ...silentObserver, attempted: fails, breakerOpened: fails };
    const webhooks = harness.createEngine({ log, observer });
    webhooks.start();
    receiver.always({ kind: 'answer', status: 500 });
    const id = await harness.addIntegration({ url: receiver.url });
    const event = await harness.placeOrder(webhooks);
    await harness.settled(id, 1, 'failed');
    // An attempt that began while the database did not answer in time is counted, and not made.
    expect(await harness.delivery(event, id)).toMatchObject({ failures: 4 });
    expect(receiver.requests).toHaveLength(4);
  });
});

describe('a stored delivery that cannot be read', () => {
  it('is logged with its ids, and keeps no other from its receiver', async () => {
    const webhooks = harness.createEngine({ log });
    webhooks.start();
    const id = await harness.addIntegration({ url: receiver.url, status: 'paused' });
    await harness.placeOrders([{}, {}, {}]);
    await harness.settled(id, 3, 'pending');
    const stored = harness.database.db.collection<{ _id: string }>('deliveries');
    const [{ _id } = { _id: '' }] = await stored.find({ lane: id }).toArray();
    await stored.updateOne({ _id }, { $unset: { body: '' }, $set: { next_attempt_at: new Date(0) } });
    await harness.edit(id, (integration) => ({ ...integration, status: 'active' }));
    webhooks.engine.nudge(id);
    await harness.settled(id, 2);
    await afterOthers(webhooks, id, 2);
    expect(errors).toEqual([{ integration_id: id, delivery_id: _id, error: expect.any(TypeError) }]);
    await stored.deleteOne({ _id });
  });
});

describe('a command that the database refuses', () => {
  /** The id of the event that the commands are about. */
  let poison: string;
  const start = (
    refuses: (command: Command) => boolean,
    timing: WebhookTiming = quickTiming,
  ): ReturnType<Harness['createEngine']> => {
    poison = 'not placed yet';
    const on = refusing(harness.database, refuses);
    const webhooks = harness.createEngine({ log, on, timing });
    webhooks.start();
    return webhooks;
  };

  it('sets one delivery aside after one request, and keeps no other from its receiver', async () => {
    let unsettled = 'none';
    const webhooks = start(
      ({ collection, text }) => collection === 'deliveries' && text.includes(unsettled) && text.includes('"delivered"'),
    );
    const id = await harness.addIntegration({ url: receiver.url });
    const events = await harness.placeOrders([{}, {}, {}]);
    const [first = ''] = events;
    unsettled = deliveryId({ eventId: first, integrationId: id });
    await harness.settled(id, 2);
    await afterOthers(webhooks, id, 3);
    expect(await harness.delivery(first, id)).toMatchObject({ status: 'pending', attemptCount: 1 });
    expect(errors).toContainEqual({ integration_id: id, delivery_id: unsettled, error: expect.any(TypeError) });
    // An operator has changed something.
    unsettled = 'none';
    webhooks.engine.nudge(id);
    await harness.settled(id, 8);
    expect(receiver.requests).toHaveLength(9);
  });

  it('is repeated after a time, without an operator', async () => {
    let isRefused = true;
    const isSettling = ({ collection, text }: Command): boolean =>
      collection === 'deliveries' && text.includes('"delivered"');
    start((command) => isRefused && isSettling(command), { ...quickTiming, search: 500 });
    const id = await harness.addIntegration({ url: receiver.url });
    const [event = ''] = await harness.placeOrders([{}]);
    await until(() => receiver.requests.length >= 2);
    isRefused = false;
    await harness.settled(id, 1);
    expect(await harness.delivery(event, id)).toMatchObject({ status: 'delivered' });
  });

  it('for the deliveries of an integration is repeated after a time, while new ones are sent', async () => {
    let isRefused = false;
    const reads = ({ collection, method }: Command): boolean => collection === 'deliveries' && method === 'find';
    const webhooks = start((command) => isRefused && reads(command), { ...quickTiming, search: 3_600_000 });
    const id = await harness.addIntegration({ url: receiver.url, status: 'paused' });
    await harness.placeOrders([{}, {}]);
    await harness.settled(id, 2, 'pending');
    isRefused = true;
    await harness.edit(id, (integration) => ({ ...integration, status: 'active' }));
    webhooks.engine.nudge(id);
    await until(() => errors.some(({ source }) => source === 'deliveries'));
    await harness.placeOrder(webhooks);
    await until(() => receiver.requests.length === 1);
    isRefused = false;
    await harness.settled(id, 3);
    // Its pauses grow.
    expect(errors.length).toBeLessThan(20);
  });

  it('keeps no other event in an outbox, and is repeated after a time', async () => {
    const refuses = ({ collection, text }: Command): boolean => collection === 'events' && text.includes(poison);
    const webhooks = start(refuses, { ...quickTiming, search: 1_000 });
    const id = await harness.addIntegration({ url: receiver.url });
    [poison = ''] = await harness.placeOrders([{}, {}, {}]);
    await harness.settled(id, 2);
    await afterOthers(webhooks, id, 2);
    expect(await harness.waitingEvents()).toBe(1);
    const document = await harness.holderOf(poison);
    expect(errors).toEqual([{ collection: 'orders', document_id: document, error: expect.any(TypeError) }]);
    poison = 'none';
    await harness.settled(id, 8);
    expect(errors).toHaveLength(1);
  });

  it.each(outboxCollections.filter((name) => name !== 'orders'))(
    'keeps no event from its integration, if it reads the outboxes of %s',
    async (name) => {
      start(({ collection, method }) => collection === name && method === 'find');
      const id = await harness.addIntegration({ url: receiver.url });
      await harness.placeOrders([{}, {}]);
      await harness.settled(id, 2);
    },
  );
});
