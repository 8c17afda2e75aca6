import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Integration } from '../../src/webhooks/integrations/integration.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { newDelivery } from '../../src/webhooks/deliveries/delivery.ts';
import { defaultTiming } from '../../src/webhooks/timing.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { quickTiming, settableClock, startHarness, type Harness } from './webhooks-harness.ts';
import { until } from '../support/until.ts';

const minute = 60_000;
const body = new TextEncoder().encode('{}');
let harness: Harness;
let receiver: Receiver;
beforeAll(async () => {
  harness = await startHarness();
  receiver = await startReceiver();
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});
afterEach(() => harness.removeIntegrations());

/** Creates an integration and its deliveries, which are this many minutes old. @returns their ids */
async function addDeliveries(
  status: Integration['status'],
  minutesAgo: readonly number[],
  at: Date,
): Promise<string[]> {
  const integrationId = await harness.addIntegration({ url: receiver.url, status });
  const ids: string[] = [];
  for (const minutes of minutesAgo) {
    const eventCreatedAt = new Date(at.getTime() - minutes * minute);
    const delivery = {
      eventId: randomUUID(),
      eventType: 'ORDER_PLACED',
      integrationId,
      targetId: randomUUID(),
    } as const;
    const added = newDelivery({ ...delivery, eventCreatedAt, body }, eventCreatedAt);
    await harness.deliveries.insertMissing([added]);
    ids.push(added.id);
  }
  return ids;
}

/** Measures once. @returns the numbers and ages in the metrics, by status */
async function measure(now: Date): Promise<Record<string, { count: number; minutes: number }>> {
  const metrics = createMetrics();
  const clock = { ...settableClock(), now: () => now };
  await harness.createEngine({ observer: metrics.webhooks, clock }).measureBacklog();
  const text = await metrics.render();
  const value = (name: string, status: string): number =>
    Number(new RegExp(`^${name}\\{status="${status}"\\} (.+)$`, 'm').exec(text)?.[1]);
  const statuses = [...text.matchAll(/^webhook_deliveries_waiting\{status="(.+)"\}/gm)].map(
    ([, status = '']) => status,
  );
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        count: value('webhook_deliveries_waiting', status),
        minutes: value('webhook_oldest_waiting_seconds', status) / 60,
      },
    ]),
  );
}

const none = { count: 0, minutes: 0 };

describe('the gauges of waiting deliveries', () => {
  it('are 0 if none waits', async () => {
    await harness.addIntegration({ url: receiver.url });
    expect(await measure(new Date())).toEqual({ due: none, retrying: none, paused: none, disabled: none });
  });

  it('distinguish due from held deliveries, for more than a page of integrations', async () => {
    const now = new Date();
    for (let idle = 0; idle < 100; idle += 1) await harness.addIntegration({ url: receiver.url });
    await addDeliveries('active', [3, 1], now);
    await addDeliveries('active', [2], now);
    await addDeliveries('paused', [60, 50, 40], now);
    await addDeliveries('disabled', [600], now);
    expect(await measure(now)).toEqual({
      due: { count: 3, minutes: 3 },
      retrying: none,
      paused: { count: 3, minutes: 60 },
      disabled: { count: 1, minutes: 600 },
    });
  });

  it('count a failed delivery as due only from its next attempt', async () => {
    const now = new Date();
    const [failed = '', delivered = ''] = await addDeliveries('active', [90, 80, 5], now);
    await harness.deliveries.stamp([failed, delivered], 1);
    await harness.deliveries.settleDelivered([delivered], now, now);
    const nextAttemptAt = new Date(now.getTime() + 30 * minute);
    const failure = { deliveryId: failed, stamp: 1, failuresBefore: 0, nextAttemptAt, outcome: '5xx' } as const;
    await harness.deliveries.settleFailed([failure], now, now);
    expect(await measure(now)).toMatchObject({
      due: { count: 1, minutes: 5 },
      retrying: { count: 1, minutes: 90 },
    });
    const later = new Date(now.getTime() + 40 * minute);
    expect(await measure(later)).toMatchObject({ due: { count: 2, minutes: 45 }, retrying: none });
  });

  it('count deliveries as retrying while their receiver gets none', async () => {
    receiver.always({ kind: 'answer', status: 503 });
    const timing = { ...quickTiming, breaker: { ...defaultTiming.breaker, failures: 1 } };
    const webhooks = harness.createEngine({ timing });
    webhooks.start();
    const id = await harness.addIntegration({ url: receiver.url });
    await harness.placeOrder(webhooks);
    await until(async () => (await harness.lane(id))?.open !== undefined);
    await webhooks.stop(1_000);
    await harness.placeOrder(harness.createEngine({ timing }));
    await until(async () => (await harness.deliveries.list({ integrationId: id }).total()) === 2);
    const now = (await harness.lane(id))?.lastFailure?.at ?? new Date();
    const { due, retrying } = await measure(now);
    expect([due, retrying?.count]).toEqual([none, 2]);
  });
});

describe('the gauge of outboxes', () => {
  it('shows how many documents have events to relay', async () => {
    const metrics = createMetrics();
    const seen = async (): Promise<number> =>
      Number(/^webhook_outboxes_waiting (\d+)$/m.exec(await metrics.render())?.[1]);
    await harness.placeOrder(undefined, { data: { total: 'not a number' } });
    const webhooks = harness.createEngine({ observer: metrics.webhooks });
    webhooks.start();
    await until(async () => (await seen()) === 1);
  });
});
