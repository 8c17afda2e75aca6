import { describe, expect, it } from '@jest/globals';
import { createCatalog, createProduct, type Created } from './catalog-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';

const setup = setUp();
const create = (): Promise<Created> =>
  createCatalog(setup.service).then(({ category }) => createProduct(setup.service, category));

describe('200', () => {
  it('gives the same answer as createProduct', async () => {
    const { id, etag, body } = await create();
    const answer = await setup.service.call('GET', `/v1/products/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(body);
    expect(answer.headers['etag']).toBe(etag);
  });
});

describe('304', () => {
  it('answers 304 if the caller has it', async () => {
    const { id, etag } = await create();
    const { status, text } = await setup.service.call('GET', `/v1/products/${id}`, {
      headers: { 'If-None-Match': etag },
    });
    expect(status).toBe(304);
    expect(text).toBe('');
  });
});

describe('400', () => {
  it('refuses an invalid id', async () => {
    const { status, body } = await setup.service.call('GET', '/v1/products/nonsense');
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ parameter: 'id' }]);
  });
});

describe('404', () => {
  it('says that the product does not exist', async () => {
    const { status, body } = await setup.service.call('GET', '/v1/products/00000000-0000-4000-8000-000000000000');
    expect(status).toBe(404);
    expect(body.type).toBe(problem('product-not-found'));
  });
});
