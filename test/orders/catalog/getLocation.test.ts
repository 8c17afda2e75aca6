import { createLocation, describeGet, unknownId } from './catalog-harness.ts';
import { setUp } from '../../support/per-operation.ts';

const setup = setUp();
describeGet(
  setup,
  { creation: 'createLocation', path: '/v1/locations', missingId: unknownId, missing: 'location-not-found' },
  () => createLocation(setup.service),
);
