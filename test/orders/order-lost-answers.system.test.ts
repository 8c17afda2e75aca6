import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setUp, startAnother } from '../support/per-operation.ts';
import { testDatabaseUri } from '../support/database.ts';
import { LossyProxy, writeLosses } from '../support/lossy-proxy.ts';
import type { TestService } from '../support/service.ts';
import { fiscalDateAt } from '../../src/orders/catalog/locations/fiscal-calendar.ts';
import { middayClock, openShop, orderBody, placeOrder, type Shop } from './orders-harness.ts';

/** `setup.service` reaches the database directly, `service` through a proxy that loses messages on request. */
const setup = setUp();
let proxy: LossyProxy;
let service: TestService;
let shop: Shop;
const clock = middayClock(new Date());
beforeAll(async () => {
  shop = await openShop(setup.service, clock);
  proxy = await LossyProxy.start(testDatabaseUri());
  service = await startAnother(setup.service, { MONGODB_URI: proxy.uri });
});
afterAll(async () => {
  await service.close();
  await proxy.stop();
});

describe.each(writeLosses)('when %s', (_what, loss) => {
  const lose = (collection: string, ...commands: string[]): Promise<void> =>
    proxy.lose({ ...loss, collection, commands });

  it.each([{}, { 'Idempotency-Key': randomUUID() }])('createOrder places one order (%j)', async (headers) => {
    const note = `note ${randomUUID()}`;
    const lost = lose('orders', 'insert');
    const placed = await service.call('POST', '/v1/orders', { body: orderBody(shop, { note }), headers });
    await lost;
    expect(placed.status).toBe(201);
    const orders = setup.database.db.collection('orders');
    expect(await orders.countDocuments({ note })).toBe(1);
    expect((await setup.service.call('GET', `/v1/orders/${placed.body.id}`)).body).toEqual(placed.body);
  });

  it.each(['complete', 'cancel'])('an order is ended once (%s)', async (move) => {
    const { id } = await placeOrder(setup.service, shop);
    const lost = lose('orders', 'update');
    const { status, body } = await service.call('POST', `/v1/orders/${id}/${move}`);
    await lost;
    expect(status).toBe(200);
    expect((await setup.service.call('GET', `/v1/orders/${id}`)).body).toEqual(body);
  });

  it('updateProduct makes one change', async () => {
    const { id } = shop.pie;
    const lost = lose('products', 'update');
    const price = Math.floor(Math.random() * 1_000_000);
    const { status, headers } = await service.call('PUT', `/v1/products/${id}`, { body: { price } });
    await lost;
    expect(status).toBe(200);
    const stored = await setup.service.call('GET', `/v1/products/${id}`);
    expect(stored.body.price).toBe(price);
    expect(stored.headers['etag']).toBe(headers['etag']);
  });

  it.each(['fiscal_days insert', 'orders update', 'locations update'])(
    'a fiscal day is closed once (%s)',
    async (write) => {
      const own = await openShop(setup.service, clock);
      const { id } = await placeOrder(setup.service, own);
      const today = fiscalDateAt(new Date(), { timeZone: clock.time_zone, fiscalDayEnd: clock.fiscal_day_end });
      const [collection = '', command = ''] = write.split(' ');
      const lost = lose(collection, command);
      const { status, body } = await service.call(
        'POST',
        `/v1/locations/${own.location.id}/fiscal-days/${today}/close`,
      );
      await lost;
      expect(status).toBe(200);
      expect(body.order_count).toBe(1);
      expect((await setup.service.call('GET', `/v1/orders/${id}`)).body.fiscal_day).toBe(today);
    },
  );
});
