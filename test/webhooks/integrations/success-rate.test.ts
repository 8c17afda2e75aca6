import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultTiming } from '../../../src/webhooks/timing.ts';
import { createWebhooks, type Webhooks, type WebhookDependencies } from '../../../src/webhooks/webhooks.ts';
import { counting, untilTotals } from '../../accounting/statistics/statistics-harness.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createIntegration, eventually, sendTest } from './integrations-harness.ts';

/** Deliveries get two attempts, the second at once. */
const timing = { ...defaultTiming, schedule: [0, 1], jitter: 0 };
const createOurs = (dependencies: WebhookDependencies): Webhooks => createWebhooks({ ...dependencies, timing });

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([
    startTestService({ ...counting, createWebhooks: createOurs }),
    startReceiver(),
  ]);
});
afterAll(async () => {
  await Promise.all([service.close(), receiver.close()]);
});

describe('success_rate', () => {
  it('is the share of events that arrived, in lists and single answers, and absent until a delivery ends', async () => {
    const integration = await createIntegration(service, { url: receiver.url });
    const untouched = await createIntegration(service, { url: receiver.url });
    expect(integration.body).not.toHaveProperty('success_rate');

    // The first attempt fails, the second brings the event.
    receiver.next({ kind: 'answer', status: 500 });
    await sendTest(service, integration);
    const { headers } = await eventually(service, integration.path, ({ success_rate }) => success_rate === 1);
    expect(headers['etag']).not.toBe(integration.etag);
    receiver.next({ kind: 'answer', status: 500 });
    receiver.next({ kind: 'answer', status: 500 });
    await sendTest(service, integration);
    const { body } = await eventually(service, integration.path, ({ success_rate }) => success_rate === 0.5);
    const { totals } = await untilTotals(service, `${integration.path}/statistics`, { failed: 3 });
    expect(totals).toMatchObject({ succeeded: 1, deliveries_succeeded: 1, deliveries_failed: 1 });

    const { body: list } = await service.call('GET', '/api/v1/integrations');
    const shown = Object.fromEntries((list.data as (typeof body)[]).map((each) => [each.id, each.success_rate]));
    expect(shown).toEqual({ [integration.id]: 0.5, [untouched.id]: undefined });
    // The answer can be sent back unchanged.
    const put = await service.call('PUT', integration.path, { body });
    expect([put.status, put.body.success_rate]).toEqual([200, 0.5]);
  });
});
