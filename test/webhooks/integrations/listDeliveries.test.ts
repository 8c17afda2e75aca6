import { describe, expect, it } from '@jest/globals';
import { problem } from '../../support/per-operation.ts';
import { openShop, placeOrder } from '../../orders/orders-harness.ts';
import {
  createIntegration,
  describeMissing,
  eventually,
  sendTest,
  setUpIntegrations,
  type CreatedIntegration,
} from './integrations-harness.ts';

const setup = setUpIntegrations();

const create = (): Promise<CreatedIntegration> =>
  createIntegration(setup.service, { url: setup.receiver.url, event_types: ['ORDER_PLACED'] });
const idsOf = async (path: string): Promise<string[]> => {
  const { status, body } = await setup.service.call('GET', path);
  expect(status).toBe(200);
  expect(body.pagination.total).toBe(body.data.length);
  return (body.data as { id: string }[]).map(({ id }) => id);
};

describe('200', () => {
  it('shows deliveries in the form of getDelivery, without their bodies', async () => {
    const integration = await create();
    const { id } = await sendTest(setup.service, integration);
    const { body: delivery } = await eventually(
      setup.service,
      `/api/v1/deliveries/${id}`,
      ({ status }) => status === 'delivered',
    );
    const { body } = await setup.service.call('GET', `${integration.path}/deliveries`);
    const { body: _, ...withoutBody } = delivery;
    expect(body.data).toEqual([withoutBody]);
  });

  it('contains no deliveries of other integrations', async () => {
    const [integration, other] = [await create(), await create()];
    await sendTest(setup.service, other);
    expect(await idsOf(`${integration.path}/deliveries`)).toEqual([]);
  });

  it('filters by status, type and time', async () => {
    const integration = await create();
    const list = `${integration.path}/deliveries`;
    const { id: test } = await sendTest(setup.service, integration);
    await placeOrder(setup.service, await openShop(setup.service));
    const { body } = await eventually(setup.service, `${list}?status=delivered`, ({ data }) => data.length === 2);
    const [order] = body.data as { id: string; created_at: string; event_type: string }[];
    expect(order?.event_type).toBe('ORDER_PLACED');
    const moment = encodeURIComponent(order?.created_at ?? '');
    const orderId = order?.id;

    expect(await idsOf(list)).toEqual([orderId, test]);
    expect(await idsOf(`${list}?event_type=TEST`)).toEqual([test]);
    expect(await idsOf(`${list}?event_type=ORDER_PLACED&status=delivered`)).toEqual([orderId]);
    expect(await idsOf(`${list}?event_type=PRODUCT_UPDATED`)).toEqual([]);
    expect(await idsOf(`${list}?status=failed`)).toEqual([]);
    expect(await idsOf(`${list}?since=${moment}`)).toEqual([orderId]);
    expect(await idsOf(`${list}?until=${moment}`)).toEqual([test]);
    expect(await idsOf(`${list}?since=2026-01-01&until=2026-01-02`)).toEqual([]);
    // `since` and `until` use every digit, and work with any offset.
    const finer = moment.replace('Z', '000001Z');
    expect(await idsOf(`${list}?since=${finer}`)).toEqual([]);
    expect(await idsOf(`${list}?until=${finer}`)).toEqual([orderId, test]);
    expect(await idsOf(`${list}?until=0000-01-01T00:00:00-00:00`)).toEqual([]);
    expect(await idsOf(`${list}?since=0000-01-01&until=9999-12-31T23:59:59-23:59`)).toEqual([orderId, test]);
  });

  it('filters by the outcome of the last attempt', async () => {
    const integration = await create();
    const list = `${integration.path}/deliveries`;
    const { id: taken } = await sendTest(setup.service, integration);
    await eventually(setup.service, `${list}?last_outcome=2xx`, ({ data }) => data.length === 1);
    setup.receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
    const { id: refused } = await sendTest(setup.service, integration);
    await eventually(setup.service, `${list}?last_outcome=5xx`, ({ data }) => data.length === 1);
    expect(await idsOf(`${list}?last_outcome=5xx`)).toEqual([refused]);
    expect(await idsOf(`${list}?last_outcome=2xx&status=delivered`)).toEqual([taken]);
    expect(await idsOf(`${list}?last_outcome=timeout`)).toEqual([]);
    const { body } = await setup.service.call('GET', `/api/v1/deliveries/${refused}`);
    expect(body).toMatchObject({ status: 'retrying', last_outcome: '5xx' });
  });

  it('shows no last outcome before an attempt has ended', async () => {
    const integration = await create();
    await setup.service.call('POST', `${integration.path}/pause`);
    expect(await sendTest(setup.service, integration)).not.toHaveProperty('last_outcome');
  });

  it('distinguishes held from pending deliveries', async () => {
    const integration = await create();
    const list = `${integration.path}/deliveries`;
    await setup.service.call('POST', `${integration.path}/pause`);
    const { id } = await sendTest(setup.service, integration);
    expect(await idsOf(`${list}?status=held`)).toEqual([id]);
    expect(await idsOf(`${list}?status=pending`)).toEqual([]);
    setup.receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
    await setup.service.call('POST', `${integration.path}/enable`);
    expect(await idsOf(`${list}?status=held`)).toEqual([]);
    await eventually(setup.service, `${list}?status=retrying`, ({ data }) => data.length === 1);
    expect(await idsOf(`${list}?status=retrying`)).toEqual([id]);
    expect(await idsOf(`${list}?status=pending`)).toEqual([]);
  });
});

describe('400', () => {
  it.each([
    'status=other',
    'status=lost',
    'last_outcome=aborted',
    'last_outcome=503',
    'event_type=ANY',
    'since=yesterday',
    'until=2026-02-30',
  ])('refuses %s', async (query) => {
    const { path } = await create();
    const { status, body } = await setup.service.call('GET', `${path}/deliveries?${query}`);
    expect([status, body.type]).toEqual([400, problem('invalid-request')]);
  });
});

describeMissing(setup, { method: 'GET', suffix: '/deliveries' });
