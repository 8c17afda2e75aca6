import { describe, expect, it } from '@jest/globals';
import { createCatalog, type Created } from './catalog-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';

const setup = setUp();
const create = (): Promise<Created> => createCatalog(setup.service).then(({ category }) => category);

describe('200', () => {
  it('gives the same answer as createCategory', async () => {
    const { id, etag, body } = await create();
    const answer = await setup.service.call('GET', `/v1/categories/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(body);
    expect(answer.headers['etag']).toBe(etag);
  });
});

describe('304', () => {
  it('answers 304 if the caller has it', async () => {
    const { id, etag } = await create();
    const { status, text } = await setup.service.call('GET', `/v1/categories/${id}`, {
      headers: { 'If-None-Match': etag },
    });
    expect(status).toBe(304);
    expect(text).toBe('');
  });
});

describe('400', () => {
  it('refuses an invalid id', async () => {
    const { status, body } = await setup.service.call('GET', '/v1/categories/nonsense');
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ parameter: 'id' }]);
  });
});

describe('404', () => {
  it('says that the category does not exist', async () => {
    const { status, body } = await setup.service.call('GET', '/v1/categories/cat_00000000000000000000000000000000');
    expect(status).toBe(404);
    expect(body.type).toBe(problem('category-not-found'));
  });
});
