/** Groups of modifiers: what products may have, and what orders have to choose. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createCatalog, createProduct, productBody, uuidForm, type Created } from './catalog/catalog-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';
import type { Answer } from '../support/service.ts';

const setup = setUp();
const call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<Answer> =>
  setup.service.call(method, path, body === undefined ? {} : { body });
const pointersOf = ({ body }: Answer): string[] => (body.errors as { pointer: string }[]).map(({ pointer }) => pointer);

let category: Created;
beforeAll(async () => {
  ({ category } = await createCatalog(setup.service, { tax_rate_ppm: 100_000 }));
});
const post = (members: object): Promise<Answer> => call('POST', '/v1/products', productBody(category, { ...members }));

const idOf = (digit: number): string => `${'d'.repeat(8)}-0000-4000-8000-00000000000${digit}`;
const one = (name: string, price = 0, id?: string): object => ({ name, price, ...(id !== undefined && { id }) });
const size = { name: 'Size', min: 1, max: 1, modifiers: [one('Small', 0, idOf(1)), one('Large', 60, idOf(2))] };
const toppings = { name: 'Toppings', min: 0, max: 3, modifiers: [one('Nuts', 30, idOf(3)), one('Cream', 40, idOf(4))] };

describe('a product', () => {
  it('keeps its groups, in their order, with ids for modifiers that have none', async () => {
    const milk = { name: 'Milk', min: 0, max: 2, modifiers: [one('Oat', 50)] };
    const { status, body } = await post({ modifier_groups: [size, milk], modifiers: [one('Gift wrap', 100)] });
    expect(status).toBe(201);
    const id = expect.stringMatching(uuidForm);
    expect(body.modifier_groups).toEqual([size, { ...milk, modifiers: [{ id, name: 'Oat', price: 50 }] }]);
    expect(body.modifiers).toEqual([{ id, name: 'Gift wrap', price: 100 }]);
    expect((await call('GET', `/v1/products/${body.id}`)).body).toEqual(body);
    const listed = (await call('GET', `/v1/products?category_id=${category.id}`)).body.data as { id: string }[];
    expect(listed.find((product) => product.id === body.id)).toEqual(body);
  });

  it('without groups has no member for them, also after an empty array', async () => {
    for (const members of [{}, { modifier_groups: [] }])
      expect((await post(members)).body).not.toHaveProperty('modifier_groups');
    const { body } = await post({ modifier_groups: [size] });
    const kept = await call('PUT', `/v1/products/${body.id}`, { price: 1 });
    expect(kept.body.modifier_groups).toEqual([size]);
    const same = await call('PUT', `/v1/products/${body.id}`, { modifier_groups: [size] });
    expect(same.headers['etag']).toBe(kept.headers['etag']);
    const cleared = await call('PUT', `/v1/products/${body.id}`, { modifier_groups: [] });
    expect(cleared.body).not.toHaveProperty('modifier_groups');
  });

  it('can move a modifier into a group and back, with its id', async () => {
    const { body } = await post({ modifiers: [one('Oat', 50, idOf(7))] });
    const group = { name: 'Milk', min: 0, max: 1, modifiers: [one('Oat', 50, idOf(7))] };
    const moved = await call('PUT', `/v1/products/${body.id}`, { modifiers: [], modifier_groups: [group] });
    expect([moved.body.modifiers, moved.body.modifier_groups]).toEqual([[], [group]]);
    const back = await call('PUT', `/v1/products/${body.id}`, { modifiers: group.modifiers, modifier_groups: [] });
    expect(back.body).toMatchObject({ modifiers: group.modifiers });
  });

  it.each<[string[], object]>([
    [['#/modifier_groups/0/min'], { modifier_groups: [{ ...toppings, min: 4 }] }],
    [['#/modifier_groups/1/name'], { modifier_groups: [size, { ...toppings, name: 'Size' }] }],
    [
      ['#/modifier_groups/1/modifiers/0/id'],
      { modifier_groups: [size, { ...toppings, modifiers: [one('Nuts', 1, idOf(1))] }] },
    ],
    [
      ['#/modifier_groups/0/modifiers/1/name'],
      { modifier_groups: [{ ...size, modifiers: [one('Small'), one('Small')] }] },
    ],
    [['#/modifier_groups/0/modifiers/0/name'], { modifier_groups: [size], modifiers: [one('Small')] }],
    [['#/modifier_groups/0/modifiers/0/id'], { modifier_groups: [size], modifiers: [one('Gift wrap', 1, idOf(1))] }],
    [
      ['#/modifier_groups'],
      {
        modifier_groups: [{ ...size, modifiers: Array.from({ length: 60 }, (_, index) => one(`Size ${index}`)) }],
        modifiers: Array.from({ length: 41 }, (_, index) => one(`Extra ${index}`)),
      },
    ],
  ])('is refused with a mistake at %j', async (pointers, members) => {
    const answer = await post(members);
    expect([answer.status, answer.body.type]).toEqual([422, problem('invalid-modifier-groups')]);
    expect(pointersOf(answer)).toEqual(pointers);
    const { body } = await post({});
    const changed = await call('PUT', `/v1/products/${body.id}`, members);
    expect([changed.status, changed.body.type]).toEqual([422, problem('invalid-modifier-groups')]);
    expect(pointersOf(changed)).toEqual(pointers);
  });

  it('is refused by what a PUT keeps, with the mistake at what it sends', async () => {
    const { body } = await post({ modifier_groups: [size] });
    const names = await call('PUT', `/v1/products/${body.id}`, { modifiers: [one('Fine'), one('Small')] });
    expect([names.status, pointersOf(names)]).toEqual([422, ['#/modifiers/1/name']]);
    const many = Array.from({ length: 99 }, (_, index) => one(`Extra ${index}`));
    const count = await call('PUT', `/v1/products/${body.id}`, { modifiers: many });
    expect([count.status, pointersOf(count)]).toEqual([422, ['#/modifiers']]);
    expect((await call('PUT', `/v1/products/${body.id}`, { modifiers: many.slice(1) })).status).toBe(200);
  });

  it('may have modifiers of the same name outside groups, as before there were any', async () => {
    const twice = [one('Milk', 10), one('Milk', 20)];
    const { status, body } = await post({ modifiers: twice, modifier_groups: [size] });
    expect(status).toBe(201);
    expect((await call('PUT', `/v1/products/${body.id}`, { modifiers: twice })).status).toBe(200);
  });

  it.each<[string, object]>([
    ['#/modifier_groups/0/modifiers', { ...size, modifiers: [] }],
    ['#/modifier_groups/0/max', { ...size, max: 0 }],
    ['#/modifier_groups/0/min', { ...size, min: -1 }],
    ['#/modifier_groups/0/name', { ...size, name: ' ' }],
    ['#/modifier_groups/0/required', { ...size, required: true }],
  ])('names %s of a group outside the contract', async (pointer, group) => {
    const answer = await post({ modifier_groups: [group] });
    expect([answer.status, pointersOf(answer)]).toEqual([400, [pointer]]);
  });
});

describe('an order', () => {
  let coffee: Created;
  let plain: Created;
  beforeAll(async () => {
    const gift = one('Gift wrap', 100, idOf(5));
    coffee = await createProduct(setup.service, category, { modifier_groups: [size, toppings], modifiers: [gift] });
    plain = await createProduct(setup.service, category, { modifiers: [gift] });
  });
  const order = (...items: object[]): object => ({
    location_id: (category.body as { location_id: string }).location_id,
    items: items.map((item) => ({ product_id: coffee.id, quantity: 2, ...item })),
  });
  /** Both ways answer in the same way. */
  const send = async (body: object): Promise<Answer> => {
    const calculated = await call('POST', '/v1/orders/calculate', body);
    const placed = await call('POST', '/v1/orders', body);
    if (placed.status === 201) expect(placed.body).toMatchObject(calculated.body as object);
    else expect([calculated.status, calculated.body.errors]).toEqual([placed.status, placed.body.errors]);
    return placed;
  };

  it('prices modifiers of groups, and names their group', async () => {
    const chosen = [{ id: idOf(2) }, { id: idOf(4), quantity: 2 }, { id: idOf(5) }];
    const { status, body } = await send(order({ modifiers: chosen }));
    // 2 × (420 + 60 + 2 × 40 + 100), and 10 % of it.
    expect([status, body.subtotal, body.taxes, body.total]).toEqual([201, 1320, 132, 1452]);
    const modifiers = [
      { id: idOf(2), name: 'Large', price: 60, group: 'Size', quantity: 1 },
      { id: idOf(4), name: 'Cream', price: 40, group: 'Toppings', quantity: 2 },
      { id: idOf(5), name: 'Gift wrap', price: 100, quantity: 1 },
    ];
    expect(body.items[0].modifiers).toEqual(modifiers);
    await call('PUT', `/v1/products/${coffee.id}`, { name: 'Cappuccino' });
    expect((await call('GET', `/v1/orders/${body.id}`)).body.items[0].modifiers).toEqual(modifiers);
    const orders = setup.database.db.collection<{ _id: string; items: { modifiers: object[] }[] }>('orders');
    const stored = await orders.findOne({ _id: String(body.id) });
    expect(stored?.items[0]?.modifiers[2]).toEqual({ id: idOf(5), name: 'Gift wrap', price: 100, quantity: 1 });
  });

  it.each<[string, string[], object[]]>([
    ['none of what is needed', ['#/items/0/modifiers'], [{}]],
    ['one too many', ['#/items/0/modifiers/1'], [{ modifiers: [{ id: idOf(1) }, { id: idOf(2) }] }]],
    ['one twice', ['#/items/0/modifiers/0'], [{ modifiers: [{ id: idOf(1), quantity: 2 }] }]],
    [
      'too many by several entries of one',
      ['#/items/0/modifiers/2'],
      [{ modifiers: [{ id: idOf(1) }, { id: idOf(3), quantity: 2 }, { id: idOf(3), quantity: 2 }] }],
    ],
    [
      'several lines and groups',
      ['#/items/1/modifiers', '#/items/1/modifiers/0', '#/items/2/modifiers'],
      [{ modifiers: [{ id: idOf(1) }] }, { modifiers: [{ id: idOf(4), quantity: 4 }] }, { modifiers: [] }],
    ],
  ])('with %s is refused', async (_, pointers, items) => {
    const answer = await send(order(...items));
    expect([answer.status, answer.body.type]).toEqual([422, problem('modifier-group-not-satisfied')]);
    expect(pointersOf(answer)).toEqual(pointers);
  });

  it('names groups and limits', async () => {
    const { body } = await send(order({ modifiers: [{ id: idOf(3), quantity: 4 }] }));
    expect(body.errors).toEqual([
      { detail: 'has 0 modifiers of the group "Size", and needs at least 1', pointer: '#/items/0/modifiers' },
      {
        detail: 'has 4 modifiers of the group "Toppings" with this one, and may have at most 3',
        pointer: '#/items/0/modifiers/0',
      },
    ]);
  });

  it('of a product without groups needs none', async () => {
    const { status, body } = await send(order({ product_id: plain.id }));
    expect(status).toBe(201);
    expect(body.items[0].modifiers).toEqual([]);
  });

  it('that names modifiers of another product has that mistake first', async () => {
    const { body } = await send(order({}, { product_id: plain.id, modifiers: [{ id: idOf(1) }] }));
    expect(body.type).toBe(problem('unknown-modifier'));
    expect(pointersOf({ body } as Answer)).toEqual(['#/items/1/modifiers/0/id', '#/items/0/modifiers']);
  });
});
