import { describe, expect, it } from '@jest/globals';
import { unknownId } from '../../orders/catalog/catalog-harness.ts';
import { problem } from '../../support/per-operation.ts';
import { createIntegration, eventually, sendTest, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();

const send = async (): Promise<{ path: string; integration: string }> => {
  const integration = await createIntegration(setup.service, { url: setup.receiver.url });
  const { id } = await sendTest(setup.service, integration);
  return { path: `/api/v1/deliveries/${id}`, integration: integration.path };
};

describe('200', () => {
  it('shows a delivery that has arrived', async () => {
    const { path } = await send();
    const { body, headers } = await eventually(setup.service, path, ({ status }) => status === 'delivered');
    expect(body.attempt_count).toBe(1);
    expect(Date.parse(body.delivered_at)).toBeGreaterThanOrEqual(Date.parse(body.created_at));
    expect(body).not.toHaveProperty('next_attempt_at');
    expect(headers['etag']).toMatch(/^"[^"]+"$/);
  });

  it('shows when a failed delivery is attempted again', async () => {
    setup.receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
    const { path, integration } = await send();
    const { body } = await eventually(setup.service, path, ({ status }) => status === 'retrying');
    expect(Date.parse(body.next_attempt_at)).toBeGreaterThan(Date.now() + 500_000);
    expect(body).toMatchObject({ status: 'retrying', attempt_count: 1 });
    await setup.service.call('POST', `${integration}/pause`);
    const held = await setup.service.call('GET', path);
    expect(held.body.status).toBe('held');
    expect(held.body).not.toHaveProperty('next_attempt_at');
  });
});

describe('304', () => {
  it('answers 304 until it changes', async () => {
    setup.receiver.next({ kind: 'answer', delay: 500 });
    const { path } = await send();
    const pending = await setup.service.call('GET', path);
    await eventually(setup.service, path, ({ status }) => status === 'delivered');
    const known = { 'If-None-Match': pending.headers['etag'] ?? '' };
    const { status, headers } = await setup.service.call('GET', path, { headers: known });
    expect(status).toBe(200);
    const again = await setup.service.call('GET', path, { headers: { 'If-None-Match': headers['etag'] ?? '' } });
    expect(again.status).toBe(304);
  });
});

describe('400', () => {
  it('refuses an invalid id', async () => {
    expect((await setup.service.call('GET', '/api/v1/deliveries/first')).status).toBe(400);
  });
});

describe('404', () => {
  it('says that the delivery does not exist', async () => {
    const { status, body } = await setup.service.call('GET', `/api/v1/deliveries/${unknownId}`);
    expect([status, body.type]).toEqual([404, problem('delivery-not-found')]);
  });
});
