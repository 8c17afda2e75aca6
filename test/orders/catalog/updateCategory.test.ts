import { describe, expect, it } from '@jest/globals';
import type { Answer, CallOptions } from '../../support/service.ts';
import { createCatalog, createLocation } from './catalog-harness.ts';
import { problem, setUp } from '../../support/per-operation.ts';

const setup = setUp();
const put = (id: string, body: unknown, options: CallOptions = {}): Promise<Answer> =>
  setup.service.call('PUT', `/v1/categories/${id}`, { ...options, body });

describe('200', () => {
  it('changes the name', async () => {
    const { category } = await createCatalog(setup.service);
    const { status, body, headers } = await put(category.id, { name: 'Coffee and tea' });
    expect(status).toBe(200);
    expect(body).toEqual({ ...category.body, name: 'Coffee and tea', updated_at: body.updated_at });
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(category.body.updated_at));
    expect(headers['etag']).not.toBe(category.etag);
  });

  it('changes nothing when the answer of getCategory is sent back', async () => {
    const { category } = await createCatalog(setup.service);
    const { status, body, headers } = await put(category.id, category.body);
    expect(status).toBe(200);
    expect(body).toEqual(category.body);
    expect(headers['etag']).toBe(category.etag);
  });
});

describe('400', () => {
  it.each([
    ['#/name', { name: null }],
    ['#/price', { price: 1 }],
  ])('names %s', async (pointer, change) => {
    const { category } = await createCatalog(setup.service);
    const { status, body } = await put(category.id, change);
    expect(status).toBe(400);
    expect((body.errors as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });
});

describe('404', () => {
  it('says that the category does not exist', async () => {
    const { status, body } = await put(`cat_${'0'.repeat(32)}`, { name: 'Other' });
    expect(status).toBe(404);
    expect(body.type).toBe(problem('category-not-found'));
  });
});

describe('412', () => {
  it('does not change a category that is newer than If-Match', async () => {
    const { category } = await createCatalog(setup.service);
    await put(category.id, { name: 'Second' });
    const { status, body } = await put(category.id, { name: 'Third' }, { headers: { 'If-Match': category.etag } });
    expect(status).toBe(412);
    expect(body.type).toBe(problem('precondition-failed'));
  });
});

describe('422', () => {
  it('refuses to move a category', async () => {
    const { category } = await createCatalog(setup.service);
    const { status, body } = await put(category.id, { location_id: (await createLocation(setup.service)).id });
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem('read-only-field'), errors: [{ pointer: '#/location_id' }] });
  });
});
