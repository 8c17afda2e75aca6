import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createWebhooks, type Webhooks } from '../../../src/webhooks/webhooks.ts';
import { createIntegration, sendTest } from '../../webhooks/integrations/integrations-harness.ts';
import { callWith, cookieFor } from '../../access/sessions/sessions-harness.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import {
  counting,
  createGreeting,
  createStandingClock,
  greet,
  pointsWith,
  statisticsPath as path,
  untilTotals,
} from './statistics-harness.ts';

const clock = createStandingClock('2026-11-06T12:31:30Z');
let service: TestService;
let webhooks: Webhooks | undefined;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startTestService({
    ...counting,
    clock,
    createWebhooks: (dependencies) => (webhooks = createWebhooks(dependencies)),
  });
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

const now = '2026-11-06T12:31:00.000Z';

describe('200', () => {
  it('counts the requests of operations and their failures, but not health probes, pages and unknown paths', async () => {
    await service.call('GET', '/health/live');
    await service.call('GET', '/health/ready');
    await service.call('GET', '/docs');
    await service.call('GET', '/nowhere');
    await service.call('GET', '/api/v1/providers');
    await service.call('GET', '/api/v1/providers?unknown=1');
    await service.call('GET', '/api/v1/providers', { key: null });
    const body = await untilTotals(service, path, { client_errors: 2 });
    expect(body.totals.server_errors).toBe(0);
    expect(pointsWith(body, 'client_errors')).toEqual([[now, 2]]);
    // Each request is counted after its answer. So this answer shows at most the requests before it.
    const requests = body.totals.requests as number;
    expect(requests).toBeGreaterThanOrEqual(3);
    const later = await untilTotals(service, path, { client_errors: 2 });
    expect(later.totals.requests).toBeGreaterThanOrEqual(requests);
    expect(pointsWith(later, 'requests')).toEqual([[now, later.totals.requests]]);
  });

  it('counts invocations, cached and failed ones, and tokens', async () => {
    const prompt = await createGreeting(service);
    const cached = { 'Cache-Control': 'max-age=60' };
    await greet(service, prompt, { variables: { name: 'World of words' } }, cached);
    expect((await greet(service, prompt, { variables: { name: 'World of words' } }, cached)).headers['x-cached']).toBe(
      'true',
    );
    expect((await greet(service, prompt, {})).status).toBe(422);
    expect((await greet(service, prompt, { variables: { name: 'x' }, model: 'none' })).status).toBe(502);
    expect((await greet(service, `${prompt.slice(0, -12)}${'0'.repeat(12)}`)).status).toBe(404);
    const { totals } = await untilTotals(service, path, { invocations: 5, server_errors: 1 });
    expect(totals).toMatchObject({ cached: 1, invocation_errors: 3, input_tokens: 4, output_tokens: 4 });
  });

  it('counts what the dashboard changes, but not what it reads', async () => {
    const prompt = await createGreeting(service);
    const cookie = await cookieFor(service, await service.createKey('prompts:read', 'prompts:write'));
    const before = (await service.call('GET', path)).body.totals;
    const missing = '/api/v1/prompts/none';
    for (let count = 0; count < 5; count += 1) {
      expect((await callWith(service, cookie, 'GET', missing)).status).toBe(404);
    }
    expect((await callWith(service, cookie, 'DELETE', missing)).status).toBe(404);
    // Requests are counted in their order, so this one is counted last.
    expect((await greet(service, prompt, { variables: { name: 'x' }, model: 'none' })).status).toBe(502);
    const { totals } = await untilTotals(service, path, { server_errors: Number(before.server_errors) + 1 });
    expect(totals.client_errors).toBe(Number(before.client_errors) + 1);
  });

  it('counts attempts to deliver events', async () => {
    const integration = await createIntegration(service, { url: receiver.url });
    receiver.next({ kind: 'answer', status: 500 });
    await sendTest(service, integration);
    await untilTotals(service, path, { attempts_failed: 1 });
    await sendTest(service, integration);
    const body = await untilTotals(service, path, { attempts_succeeded: 1, attempts_failed: 1 });
    expect(pointsWith(body, 'attempts_succeeded')).toEqual([[now, 1]]);
  });

  it('shows how many deliveries wait, and since when', async () => {
    const held = await createIntegration(service, { url: receiver.url });
    await service.call('POST', `${held.path}/pause`);
    const { created_at } = await sendTest(service, held);
    await webhooks?.measureBacklog();
    const { body } = await service.call('GET', path);
    // The failed delivery of another test can wait for its next attempt.
    const { retrying } = body.waiting;
    expect(body.waiting).toEqual({
      measured_at: '2026-11-06T12:31:30.000Z',
      count: 1 + retrying,
      due: 0,
      retrying,
      held: 1,
      oldest_at: created_at,
    });
    await service.call('POST', `${held.path}/enable`);
  });

  it('has 60 points of a minute for an hour, and 96 of a quarter of an hour for a day', async () => {
    const { body: hour } = await service.call('GET', path);
    expect((await service.call('GET', `${path}?span=hour`)).body.points).toHaveLength(60);
    expect([hour.interval_seconds, hour.points.length]).toEqual([60, 60]);
    expect([hour.totals.at, hour.points[0].at]).toEqual(['2026-11-06T11:32:00.000Z', '2026-11-06T11:32:00.000Z']);
    expect(hour.points[59].at).toBe(now);
    const { body: day } = await service.call('GET', `${path}?span=day`);
    expect([day.interval_seconds, day.points.length]).toEqual([900, 96]);
    expect([day.totals.at, day.points[0].at]).toEqual(['2026-11-05T12:45:00.000Z', '2026-11-05T12:45:00.000Z']);
    expect(day.points[95].at).toBe('2026-11-06T12:30:00.000Z');
  });
});

describe('400', () => {
  it.each(['span=week', 'span=', 'since=2026-11-06'])('refuses %s', async (query) => {
    expect((await service.call('GET', `${path}?${query}`)).status).toBe(400);
  });
});
