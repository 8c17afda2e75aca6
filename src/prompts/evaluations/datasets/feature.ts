import type { Basis } from '../../../storage/db/basis.ts';
import type { BlobStore } from '../../../storage/blobs/blob-store.ts';
import { createTurns } from '../../../base/runtime/turns.ts';
import type { KeptContents } from '../../../accounting/invocations/kept-contents.ts';
import { createCaseArchive } from './case-archive.ts';
import { createCaseKeys } from './case-key-store.ts';
import { datasetOperations } from './dataset-operations.ts';
import { createDatasetStore } from './dataset-store.ts';
import { createDatasets, type DatasetsOptions } from './datasets.ts';
import { createReadCases } from './invocation-cases.ts';
import { createSealedLines } from './sealed-lines.ts';
import { createVersionStore } from './version-store.ts';

export function createDatasetFeature(
  { database, ...basis }: Basis,
  blobs: BlobStore,
  kept: KeptContents,
  keeping: Pick<DatasetsOptions, 'named' | 'isGated'>,
) {
  const keys = createCaseKeys(database);
  const datasets = createDatasets({
    ...basis,
    store: createDatasetStore(database),
    versions: createVersionStore(database),
    archive: createCaseArchive(blobs, createTurns()),
    sealed: createSealedLines(keys),
    readCases: createReadCases(kept, keys),
    ...keeping,
  });
  return {
    datasets,
    /** What cases have of invocations. */
    copies: { has: keys.has, erase: keys.erase },
    operations: datasetOperations(datasets),
    chores: [{ name: 'data sets', everyMs: 600_000, run: () => datasets.sweep() }],
  };
}
