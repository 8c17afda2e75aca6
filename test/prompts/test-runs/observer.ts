import path from 'node:path';
import { createMemoryBudget } from '../../../src/base/limits/memory-budget.ts';
import type { BlobStore } from '../../../src/storage/blobs/blob-store.ts';
import { createFsBlobStore } from '../../../src/storage/blobs/fs-blob-store.ts';
import { createGenerator } from '../../../src/prompts/generation/generator.ts';
import { createPlanner } from '../../../src/prompts/generation/planner.ts';
import { createResponseCache } from '../../../src/prompts/generation/response-cache.ts';
import { createBudgetFeature } from '../../../src/accounting/budgets/feature.ts';
import { createInvocationFeature } from '../../../src/accounting/invocations/feature.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createKeptBytes } from '../../../src/base/limits/kept-bytes.ts';
import { createPrompts } from '../../../src/prompts/prompts.ts';
import type { ProviderRegistry } from '../../../src/models/provider.ts';
import { createPromptStore } from '../../../src/prompts/prompt-store.ts';
import { createSecretBox } from '../../../src/base/secrets/secret-box.ts';
import { createTestRunDeletion } from '../../../src/prompts/test-runs/feature.ts';
import { createTestRunStore } from '../../../src/prompts/test-runs/test-run-store.ts';
import { createTestRuns, type TestRuns, type TestRunsDependencies } from '../../../src/prompts/test-runs/test-runs.ts';
import type { Harness } from './test-runs-harness.ts';
import { system } from '../../../src/base/runtime/system.ts';
import { droppingRelay } from '../../support/dropping-relay.ts';

/** The rules on the database and files of a service, as another process has them, with a clock of the test. */
export function observe(
  { service, database }: Pick<Harness, 'service' | 'database'>,
  {
    providers = { get: () => undefined },
    ...options
  }: Partial<TestRunsDependencies> & { providers?: Pick<ProviderRegistry, 'get'> } = {},
): { testRuns: TestRuns; blobs: BlobStore } {
  const blobs = createFsBlobStore(path.join(service.environment['DATA_DIR'] ?? '', 'files'));
  const prompts = createPrompts({
    ...system,
    store: createPromptStore(database),
    cascades: [],
    relay: droppingRelay(database),
    isKnownProvider: () => true,
  });
  const log = createLogger('silent');
  const memory = createMemoryBudget({ perKey: Infinity, perProcess: Infinity });
  const testRuns = createTestRuns({
    ...system,
    store: createTestRunStore(database),
    blobs,
    deleteAllOf: createTestRunDeletion({ ...system, database }, blobs),
    prompts,
    planner: createPlanner({ prompts, providers }),
    generator: createGenerator({
      cache: createResponseCache(0, () => 0),
      checker: { check: () => Promise.resolve({ status: 'unverified' }) },
      metrics: { observeProviderCall: () => undefined, countCache: () => undefined },
      log,
      memory,
    }),
    invocations: createInvocationFeature({
      ...system,
      database,
      log,
      prices: { quote: () => undefined },
      statistics: { called: () => undefined, recorded: () => undefined, rated: () => undefined },
      budgets: createBudgetFeature({ ...system, database }),
      addedUpUntil: async () => undefined,
      retentionMs: 30 * 24 * 3_600_000,
      content: { mode: 'off', retentionMs: 1, secrets: createSecretBox(new Uint8Array(32)) },
    }).invocations,
    metrics: { setTestRunsActive: () => undefined },
    log,
    memory,
    keptBytes: createKeptBytes({ perKey: Infinity, perProcess: Infinity, monotonic: () => 0 }),
    retentionMs: 30 * 24 * 3_600_000,
    timeoutMs: 60_000,
    ...options,
  });
  return { testRuns, blobs };
}
