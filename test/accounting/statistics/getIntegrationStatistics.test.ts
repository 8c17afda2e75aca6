import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createIntegration, sendTest } from '../../webhooks/integrations/integrations-harness.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { problem } from '../../support/per-operation.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { counting, pointsWith, untilTotals } from './statistics-harness.ts';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startTestService(counting);
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

describe('200', () => {
  it('counts successful and failed attempts, with their mean duration', async () => {
    const [integration, other] = [
      await createIntegration(service, { url: receiver.url }),
      await createIntegration(service, { url: receiver.url }),
    ];
    const path = `${integration.path}/statistics`;
    receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
    await sendTest(service, integration);
    await untilTotals(service, path, { failed: 1, succeeded: 0 });
    await sendTest(service, integration);
    const hour = await untilTotals(service, path, { failed: 1, succeeded: 1 });
    expect([hour.interval_seconds, hour.points.length]).toEqual([60, 60]);
    const { body: attempts } = await service.call('GET', integration.deliveries);
    expect(attempts.pagination.total).toBe(2);
    expect(hour.totals.average_latency_ms).toBeGreaterThanOrEqual(0);
    expect(pointsWith(hour, 'succeeded').map(([, count]) => count)).toEqual([1]);
    const day = await untilTotals(service, `${path}?span=day`, { failed: 1, succeeded: 1 });
    expect([day.interval_seconds, day.points.length]).toEqual([900, 96]);
    // Attempts of another integration do not count. Without attempts there is no duration.
    const { body: none } = await service.call('GET', `${other.path}/statistics`);
    const nothing = { succeeded: 0, failed: 0, deliveries_succeeded: 0, deliveries_failed: 0 };
    expect(none.totals).toEqual({ at: expect.any(String), ...nothing });
    expect(none.points[0]).toEqual(none.totals);
  });
});

describe('400', () => {
  it.each(['span=week', 'limit=1'])('refuses %s', async (query) => {
    const { path } = await createIntegration(service);
    expect((await service.call('GET', `${path}/statistics?${query}`)).status).toBe(400);
  });
});

describe('404', () => {
  it('does not exist after the integration was deleted', async () => {
    const integration = await createIntegration(service, { url: receiver.url });
    await sendTest(service, integration);
    await untilTotals(service, `${integration.path}/statistics`, { succeeded: 1 });
    await service.call('DELETE', integration.path);
    const { status, body } = await service.call('GET', `${integration.path}/statistics`);
    expect([status, body.type]).toEqual([404, problem('integration-not-found')]);
  });
});
