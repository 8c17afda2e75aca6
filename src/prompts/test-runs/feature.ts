import type { Basis } from '../../storage/db/basis.ts';
import type { BlobStore } from '../../storage/blobs/blob-store.ts';
import { createResultArchive } from './result-archive.ts';
import { createDeletion } from './test-run-deletion.ts';
import { testRunOperations } from './test-run-operations.ts';
import { createTestRunStore } from './test-run-store.ts';
import { createTestRuns, type TestRunsDependencies } from './test-runs.ts';

/** Deletes all runs of a prompt with their results. @throws {ProblemError} storage-unavailable */
export function createTestRunDeletion({ database, ...basis }: Basis, blobs: BlobStore) {
  return createDeletion({ ...basis, store: createTestRunStore(database), archive: createResultArchive(blobs) });
}

export function createTestRunFeature(dependencies: Basis & Omit<TestRunsDependencies, 'store'>) {
  const testRuns = createTestRuns({ ...dependencies, store: createTestRunStore(dependencies.database) });
  return {
    testRuns,
    operations: testRunOperations(testRuns),
    chores: [{ name: 'test runs', everyMs: 10_000, run: () => testRuns.sweep() }],
  };
}
