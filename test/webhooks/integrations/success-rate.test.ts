import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { counting } from '../../accounting/statistics/statistics-harness.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createIntegration, eventually, sendTest } from './integrations-harness.ts';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestService(counting), startReceiver()]);
});
afterAll(async () => {
  await Promise.all([service.close(), receiver.close()]);
});

describe('success_rate', () => {
  it('is the share of successful attempts, in lists and single answers, and absent without attempts', async () => {
    const integration = await createIntegration(service, { url: receiver.url });
    const untouched = await createIntegration(service, { url: receiver.url });
    expect(integration.body).not.toHaveProperty('success_rate');

    await sendTest(service, integration);
    const { headers } = await eventually(service, integration.path, ({ success_rate }) => success_rate === 1);
    expect(headers['etag']).not.toBe(integration.etag);
    receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
    await sendTest(service, integration);
    const { body } = await eventually(service, integration.path, ({ success_rate }) => success_rate === 0.5);

    const { body: list } = await service.call('GET', '/api/v1/integrations');
    const shown = Object.fromEntries((list.data as (typeof body)[]).map((each) => [each.id, each.success_rate]));
    expect(shown).toEqual({ [integration.id]: 0.5, [untouched.id]: undefined });
    // The answer can be sent back unchanged.
    const put = await service.call('PUT', integration.path, { body });
    expect([put.status, put.body.success_rate]).toEqual([200, 0.5]);
  });
});
