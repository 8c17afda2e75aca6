import { describe, expect, it } from '@jest/globals';
import { createCatalog, describeArchived } from './catalog-harness.ts';
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
});

describeArchived(setup, '/v1/categories', async () => (await createCatalog(setup.service)).category);
