import { describe, expect, it } from '@jest/globals';
import {
  createCatalog,
  createCategory,
  createProduct,
  describeArchived,
  type Created,
  passed,
} from './catalog-harness.ts';
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

  it('shows what changed, the last changed first', async () => {
    const { location, category } = await createCatalog(setup.service);
    const [first, second, third] = [
      await createProduct(setup.service, category),
      await createProduct(setup.service, category),
      await createProduct(setup.service, category),
    ];
    const put = async (id: string, body: object): Promise<string> =>
      String((await setup.service.call('PUT', `/v1/products/${id}`, { body })).body.updated_at);
    const at = await put(second.id, { price: 5 });
    await passed(at);
    await put(first.id, { archived: true });
    const list = async (query: string): Promise<string[]> => {
      const { body } = await setup.service.call('GET', `/v1/products?${query}&updated_since=${at}`);
      return (body.data as { id: string }[]).map(({ id }) => id);
    };
    for (const within of [`location_id=${location.id}`, `category_id=${category.id}`]) {
      expect(await list(`${within}&archived=include`)).toEqual([first.id, second.id]);
      expect(await list(within)).toEqual([second.id]);
    }
    expect(await list('archived=include&limit=1')).toEqual([first.id]);
    await put(third.id, { category_id: category.id });
    expect(await list('archived=include')).not.toContain(third.id);
  });
});

describeArchived(setup, '/v1/products', async () =>
  createProduct(setup.service, (await createCatalog(setup.service)).category),
);
