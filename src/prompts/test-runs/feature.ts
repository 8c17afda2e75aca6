import type { Basis } from '../../storage/db/basis.ts';
import { testRunOperations } from './test-run-operations.ts';
import { createTestRunStore } from './test-run-store.ts';
import { createTestRuns, type TestRunsDependencies } from './test-runs.ts';

export function createTestRunFeature(dependencies: Basis & Omit<TestRunsDependencies, 'store'>) {
  const testRuns = createTestRuns({ ...dependencies, store: createTestRunStore(dependencies.database) });
  return {
    testRuns,
    operations: testRunOperations(testRuns),
    chores: [{ name: 'test runs', everyMs: 10_000, run: () => testRuns.sweep() }],
  };
}
