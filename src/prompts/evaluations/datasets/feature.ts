import type { Basis } from '../../../storage/db/basis.ts';
import type { BlobStore } from '../../../storage/blobs/blob-store.ts';
import { createTurns } from '../../../base/runtime/turns.ts';
import { createCaseArchive } from './case-archive.ts';
import { datasetOperations } from './dataset-operations.ts';
import { createDatasetStore } from './dataset-store.ts';
import { createDatasets } from './datasets.ts';
import { createVersionStore } from './version-store.ts';

export function createDatasetFeature({ database, ...basis }: Basis, blobs: BlobStore) {
  const datasets = createDatasets({
    ...basis,
    store: createDatasetStore(database),
    versions: createVersionStore(database),
    archive: createCaseArchive(blobs, createTurns()),
  });
  return {
    datasets,
    operations: datasetOperations(datasets),
    chores: [{ name: 'data sets', everyMs: 600_000, run: () => datasets.sweep() }],
  };
}
