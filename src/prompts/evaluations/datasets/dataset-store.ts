import { auditIndex } from '../../../storage/db/audit.ts';
import type { CollectionIndexes } from '../../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../../storage/db/pages.ts';
import { createResourceStore, type ResourceStore } from '../../../storage/db/resource-store.ts';
import { datasetFields } from './dataset.ts';

/** The data sets in the database, by name. Every method can throw `database-unavailable`. */
export type DatasetStore = Pick<ResourceStore<typeof datasetFields.table>, 'all' | 'find' | 'put' | 'remove'>;

const collectionName = 'datasets';

export const datasetIndexes: CollectionIndexes = { collection: collectionName, indexes: [auditIndex] };

export function createDatasetStore(database: PagedDatabase): DatasetStore {
  return createResourceStore(database, collectionName, datasetFields, ({ id }) => ({ dataset_id: id }));
}
