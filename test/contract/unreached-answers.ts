/**
 * Declared answers that no test reaches, and why: problem types, for all operations that declare them, or single answers
 * by their name in the table. An answer that a test reaches all the same is no mistake.
 */
export const unreached: Readonly<Record<string, string>> = {
  'too-much-in-progress': 'one limit for all operations: test/limits, test/test-runs/createTestRun.test.ts',
  'too-much-kept': 'one limit for all operations: test/limits',
  overloaded: 'the same limits for all operations: test/limits, test/http/list-queue.test.ts',
  'storage-full': 'what the database says when its disk is full, whatever the operation: test/db, test/service',
  'shutting-down': 'test runs and readiness only, in the last moments of a process: test/test-runs, test/operation',
  'completeOrder 409 edit-conflict': 'the same edits as those of cancelOrder and updateProduct: test/catalog',
  'cancelOrder 409 edit-conflict': 'the same edits as those of updateProduct: test/catalog',
};
