import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createLookUp } from '../../src/base/outbound/look-up.ts';
import { sampleEvent } from '../../src/webhooks/events/samples.ts';
import { toStandardSecret } from '../../src/webhooks/integrations/signing-secret.ts';
import { silentObserver } from '../../src/webhooks/observer.ts';
import type { WebhookTiming } from '../../src/webhooks/timing.ts';
import type { Webhooks } from '../../src/webhooks/webhooks.ts';
import { startReceiver, type Reaction, type Receiver } from '../support/receiver.ts';
import { hastyTiming, quickTiming, settableClock, startHarness, type Harness } from './webhooks-harness.ts';
import { until } from '../support/until.ts';

const secret = 'EXAMPLE-not-a-real-secret-0123456789';
const nextSecret = 'EXAMPLE-not-a-real-secret-9876543210';

const lookUp = createLookUp();

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

/** Replaces the engine by another one with other times. */
async function withEngine(timing: WebhookTiming, work: (engine: Webhooks) => Promise<void>): Promise<void> {
  await webhooks.stop(1_000);
  const engine = harness.createEngine({ timing });
  engine.start();
  await work(engine);
  await engine.stop(1_000);
  webhooks = harness.createEngine();
  webhooks.start();
}

describe('a delivery', () => {
  it('arrives with all headers and valid signatures, and is settled', async () => {
    const id = await harness.addIntegration({ url: receiver.url, secret, headers: { Authorization: 'Bearer abc' } });
    const eventId = await harness.placeOrder(webhooks);
    const [request] = await receiver.received(1);
    await harness.settled(id, 1);

    const payload = JSON.parse(String(request?.body)) as Record<string, unknown>;
    expect(payload).toMatchObject({ type: 'ORDER_PLACED', data: { itemNames: ['Café crème', 'Crêpe'] } });
    expect(request).toMatchObject({ method: 'POST', path: '/hook' });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Service-WebhookAgent/1.2.3',
      'x-service-event-type': 'ORDER_PLACED',
      'x-service-event-target-uuid': payload['targetUuid'],
      'x-service-event-target-id': payload['targetId'],
      'x-service-application-id': id,
      'x-service-signature': createHmac('sha256', secret)
        .update(request?.body ?? '')
        .digest('hex'),
      'webhook-id': eventId,
      authorization: 'Bearer abc',
    });
    expect(new Webhook(toStandardSecret(secret)).verify(request?.body ?? '', { ...request?.headers })).toEqual(payload);

    expect(await harness.waitingEvents()).toBe(0);
    expect(await harness.delivery(eventId, id)).toMatchObject({ status: 'delivered', attemptCount: 1, failures: 0 });
    expect(await harness.attempts(eventId, id)).toMatchObject([{ number: 1, status: 200, error: undefined }]);
  });

  it('is repeated by the schedule, with the same id and bytes and a new time and signature', async () => {
    receiver.next({ kind: 'answer', status: 500, body: 'oops' }, { kind: 'cut' });
    const id = await harness.addIntegration({ url: receiver.url, secret });
    const eventId = await harness.placeOrder(webhooks, { createdAt: new Date(Date.now() - 5_000) });
    const requests = await receiver.received(3);
    await harness.settled(id, 1);

    expect(new Set(requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([eventId]));
    expect(new Set(requests.map(({ body }) => String(body))).size).toBe(1);
    for (const { headers, body } of requests) new Webhook(toStandardSecret(secret)).verify(body, { ...headers });
    expect(await harness.delivery(eventId, id)).toMatchObject({ status: 'delivered', attemptCount: 3, failures: 2 });
    expect(await harness.attempts(eventId, id)).toMatchObject([
      { number: 1, status: 500, response: Buffer.from('oops') },
      { number: 2, status: undefined, error: 'connection-lost' },
      { number: 3, status: 200 },
    ]);
  });

  it.each<[string, Reaction]>([
    ['a redirect', { kind: 'answer', status: 302, headers: { Location: 'http://127.0.0.1:9/' } }],
    ['404', { kind: 'answer', status: 404 }],
    ['304', { kind: 'answer', status: 304 }],
    ['silence', { kind: 'hang' }],
    ['a trickling head', { kind: 'trickle-head' }],
  ])('fails with %s, and is given up after the last attempt', async (_name, reaction) => {
    receiver.always(reaction);
    const id = await harness.addIntegration({ url: receiver.url });
    let eventId = '';
    await withEngine(hastyTiming, async (engine) => {
      eventId = await harness.placeOrder(engine);
      await harness.settled(id, 1, 'failed');
    });
    // An attempt that began while the database did not answer in time is counted, and not made.
    expect(await harness.delivery(eventId, id)).toMatchObject({
      status: 'failed',
      failures: 4,
      nextAttemptAt: undefined,
    });
    expect(receiver.requests).toHaveLength(4);
  });

  it.each([
    ['a body that never ends', { kind: 'trickle-body' }],
    ['100 MB', { kind: 'flood', bytes: 100 * 1_024 * 1_024 }],
  ] as const)('succeeds with 200 and %s', async (_name, reaction) => {
    receiver.always(reaction);
    const id = await harness.addIntegration({ url: receiver.url });
    await withEngine(hastyTiming, async (engine) => {
      await harness.placeOrder(engine);
      await harness.settled(id, 1);
    });
    expect(receiver.requests).toHaveLength(1);
  });

  it('waits as long as Retry-After asks, and its lane waits too', async () => {
    receiver.next({ kind: 'answer', status: 429, headers: { 'Retry-After': '1' } });
    const id = await harness.addIntegration({ url: receiver.url });
    await harness.placeOrder(webhooks);
    await receiver.received(1);
    await until(async () => (await harness.lane(id))?.open !== undefined);
    await harness.placeOrder(webhooks);
    const requests = await receiver.received(3);
    await harness.settled(id, 2);
    const [first, second, third] = requests.map(({ at }) => at);
    expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(950);
    expect(Number(third)).toBeGreaterThanOrEqual(Number(second));
  });

  it('on request is attempted once immediately, and then waits like any other', async () => {
    receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
    const id = await harness.addIntegration({ url: receiver.url });
    const content = sampleEvent('TEST', { id, locationIds: undefined });
    const [first, second] = [randomUUID(), randomUUID()];
    await webhooks.deliveries.sendTest(id, content, first);
    await until(async () => (await harness.delivery(first, id))?.failures === 1);
    // The same id again, as after a lost answer: the attempt was already made.
    await webhooks.deliveries.sendTest(id, content, first);
    await webhooks.deliveries.sendTest(id, content, second);
    await harness.settled(id, 1);
    expect(await harness.attempts(first, id)).toMatchObject([{ number: 1, status: 503 }]);
    expect(await harness.attempts(second, id)).toMatchObject([{ number: 1, status: 200 }]);
  });

  it('goes to every integration that has subscribed to its type, and to no other', async () => {
    const ids = await Promise.all([1, 2, 3].map(() => harness.addIntegration({ url: receiver.url })));
    const other = await harness.addIntegration({ url: receiver.url, eventTypes: ['FISCAL_DAY_END'] });
    await harness.placeOrder(webhooks);
    await Promise.all(ids.map((id) => harness.settled(id, 1)));
    expect(receiver.requests.map(({ headers }) => headers['x-service-application-id']).sort()).toEqual([...ids].sort());
    expect(await harness.deliveries.list({ integrationId: other }).total()).toBe(0);
  });

  it('is sent to the current URL of the integration, with its current headers and secret', async () => {
    const elsewhere = await startReceiver();
    receiver.always({ kind: 'answer', status: 500 });
    const id = await harness.addIntegration({ url: receiver.url, secret });
    await harness.placeOrder(webhooks);
    await receiver.received(1);
    await harness.edit(id, (integration) => ({ ...integration, url: elsewhere.url, secret: undefined }));
    const [request] = await elsewhere.received(1);
    expect(request?.headers).not.toHaveProperty('x-service-signature');
    await elsewhere.close();
  });

  it('is signed with both secrets during a rotation', async () => {
    await harness.addIntegration({ url: receiver.url, secret, nextSecret });
    await harness.placeOrder(webhooks);
    const [request] = await receiver.received(1);
    for (const key of [secret, nextSecret]) {
      new Webhook(toStandardSecret(key)).verify(request?.body ?? '', { ...request?.headers });
    }
    const expected = createHmac('sha256', secret)
      .update(request?.body ?? '')
      .digest('hex');
    expect(request?.headers['x-service-signature']).toBe(expected);
  });
});

describe('an integration', () => {
  it('that is paused gets its events when it is active again', async () => {
    const id = await harness.addIntegration({ url: receiver.url, status: 'paused' });
    for (let each = 0; each < 5; each += 1) await harness.placeOrder(webhooks);
    await until(async () => (await harness.deliveries.list({ integrationId: id, status: 'pending' }).total()) === 5);
    expect(receiver.requests).toHaveLength(0);
    await harness.edit(id, (integration) => ({ ...integration, status: 'active' }));
    webhooks.engine.nudge(id);
    await harness.settled(id, 5);
    expect(receiver.requests).toHaveLength(5);
  });

  it('that answers 410 is disabled, and gets the missed events when it is enabled again', async () => {
    receiver.next({ kind: 'answer', status: 410 });
    const id = await harness.addIntegration({ url: receiver.url });
    await harness.placeOrder(webhooks);
    await until(async () => (await harness.integration(id))?.status === 'disabled');
    expect((await harness.integration(id))?.disabled?.reason).toBe('gone');
    await harness.placeOrder(webhooks);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(receiver.requests).toHaveLength(1);
    await harness.edit(id, (integration) => ({ ...integration, status: 'active', disabled: undefined }));
    webhooks.engine.nudge(id);
    await harness.settled(id, 2);
  });

  it('that changes while a 410 is on its way is not disabled', async () => {
    const changed = Promise.withResolvers<undefined>();
    receiver.next({ kind: 'answer', status: 410, after: changed.promise });
    const id = await harness.addIntegration({ url: receiver.url });
    await harness.placeOrder(webhooks);
    await receiver.received(1);
    await harness.edit(id, (integration) => ({ ...integration, name: 'Another' }));
    changed.resolve(undefined);
    await harness.settled(id, 1);
    expect((await harness.integration(id))?.status).toBe('active');
    expect(receiver.requests).toHaveLength(2);
  });

  it('that keeps failing gets nothing for a time, and then a single probe', async () => {
    const allBegun = Promise.withResolvers<undefined>();
    receiver.always({ kind: 'answer', status: 503, after: allBegun.promise });
    const opened: number[] = [];
    const quiet = harness.createEngine({ observer: { ...silentObserver, breakerOpened: () => opened.push(1) } });
    await webhooks.stop(1_000);
    const id = await harness.addIntegration({ url: receiver.url });
    await harness.placeOrders(Array.from({ length: 20 }, () => ({})));
    quiet.start();
    // All twenty attempts start before the first one has failed.
    await receiver.received(20);
    allBegun.resolve(undefined);
    await receiver.received(21);
    expect(receiver.requests).toHaveLength(21);
    await until(() => opened.length === 2);
    receiver.always({ kind: 'answer' });
    await harness.settled(id, 20);
    await until(async () => ((await harness.lane(id))?.failuresInARow ?? 0) === 0);
    await quiet.stop(1_000);
    webhooks = harness.createEngine();
    webhooks.start();
  });

  it('that fails for days gets a warning and is then disabled; a success in between removes the warning', async () => {
    const clock = settableClock();
    const day = 24 * 3_600_000;
    const timing = {
      ...quickTiming,
      schedule: Array.from({ length: 100 }, () => 10),
      breaker: { ...quickTiming.breaker, failures: 1e6 },
    };
    await webhooks.stop(1_000);
    const engine = harness.createEngine({ clock, timing });
    engine.start();
    const id = await harness.addIntegration({ url: receiver.url });
    const failed = async (): Promise<void> => {
      const before = receiver.requests.length;
      await receiver.received(before + 2);
    };
    receiver.always({ kind: 'answer', status: 500 });
    await harness.placeOrder(engine);
    await failed();
    clock.skew(3 * day);
    await until(async () => (await harness.integration(id))?.warning !== undefined);
    expect((await harness.integration(id))?.status).toBe('active');
    receiver.next({ kind: 'answer' });
    await until(async () => (await harness.integration(id))?.warning === undefined);

    await harness.placeOrder(engine);
    await failed();
    clock.skew(3 * day);
    await until(async () => (await harness.integration(id))?.warning !== undefined);
    clock.skew(2 * day);
    await until(async () => (await harness.integration(id))?.status === 'disabled');
    expect(await harness.integration(id)).toMatchObject({ disabled: { reason: 'failing' }, warning: undefined });
    await engine.stop(1_000);
    webhooks = harness.createEngine();
    webhooks.start();
  });

  it('is not blamed if this machine has no file descriptors left', async () => {
    const noDescriptors = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    let [failures, breakers] = [0, 0];
    await webhooks.stop(1_000);
    const engine = harness.createEngine({
      lookUp: () => ((failures += 1) <= 8 ? Promise.reject(noDescriptors) : lookUp('localhost')),
      observer: { ...silentObserver, breakerOpened: () => (breakers += 1) },
    });
    engine.start();
    const id = await harness.addIntegration({ url: receiver.url.replace('127.0.0.1', 'localhost') });
    const eventId = await harness.placeOrder(engine);
    await harness.settled(id, 1);
    // More failures than there are attempts in the schedule.
    expect([failures, breakers]).toEqual([9, 0]);
    expect(await harness.attempts(eventId, id)).toMatchObject([{ number: 1, status: 200 }]);
    expect(await harness.delivery(eventId, id)).toMatchObject({ attemptCount: 1, failures: 0 });
    await engine.stop(1_000);
    webhooks = harness.createEngine();
    webhooks.start();
  });

  it('that does not answer does not delay another', async () => {
    const hanging = await startReceiver();
    hanging.always({ kind: 'hang' });
    await harness.addIntegration({ url: hanging.url });
    const id = await harness.addIntegration({ url: receiver.url });
    await harness.placeOrders(Array.from({ length: 100 }, () => ({})));
    // Longer than the time limit of this test.
    await withEngine({ ...quickTiming, totalTimeout: 200_000 }, async (engine) => {
      for (let each = 0; each < 5; each += 1) await harness.placeOrder(engine);
      await harness.settled(id, 105);
    });
    await hanging.close();
  });
});
