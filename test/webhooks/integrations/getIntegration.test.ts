import { describe, expect, it } from '@jest/globals';
import {
  createIntegration,
  describeMissing,
  eventually,
  openBreaker,
  secret,
  sendTest,
  setUpIntegrations,
} from './integrations-harness.ts';

const setup = setUpIntegrations();

describe('200', () => {
  it('gives the same answer as createIntegration', async () => {
    const { path, body, etag } = await createIntegration(setup.service, { secret });
    const { status, body: got, headers } = await setup.service.call('GET', path);
    expect(status).toBe(200);
    expect(got).toEqual(body);
    expect(headers['etag']).toBe(etag);
  });

  it('counts consecutive failures until one attempt succeeds', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    setup.receiver.next({ kind: 'answer', status: 500 });
    await sendTest(setup.service, integration);
    const failing = await eventually(setup.service, integration.path, (body) => body.consecutive_failures > 0);
    expect(failing.body.consecutive_failures).toBe(1);
    expect(failing.headers['etag']).not.toBe(integration.etag);
    await sendTest(setup.service, integration);
    await eventually(setup.service, integration.path, (body) => body.consecutive_failures === 0);
  });

  it('shows until when deliveries to a failing receiver pause, and how it failed', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    const { body, headers } = await openBreaker(setup.service, setup.receiver, integration);
    expect(body).toMatchObject({ consecutive_failures: 1, last_error: { at: expect.any(String), status_code: 503 } });
    const wait = Date.parse(body.retrying_until) - Date.parse(body.last_error.at);
    expect(wait).toBe(600_000);
    const again = await setup.service.call('GET', integration.path);
    expect(again.body).toEqual(body);
    expect(again.headers['etag']).toBe(headers['etag']);
    const { body: list } = await setup.service.call('GET', '/api/v1/integrations?limit=1');
    const { waiting, failing_delivery, ...listed } = body;
    const { body: deliveries } = await setup.service.call('GET', integration.deliveries);
    expect(failing_delivery).toEqual({
      id: deliveries.data[0].id,
      status: 'retrying',
      attempt_number: 1,
      started_at: expect.any(String),
      status_code: 503,
      response_body: '',
    });
    expect([list.data, waiting?.count]).toEqual([[listed], 1]);
    // The answer can be sent back unchanged.
    const { status } = await setup.service.call('PUT', integration.path, {
      body,
      headers: { 'If-Match': headers['etag'] ?? '' },
    });
    expect(status).toBe(200);
    // A change resets the failures.
    const changed = await setup.service.call('PUT', integration.path, { body: { name: 'Mended' } });
    expect(changed.body).not.toHaveProperty('retrying_until');
    expect(changed.body).not.toHaveProperty('last_error');
    expect(changed.body).not.toHaveProperty('failing_delivery');
  });

  it('shows when the last attempt and the last successful one ended, whatever was changed since', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    expect(integration.body).not.toHaveProperty('last_attempt_at');
    await sendTest(setup.service, integration);
    const { body: good, headers } = await eventually(
      setup.service,
      integration.path,
      ({ last_success_at }) => last_success_at !== undefined,
    );
    expect(good.last_attempt_at).toBe(good.last_success_at);
    expect(good.last_attempt_at >= good.created_at).toBe(true);
    expect(headers['etag']).not.toBe(integration.etag);
    setup.receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
    await sendTest(setup.service, integration);
    const { body: bad } = await eventually(setup.service, integration.path, (body) => body.consecutive_failures > 0);
    expect(bad.last_success_at).toBe(good.last_success_at);
    expect(bad.last_attempt_at).toBe(bad.last_error.at);
    const { body: list } = await setup.service.call('GET', '/api/v1/integrations?limit=1');
    expect(list.data[0]).toMatchObject({ id: bad.id, last_attempt_at: bad.last_attempt_at });
    const changed = await setup.service.call('PUT', integration.path, { body: { ...bad, name: 'Mended' } });
    expect(changed.body).toMatchObject({
      name: 'Mended',
      last_attempt_at: bad.last_attempt_at,
      last_success_at: good.last_success_at,
    });
  });

  it('shows how many deliveries wait while it is paused, and since when', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    expect(integration.body).not.toHaveProperty('waiting');
    await setup.service.call('POST', `${integration.path}/pause`);
    const first = await sendTest(setup.service, integration);
    const one = await setup.service.call('GET', integration.path);
    expect(one.body.waiting).toEqual({ count: 1, oldest_at: first.created_at });
    await sendTest(setup.service, integration);
    const two = await setup.service.call('GET', integration.path);
    expect(two.body.waiting).toEqual({ count: 2, oldest_at: first.created_at });
    expect(two.headers['etag']).not.toBe(one.headers['etag']);
    // Deliveries of another integration do not count.
    const other = await createIntegration(setup.service);
    expect((await setup.service.call('GET', other.path)).body).toEqual(other.body);
    await setup.service.call('POST', `${integration.path}/enable`);
    await eventually(setup.service, integration.path, ({ waiting }) => waiting === undefined);
  });

  it('shows how many deliveries wait while a failing receiver gets none', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    const { body } = await openBreaker(setup.service, setup.receiver, integration);
    const { body: deliveries } = await setup.service.call('GET', integration.deliveries);
    expect(body.waiting).toEqual({ count: 1, oldest_at: deliveries.data[0].created_at });
  });

  it('names an error that is not an answer', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    setup.receiver.next({ kind: 'cut' });
    await sendTest(setup.service, integration);
    const { body } = await eventually(setup.service, integration.path, ({ last_error }) => last_error !== undefined);
    expect(body.last_error).toEqual({ at: expect.any(String), error: 'connection-lost' });
  });

  it('shows why and when it was disabled', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    setup.receiver.next({ kind: 'answer', status: 410 });
    await sendTest(setup.service, integration);
    const { body } = await eventually(setup.service, integration.path, ({ status }) => status !== 'active');
    expect(body).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    expect(Math.abs(Date.now() - Date.parse(body.disabled_at))).toBeLessThan(10_000);
  });

  it('shows a warning before it is disabled', async () => {
    const { id, path } = await createIntegration(setup.service);
    const [failing_since, disables_at] = [new Date('2026-11-06T12:31:08.214Z'), new Date('2026-11-11T12:31:08.214Z')];
    await setup.database.db
      .collection<{ _id: string }>('integrations')
      .updateOne({ _id: id }, { $set: { warning: { at: new Date(), failing_since, disables_at } } });
    const { body } = await setup.service.call('GET', path);
    expect(body.warning).toEqual({
      type: 'failing',
      detail: 'No delivery has succeeded since 2026-11-06T12:31:08.214Z.',
      failing_since: failing_since.toISOString(),
      disables_at: disables_at.toISOString(),
    });
    // A change by the operator resets the count of failures.
    const changed = await setup.service.call('PUT', path, { body: { name: 'Mended' } });
    expect(changed.body).not.toHaveProperty('warning');
  });
});

describe('304', () => {
  it('answers 304 until it changes', async () => {
    const { path, etag } = await createIntegration(setup.service);
    const headers = { 'If-None-Match': etag };
    expect((await setup.service.call('GET', path, { headers })).status).toBe(304);
    await setup.service.call('POST', `${path}/pause`);
    expect((await setup.service.call('GET', path, { headers })).status).toBe(200);
  });
});

describe('400', () => {
  it('refuses an invalid id', async () => {
    expect((await setup.service.call('GET', '/api/v1/integrations/kitchen')).status).toBe(400);
  });
});

describeMissing(setup, { method: 'GET' });
