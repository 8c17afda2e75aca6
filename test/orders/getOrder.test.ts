import { beforeAll, describe, expect, it } from '@jest/globals';
import { unknownId } from './catalog/catalog-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';
import { openShop, placeOrder, type Shop } from './orders-harness.ts';

const setup = setUp();
let shop: Shop;
beforeAll(async () => {
  shop = await openShop(setup.service);
});

describe('200', () => {
  it('gives the same answer as createOrder', async () => {
    const { id, etag, body } = await placeOrder(setup.service, shop, { spot_id: shop.spot, note: 'No sugar' });
    const answer = await setup.service.call('GET', `/v1/orders/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(body);
    expect(answer.headers['etag']).toBe(etag);
  });
});

describe('304', () => {
  it('answers 304 until the order changes', async () => {
    const { id, etag } = await placeOrder(setup.service, shop);
    const options = { headers: { 'If-None-Match': etag } };
    expect((await setup.service.call('GET', `/v1/orders/${id}`, options)).status).toBe(304);
    await setup.service.call('POST', `/v1/orders/${id}/complete`);
    expect((await setup.service.call('GET', `/v1/orders/${id}`, options)).status).toBe(200);
  });
});

describe('400', () => {
  it('refuses an invalid id', async () => {
    const { status, body } = await setup.service.call('GET', '/v1/orders/latest');
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ parameter: 'id' }]);
  });
});

describe('404', () => {
  it('says that the order does not exist', async () => {
    const { status, body } = await setup.service.call('GET', `/v1/orders/${unknownId}`);
    expect(status).toBe(404);
    expect(body.type).toBe(problem('order-not-found'));
  });
});
