import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { locationFields } from '../../../src/orders/catalog/locations/location.ts';

const location = {
  ...locationFields.readNew({ name: 'Café', currency: 'EUR', time_zone: 'UTC' }),
  ...{ id: '1', createdAt: new Date(0), updatedAt: new Date(0) },
};

it('is in basis points in documents, with decimals for finer rates', () => {
  const document = { ...locationFields.toDocument(location), tax_rate: 825 };
  expect(locationFields.fromDocument(document).taxRate).toBe(82_500);
  expect(locationFields.toDocument({ ...location, taxRate: 82_500 })).toEqual(document);
});

it('is read as it was stored', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000 }), (taxRate) => {
      expect(locationFields.fromDocument(locationFields.toDocument({ ...location, taxRate })).taxRate).toBe(taxRate);
    }),
  );
});
