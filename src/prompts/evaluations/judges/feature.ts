import type { BlobStore } from '../../../storage/blobs/blob-store.ts';
import type { Basis } from '../../../storage/db/basis.ts';
import { createEvaluationResults } from '../runs/result-archive.ts';
import { markOperations } from './mark-operations.ts';
import { createMarkStore } from './mark-store.ts';
import { createMarks, type MarksDependencies } from './marks.ts';

export function createMarkFeature(
  { database, clock, random }: Basis,
  blobs: BlobStore,
  given: Omit<MarksDependencies, 'store' | 'results' | 'clock'>,
) {
  const results = createEvaluationResults(blobs, random);
  const marks = createMarks({ ...given, store: createMarkStore(database), results, clock });
  return { marks, operations: markOperations(marks) };
}
