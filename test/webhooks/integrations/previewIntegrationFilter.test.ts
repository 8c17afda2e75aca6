import { describe, expect, it } from '@jest/globals';
import { problem } from '../../support/per-operation.ts';
import { until } from '../../support/until.ts';
import { openShop, placeOrder } from '../../orders/orders-harness.ts';
import type { Answer } from '../../support/service.ts';
import { createIntegration, path, sendTest, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();
const preview = (body: Record<string, unknown>, key?: string): Promise<Answer> =>
  setup.service.call('POST', `${path}/filter-preview`, {
    body: { event_types: ['ORDER_PLACED'], filter: {}, ...body },
    ...(key !== undefined && { key }),
  });

/** Waits until the last events at a location are these. */
const lastAt = (location: string, targets: readonly string[]): Promise<Answer> =>
  until(
    () => preview({ location_ids: [location] }),
    ({ body }) =>
      (body.data as { target_id: string }[])
        .map(({ target_id }) => target_id)
        .sort()
        .join() === [...targets].sort().join(),
  );

describe('200', () => {
  it('says which of the last events would have been received, and what did not match', async () => {
    const shop = await openShop(setup.service);
    const small = await placeOrder(setup.service, shop);
    const large = await placeOrder(setup.service, shop, {
      spot_id: shop.spot,
      items: [{ product_id: shop.coffee.id, quantity: 9 }],
    });
    await setup.service.call('PUT', `/v1/products/${shop.pie.id}`, { body: { price: 380 } });
    await lastAt(shop.location.id, [small.id, large.id]);
    const filter = { 'data.total': { $gte: large.body.total as number }, 'data.spotName': { $in: ['Table 4', 'Bar'] } };
    const { status, body } = await preview({ location_ids: [shop.location.id], filter });
    expect(status).toBe(200);
    const event = { event_id: expect.any(String), event_type: 'ORDER_PLACED', location_id: shop.location.id };
    const shown = (order: typeof large) => ({ ...event, target_id: order.id, created_at: order.body.created_at });
    expect(body).toEqual({
      data: [
        { ...shown(large), matches: true, unmatched: [] },
        { ...shown(small), matches: false, unmatched: ['data.total', 'data.spotName'] },
      ],
    });
    const one = await preview({ location_ids: [shop.location.id], filter, limit: 1 });
    expect(one.body.data).toEqual(body.data.slice(0, 1));
    const several = await preview({
      event_types: ['ORDER_PLACED', 'PRODUCT_UPDATED'],
      location_ids: [shop.location.id],
    });
    expect(several.body.data.map(({ target_id }: { target_id: string }) => target_id)).toContain(shop.pie.id);
  });

  it('has no events that test an integration, and none of locations that the key does not reach', async () => {
    const [mine, other] = [await openShop(setup.service), await openShop(setup.service)];
    const order = await placeOrder(setup.service, mine);
    const foreign = await placeOrder(setup.service, other);
    await lastAt(mine.location.id, [order.id]);
    await lastAt(other.location.id, [foreign.id]);
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    await sendTest(setup.service, integration);
    await setup.service.call('POST', `${integration.path}/test`, { body: { type: 'ORDER_PLACED' } });
    const { body: key } = await setup.service.call('POST', '/api/v1/api-keys', {
      body: { name: 'Partner', scopes: ['integrations:manage'], limits: { locations: [mine.location.id] } },
    });
    const { body } = await preview({}, key.key as string);
    expect(body.data.map(({ target_id }: { target_id: string }) => target_id)).toEqual([order.id]);
    expect((await preview({ location_ids: [other.location.id] }, key.key as string)).body).toEqual({ data: [] });
  });
});

describe('422', () => {
  it('names the path and the type', async () => {
    const { status, body } = await preview({
      event_types: ['ORDER_PLACED', 'PRODUCT_UPDATED'],
      filter: { 'data.total': 1 },
    });
    expect([status, body.type]).toEqual([422, problem('filter-not-applicable')]);
    expect(body.errors).toEqual([
      { detail: 'data.total is not in the payload of PRODUCT_UPDATED', pointer: '#/filter/data.total' },
    ]);
  });

  it('names the operator that contradicts another', async () => {
    const { status, body } = await preview({ filter: { 'data.total': { $in: [1, 2], $gte: 3 } } });
    expect([status, body.type]).toEqual([422, problem('filter-not-applicable')]);
    expect(body.errors).toEqual([
      {
        detail: 'data.total has only values in $in that another operator excludes',
        pointer: '#/filter/data.total/$in',
      },
    ]);
  });
});
