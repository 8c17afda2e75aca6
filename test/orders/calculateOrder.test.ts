/** What orders cost, with the taxes of their products: calculated, placed, and counted by fiscal days. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { fiscalDateAt } from '../../src/orders/catalog/locations/fiscal-calendar.ts';
import { createCatalog, createProduct, unknownId, type Created } from './catalog/catalog-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';
import type { Answer } from '../support/service.ts';
import { middayClock, openShop, orderBody, type Shop } from './orders-harness.ts';

const setup = setUp();
/** The fiscal day in progress. */
const dateOf = ({ body }: Created): string => {
  const { fiscal_day_end: fiscalDayEnd, time_zone: timeZone } = body as { fiscal_day_end: string; time_zone: string };
  return fiscalDateAt(new Date(), { fiscalDayEnd, timeZone });
};
const path = '/v1/orders/calculate';
const calculate = (body: unknown): Promise<Answer> => setup.service.call('POST', path, { body });

let shop: Shop;
beforeAll(async () => {
  shop = await openShop(setup.service, { tax_rate_ppm: 90_000, fee_rate_ppm: 25_000 });
});

describe('200', () => {
  it('is the order as it is placed, and stores nothing', async () => {
    const { coffee, oatMilk, spot } = shop;
    const items = [{ product_id: coffee.id, quantity: 2, modifiers: [{ id: oatMilk }] }];
    const sent = orderBody(shop, { items, spot_id: spot, service: 'take_away', note: 'No sugar' });
    const { status, body } = await calculate(sent);
    expect(status).toBe(200);
    expect(body).toMatchObject({ subtotal: 940, taxes: 85, fees: 24, total: 1049, service: 'take_away' });
    const list = await setup.service.call('GET', `/v1/orders?location_id=${shop.location.id}`);
    expect(list.body.data).toEqual([]);
    const placed = await setup.service.call('POST', '/v1/orders', { body: sent });
    expect(placed.body).toMatchObject(body as object);
  });
});

describe('422', () => {
  it('as for an order that is placed, whatever is wrong', async () => {
    const { coffee, pie } = await openShop(setup.service);
    const { body } = coffee;
    const location_id = String((body as { location_id: string }).location_id);
    const put = (id: string, change: object): Promise<Answer> =>
      setup.service.call('PUT', `/v1/products/${id}`, { body: change });
    const item = (product_id: string, more: object = {}): object => ({ product_id, quantity: 1, ...more });
    const expectSame = async (order: object, type: string): Promise<void> => {
      const sent = { location_id, items: [item(coffee.id)], ...order };
      const [calculated, placed] = [
        await calculate(sent),
        await setup.service.call('POST', '/v1/orders', { body: sent }),
      ];
      expect([calculated.status, calculated.body.type]).toEqual([422, problem(type)]);
      expect([calculated.body.detail, calculated.body.errors]).toEqual([placed.body.detail, placed.body.errors]);
    };
    await expectSame({ location_id: unknownId }, 'unknown-location');
    await expectSame({ spot_id: unknownId }, 'unknown-spot');
    await expectSame({ items: [item(unknownId)] }, 'unknown-product');
    await expectSame({ items: [item(coffee.id, { modifiers: [{ id: unknownId }] })] }, 'unknown-modifier');
    await put(pie.id, { price: 1_000_000_000 });
    const many = Array.from({ length: 200 }, () => item(pie.id, { quantity: 999 }));
    await expectSame({ items: many }, 'order-total-too-large');
    await put(pie.id, { unavailable_until: '2099-01-01T00:00:00Z' });
    await expectSame({ items: [item(pie.id)] }, 'product-unavailable');
    await put(pie.id, { active: false });
    await expectSame({ items: [item(pie.id)] }, 'product-not-active');
    await put(pie.id, { archived: true });
    await expectSame({ items: [item(pie.id)] }, 'archived');
  });
});

describe('taxes', () => {
  const open = async (members: object): Promise<{ location: Created; products: Record<string, Created> }> => {
    const rates = { tax_rate_ppm: 100_000, fee_rate_ppm: 50_000 };
    const settings = { ...rates, ...middayClock(new Date()), ...members };
    const { location, category } = await createCatalog(setup.service, settings);
    const product = (name: string, price: number, more: object = {}): Promise<Created> =>
      createProduct(setup.service, category, { name, price, ...more });
    const modifiers = [{ name: 'Oat milk', price: 40 }];
    return {
      location,
      products: {
        plain: await product('Water', 200),
        coffee: await product('Coffee', 333, { tax_rate_ppm: 190_000, take_away_tax_rate_ppm: 70_000, modifiers }),
        book: await product('Book', 999, { tax_rate_ppm: 70_000 }),
        gift: await product('Gift', 500, { tax_rate_ppm: 0 }),
      },
    };
  };
  const place = async (
    { location, products }: Awaited<ReturnType<typeof open>>,
    items: Record<string, number>,
    members: object = {},
  ): Promise<Answer['body']> => {
    const lines = Object.entries(items).map(([name, quantity]) => {
      const { id, body } = products[name] as Created;
      const modifiers = (body as { modifiers: { id: string }[] }).modifiers.map((one) => ({ id: one.id }));
      return { product_id: id, quantity, modifiers };
    });
    const body = { location_id: location.id, items: lines, ...members };
    const calculated = await calculate(body);
    const placed = await setup.service.call('POST', '/v1/orders', { body });
    expect(placed.status).toBe(201);
    expect(placed.body).toMatchObject(calculated.body as object);
    return placed.body;
  };

  it('are those of the product, else of the location, and modifiers have those of their product', async () => {
    const order = await place(await open({}), { plain: 1, coffee: 2, book: 1, gift: 1 });
    expect(order).toMatchObject({
      prices_include_tax: false,
      subtotal: 200 + 746 + 999 + 500,
      tax_lines: [
        { rate_ppm: 0, base: 500, amount: 0 },
        { rate_ppm: 70_000, base: 999, amount: 70 },
        { rate_ppm: 100_000, base: 200, amount: 20 },
        { rate_ppm: 190_000, base: 746, amount: 142 },
      ],
      taxes: 232,
      fees: 122,
      total: 2445 + 232 + 122,
    });
    expect((order.items as { tax_rate_ppm: number }[]).map((item) => item.tax_rate_ppm)).toEqual([
      100_000, 190_000, 70_000, 0,
    ]);
  });

  it('are others for what is taken away, if the product has such a rate', async () => {
    const order = await place(await open({}), { plain: 1, coffee: 1, book: 1 }, { service: 'take_away' });
    expect(order).toMatchObject({
      service: 'take_away',
      tax_lines: [
        { rate_ppm: 70_000, base: 373 + 999, amount: 96 },
        { rate_ppm: 100_000, base: 200, amount: 20 },
      ],
    });
  });

  it('can be within the prices', async () => {
    const order = await place(await open({ prices_include_tax: true }), { coffee: 1, book: 1 });
    expect(order).toMatchObject({
      prices_include_tax: true,
      subtotal: 1372,
      tax_lines: [
        { rate_ppm: 70_000, base: 934, amount: 65 },
        { rate_ppm: 190_000, base: 313, amount: 60 },
      ],
      taxes: 125,
      fees: 69,
      total: 1441,
    });
  });

  it('are added by fiscal days, rate by rate, without those of canceled orders', async () => {
    const cafe = await open({});
    await place(cafe, { coffee: 1 });
    await place(cafe, { coffee: 1, book: 1 });
    await place(cafe, { coffee: 1 }, { service: 'take_away' });
    const { id } = await place(cafe, { gift: 1 });
    await setup.service.call('POST', `/v1/orders/${String(id)}/cancel`);
    const days = `/v1/locations/${cafe.location.id}/fiscal-days`;
    const date = dateOf(cafe.location);
    const { status, body } = await setup.service.call('POST', `${days}/${date}/close`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      order_count: 3,
      tax_lines: [
        // 999 and 373 were rounded apart.
        { rate_ppm: 70_000, base: 1372, amount: 70 + 26 },
        { rate_ppm: 190_000, base: 746, amount: 71 + 71 },
      ],
    });
  });

  it('of a product can be changed and cleared, and placed orders keep theirs', async () => {
    const cafe = await open({});
    const order = await place(cafe, { book: 1 });
    const url = `/v1/products/${cafe.products['book']?.id ?? ''}`;
    const put = (body: object): Promise<Answer> => setup.service.call('PUT', url, { body });
    expect((await put({ tax_rate_ppm: 190_000, take_away_tax_rate_ppm: 0 })).body).toMatchObject({
      tax_rate_ppm: 190_000,
      take_away_tax_rate_ppm: 0,
    });
    const { body: cleared } = await put({ tax_rate_ppm: null, take_away_tax_rate_ppm: null });
    expect(cleared).not.toHaveProperty('tax_rate_ppm');
    expect(await place(cafe, { book: 1 })).toMatchObject({ tax_lines: [{ rate_ppm: 100_000 }] });
    expect((await setup.service.call('GET', `/v1/orders/${String(order.id)}`)).body).toEqual(order);
    expect((await put({ tax_rate_ppm: 1_000_001 })).status).toBe(400);
  });

  it('are absent in orders from before there were lines, and in the day that counts one', async () => {
    const cafe = await open({});
    const { id } = await place(cafe, { book: 1 });
    await place(cafe, { plain: 1 });
    const orders = setup.database.db.collection<{ _id: string }>('orders');
    await orders.updateOne(
      { _id: String(id) },
      { $unset: { tax_lines: '', service: '', prices_include_tax: '', 'items.0.tax_rate_ppm': '' } },
    );
    const { status, body } = await setup.service.call('GET', `/v1/orders/${String(id)}`);
    expect([status, body.tax_lines, body.service]).toEqual([200, undefined, 'eat_in']);
    const days = `/v1/locations/${cafe.location.id}/fiscal-days`;
    const date = dateOf(cafe.location);
    const day = await setup.service.call('POST', `${days}/${date}/close`);
    expect(day.body).toMatchObject({ order_count: 2 });
    expect(day.body).not.toHaveProperty('tax_lines');
  });
});
