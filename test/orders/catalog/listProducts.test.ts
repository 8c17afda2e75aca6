import { describe, expect, it } from '@jest/globals';
import { createCatalog, createCategory, createProduct, describeArchived, type Created } from './catalog-harness.ts';
import { setUp } from '../../support/per-operation.ts';

const setup = setUp();

describe('200', () => {
  it('filters by location and by category', async () => {
    const { location, category } = await createCatalog(setup.service);
    const second = await createCategory(setup.service, location.id, 'Cakes');
    const elsewhere = await createCatalog(setup.service);
    const coffee = await createProduct(setup.service, category);
    const cake = await createProduct(setup.service, second, { active: false });
    const other = await createProduct(setup.service, elsewhere.category);
    const list = async (query: string): Promise<unknown> =>
      (await setup.service.call('GET', `/v1/products${query}`)).body.data;
    const bodies = (...products: Created[]): unknown[] => products.map(({ body }) => body as unknown);
    expect(await list('')).toEqual(bodies(other, cake, coffee));
    expect(await list(`?location_id=${location.id}`)).toEqual(bodies(cake, coffee));
    expect(await list(`?category_id=${category.id}`)).toEqual(bodies(coffee));
    expect(await list(`?location_id=${location.id}&category_id=${second.id}`)).toEqual(bodies(cake));
    expect(await list(`?location_id=${location.id}&category_id=${elsewhere.category.id}`)).toEqual([]);
  });
});

describeArchived(setup, '/v1/products', async () =>
  createProduct(setup.service, (await createCatalog(setup.service)).category),
);
