import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createCatalog, createProduct, describeIdempotency, unknownId, uuidForm } from './catalog/catalog-harness.ts';
import { problem, setUp, startAnother } from '../support/per-operation.ts';
import type { Answer, CallOptions } from '../support/service.ts';
import { openShop, orderBody, placeOrder, type Shop } from './orders-harness.ts';

const setup = setUp();
let shop: Shop;
beforeAll(async () => {
  shop = await openShop(setup.service, { tax_rate_ppm: 90_000, fee_rate_ppm: 25_000 });
});
const path = '/v1/orders';
const post = (body: unknown, options: CallOptions = {}): Promise<Answer> =>
  setup.service.call('POST', path, { ...options, body });
const get = (id: string): Promise<Answer> => setup.service.call('GET', `${path}/${id}`);
const pointersOf = (body: Answer['body']): string[] =>
  (body.errors as { pointer: string }[]).map((error) => error.pointer);

describe('201', () => {
  it('prices an order from the catalog and stores a snapshot', async () => {
    const { location, coffee, pie, oatMilk, extraShot, spot } = shop;
    const items = [
      { product_id: coffee.id, quantity: 2, modifiers: [{ id: oatMilk, quantity: 2 }, { id: extraShot }] },
      { product_id: pie.id, quantity: 1, modifiers: [] },
    ];
    const own = {
      note: 'No sugar',
      reference_id: 'till-3-0042',
      metadata: { till: '3', __proto__x: '', constructor: 'c' },
    };
    const { status, body, headers } = await post(orderBody(shop, { items, spot_id: spot, ...own }));
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(uuidForm),
      status: 'open',
      location_id: location.id,
      currency: 'EUR',
      // 2 × (420 + 2 × 50 + 70) + 365
      service: 'eat_in',
      subtotal: 1545,
      prices_include_tax: false,
      tax_lines: [{ rate_ppm: 90_000, base: 1545, amount: 139 }],
      taxes: 139, // 139.05
      fees: 39, // 38.625
      total: 1723,
      created_at: body.created_at,
      updated_at: body.created_at,
      spot: {
        id: spot,
        name: 'Table 4',
        zone_id: location.body.zones[1].id,
        zone_name: 'Terrace',
      },
      ...own,
      items: [
        {
          product_id: coffee.id,
          name: 'Flat white',
          quantity: 2,
          unit_price: 420,
          tags: ['coffee', 'hot'],
          modifiers: [
            { id: oatMilk, name: 'Oat milk', price: 50, quantity: 2 },
            { id: extraShot, name: 'Extra shot', price: 70, quantity: 1 },
          ],
          tax_rate_ppm: 90_000,
          total: 1180,
        },
        {
          product_id: pie.id,
          name: 'Apple pie',
          quantity: 1,
          unit_price: 365,
          tags: ['pastry', 'hot'],
          modifiers: [],
          tax_rate_ppm: 90_000,
          total: 365,
        },
      ],
    });
    expect(headers['location']).toBe(`${path}/${body.id}`);
    expect((await get(body.id)).body).toEqual(body);
  });

  it('contains no fields that are not set', async () => {
    const { body } = await post(orderBody(shop));
    for (const member of ['spot', 'note', 'completed_at', 'canceled_at', 'fiscal_day']) {
      expect(body).not.toHaveProperty(member);
    }
  });

  it('does not change an order when the catalog changes', async () => {
    const { category } = await createCatalog(setup.service);
    const product = await createProduct(setup.service, category, { tags: ['old'] });
    const items = [{ product_id: product.id, quantity: 1 }];
    const { body } = await post({ location_id: category.body.location_id, items });
    await setup.service.call('PUT', `/v1/products/${product.id}`, { body: { name: 'New', price: 1, tags: [] } });
    await setup.service.call('PUT', `/v1/locations/${category.body.location_id}`, { body: { tax_rate_ppm: 500_000 } });
    expect((await get(body.id)).body).toEqual(body);
  });

  it('places two orders without an idempotency key', async () => {
    const [one, other] = await Promise.all([post(orderBody(shop)), post(orderBody(shop))]);
    expect(one.body.id).not.toBe(other.body.id);
  });
});

describe('the same Idempotency-Key', () => {
  it('places one order when it is sent a hundred times at once', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const note = `note ${randomUUID()}`;
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(orderBody(shop, { note }), { headers })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers: fields }) => fields['idempotency-replayed'] === 'true')).toHaveLength(99);
    expect(await setup.database.db.collection('orders').countDocuments({ note })).toBe(1);
  });

  it('places one order when it reaches several processes', async () => {
    const another = await startAnother(setup.service);
    const note = `note ${randomUUID()}`;
    const options = { body: orderBody(shop, { note }), headers: { 'Idempotency-Key': randomUUID() } };
    const answers = await Promise.all(
      [setup.service, another, setup.service, another].map((service) => service.call('POST', path, options)),
    );
    await another.close();
    expect(answers.some(({ status }) => status === 201)).toBe(true);
    expect(await setup.database.db.collection('orders').countDocuments({ note })).toBe(1);
  });

  describe('a week later', () => {
    /** Removes the stored idempotency keys, as their expiry does. */
    const forget = (): Promise<unknown> => setup.database.db.collection('idempotency_keys').deleteMany({});

    it('still returns its order, as it was placed', async () => {
      const options = { headers: { 'Idempotency-Key': randomUUID() } };
      const sent = orderBody(shop, { note: 'once' });
      const first = await post(sent, options);
      const completed = await setup.service.call('POST', `${path}/${first.body.id}/complete`);
      expect(completed.body.status).toBe('completed');
      await forget();
      const again = await post(sent, options);
      expect(again.status).toBe(201);
      expect(again.body).toEqual(first.body);
      expect(again.headers).toMatchObject({
        location: first.headers['location'],
        etag: first.headers['etag'],
        'idempotency-replayed': 'true',
      });
      expect((await get(first.body.id)).body.status).toBe('completed');
    });

    it('returns the order even if its product is no longer sold', async () => {
      const { category } = await createCatalog(setup.service);
      const product = await createProduct(setup.service, category);
      const sent = { location_id: category.body.location_id, items: [{ product_id: product.id, quantity: 1 }] };
      const options = { headers: { 'Idempotency-Key': randomUUID() } };
      const first = await post(sent, options);
      await setup.service.call('PUT', `/v1/products/${product.id}`, { body: { active: false } });
      await forget();
      expect((await post(sent, options)).body).toEqual(first.body);
    });

    it('is refused with another body', async () => {
      const options = { headers: { 'Idempotency-Key': randomUUID() } };
      await post(orderBody(shop), options);
      await forget();
      const { status, body } = await post(orderBody(shop, { note: 'other' }), options);
      expect(status).toBe(422);
      expect(body.type).toBe(problem('idempotency-key-reused'));
    });

    it('accepts the same body in another notation', async () => {
      const key = randomUUID();
      const { location, coffee } = shop;
      const first = await post(orderBody(shop), { headers: { 'Idempotency-Key': key } });
      await forget();
      const written = `{"items":[{"quantity":1,"product_id":"${coffee.id}"}],\n "location_id":"${location.id}"}`;
      const again = await post(written, { headers: { 'Idempotency-Key': `"${key}"` } });
      expect(again.body).toEqual(first.body);
    });

    it('places another order for another API key', async () => {
      const options = { headers: { 'Idempotency-Key': randomUUID() } };
      const first = await post(orderBody(shop), options);
      const key = await setup.service.createKey('orders:write');
      const other = await post(orderBody(shop), { ...options, key });
      expect(other.status).toBe(201);
      expect(other.body.id).not.toBe(first.body.id);
    });
  });

  it('can be used again after a refusal', async () => {
    const options = { headers: { 'Idempotency-Key': randomUUID() } };
    expect((await post(orderBody(shop, { spot_id: unknownId }), options)).status).toBe(422);
    expect((await post(orderBody(shop), options)).status).toBe(201);
  });
});

describe('400', () => {
  it.each([
    ['#/reference_id', { reference_id: '' }],
    ['#/reference_id', { reference_id: 'x'.repeat(201) }],
    ['#/metadata', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, ''])) }],
    ['#/metadata/a.b', { metadata: { 'a.b': '1' } }],
    ['#/metadata/till', { metadata: { till: 3 } }],
    ['#/metadata/till', { metadata: { till: 'x'.repeat(501) } }],
  ])('names %s of %j', async (pointer, members) => {
    const { status, body } = await post(orderBody(shop, members));
    expect(status).toBe(400);
    expect(pointersOf(body)).toContain(pointer);
  });

  const item = (members: Record<string, unknown>): Record<string, unknown> => ({
    items: [{ product_id: unknownId, quantity: 1, ...members }],
  });
  it.each([
    ['#/items', { items: [] }],
    ['#/items', { items: Array.from({ length: 201 }, () => ({ product_id: unknownId, quantity: 1 })) }],
    ['#/items/0/quantity', item({ quantity: 0 })],
    ['#/items/0/quantity', item({ quantity: 1_000 })],
    ['#/items/0/quantity', item({ quantity: 1.5 })],
    ['#/items/0/product_id', item({ product_id: 'coffee' })],
    ['#/items/0/price', item({ price: 1 })],
    ['#/items/0/modifiers/0/quantity', item({ modifiers: [{ id: unknownId, quantity: 0 }] })],
    ['#/total', { total: 1 }],
    ['#/note', { note: '' }],
    ['#/location_id', { location_id: undefined }],
  ])('names %s', async (pointer, members) => {
    const { status, body } = await post(orderBody(shop, members));
    expect(status).toBe(400);
    expect(body.type).toBe(problem('invalid-request'));
    expect(pointersOf(body)).toContain(pointer);
  });
});

describe('422', () => {
  it('refuses an archived location, product, or category of a product', async () => {
    const closed = await openShop(setup.service);
    const { location, coffee, pie } = closed;
    const archive = async (path: string, archived = true): Promise<void> => {
      expect((await setup.service.call('PUT', path, { body: { archived } })).status).toBe(200);
    };
    const items = [coffee, pie].map(({ id }) => ({ product_id: id, quantity: 1 }));
    const refused = async (): Promise<[number, string, string[]]> => {
      const { status, body } = await post(orderBody(closed, { items }));
      return [status, String(body.type), pointersOf(body)];
    };
    await archive(`/v1/products/${pie.id}`);
    expect(await refused()).toEqual([422, problem('archived'), ['#/items/1/product_id']]);
    await archive(`/v1/categories/${coffee.body.category_id}`);
    expect(await refused()).toEqual([422, problem('archived'), ['#/items/0/product_id', '#/items/1/product_id']]);
    await archive(`/v1/categories/${coffee.body.category_id}`, false);
    await archive(`/v1/products/${pie.id}`, false);
    const placed = await placeOrder(setup.service, closed);
    await archive(`/v1/locations/${location.id}`);
    expect(await refused()).toEqual([422, problem('archived'), ['#/location_id']]);
    // Orders that were placed before can be completed.
    expect((await setup.service.call('POST', `/v1/orders/${placed.id}/complete`)).status).toBe(200);
    expect((await setup.service.call('GET', `/v1/orders/${placed.id}`)).status).toBe(200);
  });

  const lines = (...products: string[]): Record<string, unknown> => ({
    items: products.map((product_id) => ({ product_id, quantity: 1 })),
  });

  it('names a location that does not exist', async () => {
    const { status, body } = await post(orderBody(shop, { location_id: unknownId }));
    expect(status).toBe(422);
    expect(body.type).toBe(problem('unknown-location'));
    expect(pointersOf(body)).toEqual(['#/location_id']);
  });

  it('names a spot that the location does not have', async () => {
    const elsewhere = await openShop(setup.service);
    const { status, body } = await post(orderBody(shop, { spot_id: elsewhere.spot }));
    expect(status).toBe(422);
    expect(body.type).toBe(problem('unknown-spot'));
    expect(pointersOf(body)).toEqual(['#/spot_id']);
  });

  it('names every product that does not exist or belongs to another location', async () => {
    const elsewhere = await openShop(setup.service);
    const { status, body } = await post(orderBody(shop, lines(unknownId, shop.coffee.id, elsewhere.coffee.id)));
    expect(status).toBe(422);
    expect(body.type).toBe(problem('unknown-product'));
    expect(pointersOf(body)).toEqual(['#/items/0/product_id', '#/items/2/product_id']);
  });

  it('names every product that is not active', async () => {
    const { location, coffee, pie, ...rest } = await openShop(setup.service);
    await setup.service.call('PUT', `/v1/products/${pie.id}`, { body: { active: false } });
    const { status, body } = await post(
      orderBody({ location, coffee, pie, ...rest }, lines(pie.id, coffee.id, pie.id)),
    );
    expect(status).toBe(422);
    expect(body.type).toBe(problem('product-not-active'));
    expect(pointersOf(body)).toEqual(['#/items/0/product_id', '#/items/2/product_id']);
  });

  it('names every product that is unavailable, until it is not', async () => {
    const own = await openShop(setup.service);
    const put = (until: string | null): Promise<Answer> =>
      setup.service.call('PUT', `/v1/products/${own.pie.id}`, { body: { unavailable_until: until } });
    const until = '2099-01-01T00:00:00.000Z';
    expect((await put('2099-01-01T02:00:00+02:00')).body).toMatchObject({ unavailable_until: until });
    const { status, body } = await post(orderBody(own, lines(own.pie.id, own.coffee.id, own.pie.id)));
    expect([status, body.type]).toEqual([422, problem('product-unavailable')]);
    expect(body.errors).toEqual(
      [0, 2].map((index) => ({
        detail: `is a product that is unavailable until ${until}`,
        pointer: `#/items/${index}/product_id`,
      })),
    );
    // An offset can lead to a year that no database stores.
    expect((await put('0000-01-01T20:07:29+23:59')).body).toMatchObject({
      unavailable_until: '0001-01-01T00:00:00.000Z',
    });
    for (const past of ['2026-01-01T00:00:00Z', null]) {
      await put(past);
      expect((await post(orderBody(own, lines(own.pie.id)))).status).toBe(201);
    }
    const { body: shown } = await setup.service.call('GET', `/v1/products/${own.pie.id}`);
    expect(shown).not.toHaveProperty('unavailable_until');
  });

  it('names every modifier that its product does not have', async () => {
    const { coffee, pie, oatMilk } = shop;
    const items = [
      { product_id: coffee.id, quantity: 1, modifiers: [{ id: oatMilk }, { id: unknownId }] },
      { product_id: pie.id, quantity: 1, modifiers: [{ id: oatMilk }] },
    ];
    const { status, body } = await post(orderBody(shop, { items }));
    expect(status).toBe(422);
    expect(body.type).toBe(problem('unknown-modifier'));
    expect(pointersOf(body)).toEqual(['#/items/0/modifiers/1/id', '#/items/1/modifiers/0/id']);
  });

  it('reports all mistakes together, with the type of the first one', async () => {
    const { pie, coffee, ...rest } = await openShop(setup.service);
    await setup.service.call('PUT', `/v1/products/${pie.id}`, { body: { active: false } });
    const items = [
      { product_id: coffee.id, quantity: 1, modifiers: [{ id: unknownId }] },
      { product_id: unknownId, quantity: 1 },
      { product_id: pie.id, quantity: 1 },
    ];
    const { status, body } = await post(orderBody({ pie, coffee, ...rest }, { items, spot_id: unknownId }));
    expect([status, body.type]).toEqual([422, problem('unknown-spot')]);
    expect(pointersOf(body)).toEqual([
      '#/spot_id',
      '#/items/1/product_id',
      '#/items/2/product_id',
      '#/items/0/modifiers/0/id',
    ]);
  });

  it('names the first hundred of more mistakes', async () => {
    const items = Array.from({ length: 101 }, () => ({ product_id: unknownId, quantity: 1 }));
    const { status, body } = await post(orderBody(shop, { items }));
    expect(status).toBe(422);
    expect(pointersOf(body)).toHaveLength(100);
    expect(pointersOf(body).at(-1)).toBe('#/items/99/product_id');
  });

  it('refuses a total above the limit', async () => {
    const { category } = await createCatalog(setup.service);
    const { id } = await createProduct(setup.service, category, { price: 1_000_000_000 });
    const { location_id } = category.body as { location_id: string };
    const of = (...quantities: number[]): unknown => ({
      location_id,
      items: quantities.map((quantity) => ({ product_id: id, quantity })),
    });
    expect((await post(of(999, 1))).body.total).toBe(1_000_000_000_000);
    const { status, body } = await post(of(999, 2));
    expect(status).toBe(422);
    expect(body.type).toBe(problem('order-total-too-large'));
    const largest = await post(of(...Array.from({ length: 200 }, () => 999)));
    expect(largest.body.type).toBe(problem('order-total-too-large'));
  });
});

it('is stored with a fingerprint of the request, but without the request', async () => {
  const { body } = await post(orderBody(shop));
  const order = await setup.database.db
    .collection<{ _id: string; fingerprint: string }>('orders')
    .findOne({ _id: body.id });
  const canonical = `{"items":[{"product_id":"${shop.coffee.id}","quantity":1}],"location_id":"${shop.location.id}"}`;
  expect(order?.fingerprint).toBe(createHash('sha256').update(canonical).digest('hex'));
});

describeIdempotency(setup, () =>
  Promise.resolve({ path, body: orderBody(shop), other: orderBody(shop, { note: 'other' }) }),
);
