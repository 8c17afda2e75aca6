import { describe, expect, it } from '@jest/globals';
import { createCatalog, createCategory, createLocation, describePaging } from './catalog-harness.ts';
import { setUp } from '../support/per-operation.ts';

const setup = setUp();

describe('200', () => {
  it('shows all categories, or those of one location', async () => {
    const one = await createCatalog(setup.service);
    const other = await createCatalog(setup.service);
    const all = await setup.service.call('GET', '/v1/categories');
    expect(all.body.data).toEqual([other.category.body, one.category.body]);
    const some = await setup.service.call('GET', `/v1/categories?location_id=${one.location.id}`);
    expect(some.body).toEqual({ data: [one.category.body], pagination: { total: 1, limit: 20, offset: 0 } });
  });
});

describePaging(setup, async (count) => {
  const { id } = await createLocation(setup.service);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push((await createCategory(setup.service, id)).id);
  return { path: `/v1/categories?location_id=${id}`, ids };
});
