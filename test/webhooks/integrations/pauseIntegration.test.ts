import { describe, expect, it } from '@jest/globals';
import { openShop, placeOrder } from '../../orders/orders-harness.ts';
import { createIntegration, describeMissing, eventually, sendTest, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();

describe('200', () => {
  it('pauses, and changes nothing when it is repeated', async () => {
    const { path, body, etag } = await createIntegration(setup.service);
    const paused = await setup.service.call('POST', `${path}/pause`);
    expect(paused.status).toBe(200);
    expect(paused.body).toEqual({ ...body, status: 'paused', updated_at: paused.body.updated_at });
    expect(paused.headers['etag']).not.toBe(etag);
    const again = await setup.service.call('POST', `${path}/pause`);
    expect(again.text).toBe(paused.text);
    expect(again.headers['etag']).toBe(paused.headers['etag']);
  });

  it('holds events', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    await setup.service.call('POST', `${integration.path}/pause`);
    await placeOrder(setup.service, await openShop(setup.service));
    const deliveries = integration.deliveries;
    const { body } = await eventually(setup.service, deliveries, ({ data }) => data.length > 0);
    expect(body.data[0]).toMatchObject({ status: 'held', attempt_count: 0 });
    expect(body.data[0]).not.toHaveProperty('next_attempt_at');
    expect(setup.receiver.requests).toHaveLength(0);
  });

  it('pauses an integration that the service had disabled', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    setup.receiver.next({ kind: 'answer', status: 410 });
    await sendTest(setup.service, integration);
    await eventually(setup.service, integration.path, ({ status }) => status === 'disabled');
    const { body } = await setup.service.call('POST', `${integration.path}/pause`);
    expect(body.status).toBe('paused');
    expect(body).not.toHaveProperty('disabled_reason');
  });
});

describeMissing(setup, { method: 'POST', suffix: '/pause' });
