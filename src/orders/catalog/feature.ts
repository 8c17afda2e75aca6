import type { Relay } from '../../webhooks/events/outbox.ts';
import type { Basis } from '../../storage/db/basis.ts';
import { createCategories } from './categories/categories.ts';
import { categoryOperations } from './categories/category-operations.ts';
import { categoryIndexes, createCategoryStore } from './categories/category-store.ts';
import { locationOperations } from './locations/location-operations.ts';
import { createLocationStore, locationIndexes } from './locations/location-store.ts';
import { createLocations, type Locations } from './locations/locations.ts';
import { productOperations } from './products/product-operations.ts';
import { createProductStore, productIndexes } from './products/product-store.ts';
import { createProducts } from './products/products.ts';

export const catalogIndexes = [locationIndexes, categoryIndexes, productIndexes];

/** Locations. Integrations need them before there is a relay. */
export function createLocationFeature({ database, clock, random }: Basis) {
  const locations = createLocations({ store: createLocationStore(database), clock });
  return { locations, operations: locationOperations(locations, random) };
}

/** Categories and products. */
export function createCatalog(basis: Basis, locations: Locations, relay: Relay) {
  const { database } = basis;
  const shared = { ...basis, locations, relay };
  const categories = createCategories({ ...shared, store: createCategoryStore(database) });
  const products = createProducts({ ...shared, store: createProductStore(database), categories });
  const operations = { ...categoryOperations(categories), ...productOperations(products, basis.random) };
  return { categories, products, operations };
}
