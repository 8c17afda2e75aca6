import { beforeAll, describe, expect, it } from '@jest/globals';
import { unknownId } from '../catalog/catalog-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';
import type { Answer, CallOptions } from '../support/service.ts';
import { openShop, placeOrder, type Shop } from './orders-harness.ts';

const setup = setUp();
let shop: Shop;
beforeAll(async () => {
  shop = await openShop(setup.service);
});
const post = (id: string, move: 'complete' | 'cancel', options: CallOptions = {}): Promise<Answer> =>
  setup.service.call('POST', `/v1/orders/${id}/${move}`, options);

describe('200', () => {
  it('completes an open order', async () => {
    const { id, etag, body: before } = await placeOrder(setup.service, shop);
    const { status, body, headers } = await post(id, 'complete');
    expect(status).toBe(200);
    expect(body).toEqual({
      ...before,
      status: 'completed',
      updated_at: body.completed_at,
      completed_at: body.completed_at,
    });
    expect(Date.parse(body.completed_at)).toBeGreaterThanOrEqual(Date.parse(before.created_at));
    expect(headers['etag']).not.toBe(etag);
    const { body: now, headers: fields } = await setup.service.call('GET', `/v1/orders/${id}`);
    expect(now).toEqual(body);
    expect(fields['etag']).toBe(headers['etag']);
  });

  it('gives the same answer when it is repeated', async () => {
    const { id, etag } = await placeOrder(setup.service, shop);
    const first = await post(id, 'complete', { headers: { 'If-Match': etag } });
    const again = await post(id, 'complete', { headers: { 'If-Match': etag } });
    expect([again.status, again.text, again.headers['etag']]).toEqual([200, first.text, first.headers['etag']]);
  });

  it('completes an order that If-Match matches', async () => {
    const { id, etag } = await placeOrder(setup.service, shop);
    expect((await post(id, 'complete', { headers: { 'If-Match': etag } })).status).toBe(200);
  });
});

describe('400', () => {
  it('refuses an invalid id', async () => {
    const { status, body } = await post('latest', 'complete');
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ parameter: 'id' }]);
  });
});

describe('404', () => {
  it('says that the order does not exist', async () => {
    const { status, body } = await post(unknownId, 'complete');
    expect(status).toBe(404);
    expect(body.type).toBe(problem('order-not-found'));
  });
});

describe('409', () => {
  it('refuses a canceled order, and names its status', async () => {
    const { id } = await placeOrder(setup.service, shop);
    const ended = await post(id, 'cancel');
    const { status, body } = await post(id, 'complete');
    expect(status).toBe(409);
    expect(body).toMatchObject({ type: problem('order-not-open'), order_status: 'canceled' });
    expect((await setup.service.call('GET', `/v1/orders/${id}`)).body).toEqual(ended.body);
  });

  it('only one of two simultaneous opposite moves succeeds', async () => {
    const { id } = await placeOrder(setup.service, shop);
    const moves = ['complete', 'cancel', 'complete', 'cancel', 'complete'] as const;
    const answers = await Promise.all(moves.map(async (move) => ({ move, ...(await post(id, move)) })));
    const won = answers.filter(({ status }) => status === 200);
    expect(new Set(won.map(({ move }) => move)).size).toBe(1);
    expect(new Set(won.map(({ text }) => text)).size).toBe(1);
    const lost = answers.filter(({ status }) => status === 409);
    expect(won.length + lost.length).toBe(5);
    expect(lost.some(({ move }) => move === won[0]?.move)).toBe(false);
  });
});

describe('412', () => {
  it('does not complete an order that is newer than If-Match', async () => {
    const { id, etag } = await placeOrder(setup.service, shop);
    await post(id, 'cancel');
    const { status, body } = await post(id, 'complete', { headers: { 'If-Match': etag } });
    expect(status).toBe(412);
    expect(body.type).toBe(problem('precondition-failed'));
    expect((await setup.service.call('GET', `/v1/orders/${id}`)).body.status).toBe('canceled');
  });
});
