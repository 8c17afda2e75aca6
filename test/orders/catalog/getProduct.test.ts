import { createCatalog, createProduct, describeGet, unknownId } from './catalog-harness.ts';
import { setUp } from '../../support/per-operation.ts';

const setup = setUp();
describeGet(
  setup,
  { creation: 'createProduct', path: '/v1/products', missingId: unknownId, missing: 'product-not-found' },
  async () => createProduct(setup.service, (await createCatalog(setup.service)).category),
);
