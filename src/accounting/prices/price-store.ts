import { auditIndex } from '../../storage/db/audit.ts';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { createResourceStore, type ResourceStore } from '../../storage/db/resource-store.ts';
import { priceFields } from './price.ts';

/** The prices of operators in the database, by provider and model. Every method can throw `database-unavailable`. */
export type PriceStore = Pick<ResourceStore<typeof priceFields.table>, 'all' | 'find' | 'put' | 'remove'>;

const collectionName = 'model_prices';

export const priceIndexes: CollectionIndexes = { collection: collectionName, indexes: [auditIndex] };

export function createPriceStore(database: PagedDatabase): PriceStore {
  return createResourceStore(database, collectionName, priceFields, ({ updatedAt }) => ({ set_at: updatedAt }));
}
