import { describe, expect, it } from '@jest/globals';
import { createLocation, describeArchived } from './catalog-harness.ts';
import { setUp } from '../../support/per-operation.ts';

const setup = setUp();
const ids: string[] = [];

describe('200', () => {
  it('shows each location in the form of getLocation', async () => {
    const { id, body } = await createLocation(setup.service, { zones: [{ name: 'Bar', spots: [{ name: 'Stool' }] }] });
    ids.push(id);
    expect((await setup.service.call('GET', '/v1/locations')).body.data).toEqual([body]);
  });
});

describeArchived(setup, '/v1/locations', () => createLocation(setup.service));
