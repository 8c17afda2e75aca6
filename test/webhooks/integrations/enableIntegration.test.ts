import { describe, expect, it } from '@jest/globals';
import { openShop, placeOrder } from '../../orders/orders-harness.ts';
import type { Answer } from '../../support/service.ts';
import {
  createIntegration,
  describeMissing,
  eventually,
  openBreaker,
  sendTest,
  setUpIntegrations,
  type CreatedIntegration,
} from './integrations-harness.ts';

const setup = setUpIntegrations();

const createPaused = async (members: Record<string, unknown> = {}): Promise<CreatedIntegration> => {
  const integration = await createIntegration(setup.service, members);
  await setup.service.call('POST', `${integration.path}/pause`);
  return integration;
};

describe('200', () => {
  it('changes nothing if the integration is active', async () => {
    const { path, body, etag } = await createIntegration(setup.service);
    const { status, body: enabled, headers } = await setup.service.call('POST', `${path}/enable`);
    expect(status).toBe(200);
    expect(enabled).toEqual(body);
    expect(headers['etag']).toBe(etag);
  });

  it('attempts due deliveries immediately, even while the circuit breaker is open', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    await openBreaker(setup.service, setup.receiver, integration);
    setup.receiver.forget();
    await placeOrder(setup.service, await openShop(setup.service));
    await eventually(setup.service, integration.deliveries, ({ data }) => data.length === 2);
    expect((await setup.service.call('GET', integration.path)).body).toHaveProperty('retrying_until');
    await setup.service.call('POST', `${integration.path}/enable`);
    await setup.receiver.received(1);
    await eventually(setup.service, integration.path, ({ retrying_until }) => retrying_until === undefined);
  });

  it('does not count held deliveries and redeliveries in the durations of deliveries', async () => {
    const counted = async (): Promise<string | undefined> =>
      /^webhook_delivery_duration_seconds_count (\d+)$/m.exec((await setup.service.call('GET', '/metrics')).text)?.[1];
    const delivered = ({ status }: Answer['body']): boolean => status === 'delivered';
    const integration = await createPaused({ url: setup.receiver.url });
    const { id } = await sendTest(setup.service, integration);
    const before = await counted();
    await setup.service.call('POST', `${integration.path}/enable`);
    await eventually(setup.service, `/api/v1/deliveries/${id}`, delivered);
    const resent = await setup.service.call('POST', `/api/v1/deliveries/${id}/resend`);
    await eventually(setup.service, `/api/v1/deliveries/${resent.body.id}`, delivered);
    expect(await counted()).toBe(before);
    const ordinary = await sendTest(setup.service, integration);
    await eventually(setup.service, `/api/v1/deliveries/${ordinary.id}`, delivered);
    expect(await counted()).toBe(String(Number(before) + 1));
  });

  it('sends held deliveries', async () => {
    const { id, path, deliveries } = await createPaused({ url: setup.receiver.url });
    const shop = await openShop(setup.service);
    const orders = [await placeOrder(setup.service, shop), await placeOrder(setup.service, shop)];
    await eventually(setup.service, deliveries, ({ data }) => data.length === 2);
    const { body } = await setup.service.call('POST', `${path}/enable`);
    expect(body).toMatchObject({ id, status: 'active' });
    const requests = await setup.receiver.received(2);
    expect(requests.map(({ headers }) => headers['x-service-event-target-uuid']).sort()).toEqual(
      orders.map((order) => order.id).sort(),
    );
    await eventually(setup.service, `${deliveries}&status=delivered`, ({ data }) => data.length === 2);
  });

  it('enables an integration that the service disabled, and resets its failures', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    setup.receiver.next({ kind: 'answer', status: 410 });
    await sendTest(setup.service, integration);
    await eventually(setup.service, integration.path, ({ status }) => status === 'disabled');
    const { body } = await setup.service.call('POST', `${integration.path}/enable`);
    expect(body).toMatchObject({ status: 'active', consecutive_failures: 0 });
    expect(body).not.toHaveProperty('disabled_reason');
    expect(body).not.toHaveProperty('disabled_at');
  });
});

describeMissing(setup, { method: 'POST', suffix: '/enable' });
