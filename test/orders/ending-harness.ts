import { beforeAll, describe, expect, it } from '@jest/globals';
import { unknownId } from './catalog/catalog-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';
import type { Answer, CallOptions } from '../support/service.ts';
import { openShop, placeOrder, type Shop } from './orders-harness.ts';

const endings = { complete: 'completed', cancel: 'canceled' } as const;

/** Tests of an operation that ends an order: it completes or cancels the order. */
export function describeEnding(move: keyof typeof endings): void {
  const opposite = move === 'complete' ? 'cancel' : 'complete';
  const [ended, otherwise] = [endings[move], endings[opposite]];
  const at = `${ended}_at`;
  const setup = setUp();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(setup.service);
  });
  const post = (id: string, sent: keyof typeof endings, options: CallOptions = {}): Promise<Answer> =>
    setup.service.call('POST', `/v1/orders/${id}/${sent}`, options);

  describe('200', () => {
    it(`${move}s an open order`, async () => {
      const { id, etag, body: before } = await placeOrder(setup.service, shop);
      const { status, body, headers } = await post(id, move);
      expect(status).toBe(200);
      expect(body).toEqual({
        ...before,
        status: ended,
        updated_at: body[at],
        [at]: body[at],
      });
      expect(Date.parse(body[at] as string)).toBeGreaterThanOrEqual(Date.parse(before.created_at));
      expect(headers['etag']).not.toBe(etag);
      const { body: now, headers: fields } = await setup.service.call('GET', `/v1/orders/${id}`);
      expect(now).toEqual(body);
      expect(fields['etag']).toBe(headers['etag']);
    });

    it('gives the same answer when it is repeated', async () => {
      const { id, etag } = await placeOrder(setup.service, shop);
      const first = await post(id, move, { headers: { 'If-Match': etag } });
      const again = await post(id, move, { headers: { 'If-Match': etag } });
      expect([again.status, again.text, again.headers['etag']]).toEqual([200, first.text, first.headers['etag']]);
    });

    it(`${move}s an order that If-Match matches`, async () => {
      const { id, etag } = await placeOrder(setup.service, shop);
      expect((await post(id, move, { headers: { 'If-Match': etag } })).status).toBe(200);
    });
  });

  describe('400', () => {
    it('refuses an invalid id', async () => {
      const { status, body } = await post('latest', move);
      expect(status).toBe(400);
      expect(body.errors).toMatchObject([{ parameter: 'id' }]);
    });
  });

  describe('404', () => {
    it('says that the order does not exist', async () => {
      const { status, body } = await post(unknownId, move);
      expect(status).toBe(404);
      expect(body.type).toBe(problem('order-not-found'));
    });
  });

  describe('409', () => {
    it('refuses an order that was ended in the other way, and names its status', async () => {
      const { id } = await placeOrder(setup.service, shop);
      const first = await post(id, opposite);
      const { status, body } = await post(id, move);
      expect(status).toBe(409);
      expect(body).toMatchObject({ type: problem('order-not-open'), order_status: otherwise });
      expect((await setup.service.call('GET', `/v1/orders/${id}`)).body).toEqual(first.body);
    });

    it('only one of two simultaneous opposite moves succeeds', async () => {
      const { id } = await placeOrder(setup.service, shop);
      const moves = ['complete', 'cancel', 'complete', 'cancel', move] as const;
      const answers = await Promise.all(moves.map(async (sent) => ({ sent, ...(await post(id, sent)) })));
      const won = answers.filter(({ status }) => status === 200);
      expect(new Set(won.map(({ sent }) => sent)).size).toBe(1);
      expect(new Set(won.map(({ text }) => text)).size).toBe(1);
      const lost = answers.filter(({ status }) => status === 409);
      expect(won.length + lost.length).toBe(5);
      expect(lost.some(({ sent }) => sent === won[0]?.sent)).toBe(false);
    });
  });

  describe('412', () => {
    it(`does not ${move} an order that is newer than If-Match`, async () => {
      const { id, etag } = await placeOrder(setup.service, shop);
      await post(id, opposite);
      const { status, body } = await post(id, move, { headers: { 'If-Match': etag } });
      expect(status).toBe(412);
      expect(body.type).toBe(problem('precondition-failed'));
      expect((await setup.service.call('GET', `/v1/orders/${id}`)).body.status).toBe(otherwise);
    });
  });
}
