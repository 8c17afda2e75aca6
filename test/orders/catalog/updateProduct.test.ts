import { describe, expect, it } from '@jest/globals';
import type { Answer, CallOptions } from '../../support/service.ts';
import {
  createCatalog,
  createCategory,
  createLocation,
  createProduct,
  unknownId,
  uuidForm,
  type Created,
} from './catalog-harness.ts';
import { problem, setUp } from '../../support/per-operation.ts';

const setup = setUp();
const put = (id: string, body: unknown, options: CallOptions = {}): Promise<Answer> =>
  setup.service.call('PUT', `/v1/products/${id}`, { ...options, body });
const create = async (members: Record<string, unknown> = {}): Promise<Created> =>
  createProduct(setup.service, (await createCatalog(setup.service)).category, members);

describe('200', () => {
  it.each([
    [{ name: 'Cappuccino' }],
    [{ price: 0 }],
    [{ tags: ['hot'] }],
    [{ tags: [] }],
    [{ active: false }],
    [{ modifiers: [] }],
    [{ sku: 'FW-002' }],
    [{ description: 'Hot' }],
    [{ image_url: 'http://cdn.example.com/b.jpg' }],
    [{ archived: true }],
  ])('changes %j and leaves the rest', async (change) => {
    const modifiers = [{ name: 'Oat milk', price: 50 }];
    const { id, etag, body: before } = await create({ tags: ['coffee'], modifiers });
    const { status, body, headers } = await put(id, change);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, ...change, updated_at: body.updated_at });
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expect(headers['etag']).not.toBe(etag);
  });

  it.each(['description', 'sku', 'image_url'])('clears %s with null', async (member) => {
    const image_url = 'https://cdn.example.com/a.jpg';
    const { id, body: before } = await create({ description: 'Hot', sku: 'FW-001', image_url });
    expect(before).toHaveProperty(member);
    const { status, body } = await put(id, { [member]: null });
    expect(status).toBe(200);
    expect({ ...body, [member]: before[member] }).toEqual({ ...before, updated_at: body.updated_at });
    expect(body).not.toHaveProperty(member);
  });

  it('changes nothing when the answer of getProduct is sent back', async () => {
    const { id, etag, body } = await create({
      tags: ['coffee'],
      modifiers: [{ name: 'Oat milk', price: 50 }],
      sku: 'FW-001',
    });
    const again = await put(id, body);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(body);
    expect(again.headers['etag']).toBe(etag);
  });

  it('keeps modifiers that are sent with their ids', async () => {
    const { id, body: before } = await create({ modifiers: [{ name: 'Oat milk', price: 50 }] });
    const [oat] = before.modifiers;
    const { body } = await put(id, {
      modifiers: [
        { name: 'Soy milk', price: 40 },
        { ...oat, price: 60 },
      ],
    });
    expect(body.modifiers).toEqual([
      { id: expect.stringMatching(uuidForm), name: 'Soy milk', price: 40 },
      { ...oat, price: 60 },
    ]);
  });

  it('moves a product to another category of its location', async () => {
    const { location, category } = await createCatalog(setup.service);
    const product = await createProduct(setup.service, category);
    const cakes = await createCategory(setup.service, location.id, 'Cakes');
    expect((await put(product.id, { category_id: cakes.id })).body.category_id).toBe(cakes.id);
  });
});

describe('400', () => {
  it.each([
    ['#/price', { price: '440' }],
    ['#/active', { active: null }],
    ['#/stock', { stock: 7 }],
  ])('names %s', async (pointer, change) => {
    const { status, body } = await put((await create()).id, change);
    expect(status).toBe(400);
    expect((body.errors as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });
});

describe('404', () => {
  it('says that the product does not exist', async () => {
    const { status, body } = await put(unknownId, { price: 1 });
    expect(status).toBe(404);
    expect(body.type).toBe(problem('product-not-found'));
  });
});

describe('412', () => {
  it('does not change a product that is newer than If-Match', async () => {
    const { id, etag } = await create();
    await put(id, { price: 1 });
    const { status, body } = await put(id, { price: 2 }, { headers: { 'If-Match': etag } });
    expect(status).toBe(412);
    expect(body.type).toBe(problem('precondition-failed'));
    expect((await setup.service.call('GET', `/v1/products/${id}`)).body.price).toBe(1);
  });
});

describe('422', () => {
  it('refuses to move a product to another location', async () => {
    const { status, body } = await put((await create()).id, { location_id: (await createLocation(setup.service)).id });
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem('read-only-field'), errors: [{ pointer: '#/location_id' }] });
  });

  it('names a category of another location', async () => {
    const { category } = await createCatalog(setup.service);
    const { status, body } = await put((await create()).id, { category_id: category.id });
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem('unknown-category'), errors: [{ pointer: '#/category_id' }] });
  });
});
