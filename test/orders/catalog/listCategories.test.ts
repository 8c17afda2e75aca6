import { describe, expect, it } from '@jest/globals';
import { createCatalog, createCategory, describeArchived, passed } from './catalog-harness.ts';
import { setUp } from '../../support/per-operation.ts';

const setup = setUp();

describe('200', () => {
  it('shows all categories, or those of one location', async () => {
    const one = await createCatalog(setup.service);
    const other = await createCatalog(setup.service);
    const all = await setup.service.call('GET', '/v1/categories');
    expect(all.body.data).toEqual([other.category.body, one.category.body]);
    const some = await setup.service.call('GET', `/v1/categories?location_id=${one.location.id}`);
    expect(some.body).toEqual({
      data: [one.category.body],
      pagination: { total: 1, limit: 20, offset: 0, next: null },
    });
  });

  it('shows what changed, the last changed first', async () => {
    const { location, category } = await createCatalog(setup.service);
    const other = await createCategory(setup.service, location.id, 'Cakes');
    const put = async (id: string, body: object): Promise<string> =>
      String((await setup.service.call('PUT', `/v1/categories/${id}`, { body })).body.updated_at);
    const at = await put(other.id, { name: 'Cake' });
    await passed(at);
    await put(category.id, { archived: true });
    const list = async (query: string): Promise<string[]> => {
      const { body } = await setup.service.call('GET', `/v1/categories?${query}`);
      return (body.data as { id: string }[]).map(({ id }) => id);
    };
    expect(await list(`location_id=${location.id}&archived=include&updated_since=${at}`)).toEqual([
      category.id,
      other.id,
    ]);
    expect(await list(`location_id=${location.id}&updated_since=${at}`)).toEqual([other.id]);
    expect(await list(`archived=include&updated_since=2099-01-01`)).toEqual([]);
  });
});

describeArchived(setup, '/v1/categories', async () => (await createCatalog(setup.service)).category);
