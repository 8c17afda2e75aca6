import type { Logger } from 'pino';
import type { ResultArchive } from './result-archive.ts';
import type { StaleRuns } from './stale-runs.ts';
import type { TestRunStore } from './test-run-store.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';

export interface StaleInterruptionDependencies {
  readonly store: Pick<TestRunStore, 'heartbeats' | 'end'>;
  readonly archive: Pick<ResultArchive, 'delete'>;
  readonly staleRuns: StaleRuns;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Creates the function that interrupts runs without heartbeats, of any process. If the process of such a run still
 * lives, it finds that its run has ended and deletes the results that it stored.
 */
export function createStaleInterruption(dependencies: StaleInterruptionDependencies): () => Promise<void> {
  const { store, archive, staleRuns, clock, random, log } = dependencies;
  return async () => {
    for (const { id, beat } of staleRuns.observe(await store.heartbeats())) {
      const end = { status: 'interrupted', at: clock.now(), writeId: random.uuid(), beat } as const;
      if ((await store.end(id, end)).outcome !== 'ended') continue;
      log.warn({ test_run: id }, 'a test run stopped unexpectedly; its status is now interrupted');
      // Its process may have died after it stored the results and before it recorded the end.
      await archive.delete(id).catch((error: unknown) => {
        log.warn({ error, test_run: id }, 'the results of an interrupted test run could not be deleted');
      });
    }
  };
}
