import { createCatalog, describeGet } from './catalog-harness.ts';
import { setUp } from '../../support/per-operation.ts';

const setup = setUp();
describeGet(
  setup,
  {
    creation: 'createCategory',
    path: '/v1/categories',
    missingId: `cat_${'0'.repeat(32)}`,
    missing: 'category-not-found',
  },
  async () => (await createCatalog(setup.service)).category,
);
