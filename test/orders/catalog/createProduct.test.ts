import { describe, expect, it } from '@jest/globals';
import { createCatalog, describeIdempotency, productBody, unknownId, uuidForm } from './catalog-harness.ts';
import { problem, setUp } from '../../support/per-operation.ts';

const setup = setUp();
const path = '/v1/products';
const bodyOf = async (members: Record<string, unknown> = {}): Promise<Record<string, unknown>> =>
  productBody((await createCatalog(setup.service)).category, members);

describe('201', () => {
  it('sets defaults, and the currency of the location', async () => {
    const { category } = await createCatalog(setup.service, { currency: 'JPY' });
    const sent = productBody(category);
    const { status, body, headers } = await setup.service.call('POST', path, { body: sent });
    expect(status).toBe(201);
    expect(body).toEqual({
      ...sent,
      id: expect.stringMatching(uuidForm),
      currency: 'JPY',
      tags: [],
      modifiers: [],
      active: true,
      archived: false,
      created_at: body.created_at,
      updated_at: body.created_at,
    });
    expect(headers['location']).toBe(`${path}/${body.id}`);
    expect((await setup.service.call('GET', `${path}/${body.id}`)).body).toEqual(body);
  });

  it('stores tags, and creates the ids of modifiers that have none', async () => {
    const id = '0d9c4e7b-2a61-4f35-b8d0-917e3c5a6f48';
    const modifiers = [
      { id, name: 'Oat milk', price: 50 },
      { name: 'Extra shot', price: 70 },
    ];
    const texts = { description: 'Double espresso', sku: 'FW-001', image_url: 'https://cdn.example.com/a@2x.jpg' };
    const sent = await bodyOf({ ...texts, tags: ['hot', 'coffee'], modifiers, active: false, price: 1_000_000_000 });
    const { body } = await setup.service.call('POST', path, { body: sent });
    expect(body).toMatchObject({ ...texts, tags: ['hot', 'coffee'], active: false, price: 1_000_000_000 });
    expect(body.modifiers).toEqual([modifiers[0], { ...modifiers[1], id: expect.stringMatching(uuidForm) }]);
  });
});

describe('400', () => {
  it.each([
    ['#/image_url', { image_url: 'ftp://cdn.example.com/a.jpg' }],
    ['#/image_url', { image_url: 'https://user:pass@cdn.example.com/a.jpg' }],
    ['#/image_url', { image_url: 'https://user@cdn.example.com' }],
    ['#/description', { description: '' }],
    ['#/sku', { sku: ' ' }],
    ['#/price', { price: -1 }],
    ['#/price', { price: 4.2 }],
    ['#/price', { price: 1_000_000_001 }],
    ['#/tags', { tags: ['hot', 'hot'] }],
    ['#/modifiers/0/price', { modifiers: [{ name: 'Oat milk' }] }],
    ['#/category_id', { category_id: unknownId }],
    ['#/currency', { currency: 'EUR' }],
  ])('names %s of %j', async (pointer, members) => {
    const { status, body } = await setup.service.call('POST', path, { body: await bodyOf(members) });
    expect(status).toBe(400);
    expect((body.errors as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });

  it('names modifiers with repeated ids', async () => {
    const modifier = { id: '0d9c4e7b-2a61-4f35-b8d0-917e3c5a6f48', name: 'Oat milk', price: 50 };
    const sent = await bodyOf({ modifiers: [modifier, modifier] });
    const { status, body } = await setup.service.call('POST', path, { body: sent, differs: 'repeated-id' });
    expect(status).toBe(400);
    expect(body).toMatchObject({ type: problem('invalid-request'), errors: [{ pointer: '#/modifiers/1/id' }] });
  });
});

describe('422', () => {
  it('names a location that does not exist', async () => {
    const sent = await bodyOf({ location_id: unknownId });
    const { status, body } = await setup.service.call('POST', path, { body: sent });
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem('unknown-location'), errors: [{ pointer: '#/location_id' }] });
  });

  it('names a category that does not exist', async () => {
    const sent = await bodyOf({ category_id: `cat_${'0'.repeat(32)}` });
    const { status, body } = await setup.service.call('POST', path, { body: sent });
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem('unknown-category'), errors: [{ pointer: '#/category_id' }] });
  });

  it('names a category of another location', async () => {
    const elsewhere = await createCatalog(setup.service);
    const sent = await bodyOf({ category_id: elsewhere.category.id });
    const { status, body } = await setup.service.call('POST', path, { body: sent });
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem('unknown-category'), errors: [{ pointer: '#/category_id' }] });
  });
});

describeIdempotency(setup, async () => {
  const body = await bodyOf();
  return { path, body, other: { ...body, price: 421 } };
});
