import type { ResultArchive } from './result-archive.ts';
import type { TestRun } from './test-run.ts';
import type { TestRunStore } from './test-run-store.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';

export interface DeletionDependencies {
  readonly store: Pick<TestRunStore, 'someOf' | 'end' | 'leaveTombstones' | 'remove'>;
  readonly archive: Pick<ResultArchive, 'delete'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Runs removed at the same time. */
const batchSize = 50;

/**
 * Creates the function that removes all runs of a prompt: results first, so that an interrupted removal can be
 * continued.
 *
 * It throws ProblemError `storage-unavailable` if results cannot be removed now. The next call continues.
 */
export function createDeletion({
  store,
  archive,
  clock,
  random,
}: DeletionDependencies): (promptId: string) => Promise<void> {
  const ended = async (run: TestRun): Promise<Pick<TestRun, 'id' | 'status'>> => {
    if (run.status !== 'running') return run;
    const at = clock.now();
    const result = await store.end(run.id, { status: 'interrupted', at, writeId: random.uuid() });
    return result.outcome === 'lost' ? result.run : { id: run.id, status: 'interrupted' };
  };
  return async (promptId) => {
    for (;;) {
      const found = await store.someOf(promptId, batchSize);
      if (found.length === 0) return;
      // The end of a run never changes, so from now on no process records results for these runs.
      const runs = await Promise.all(found.map(ended));
      await Promise.all(runs.map(({ id }) => archive.delete(id)));
      const idsOf = (interrupted: boolean): string[] =>
        runs.filter(({ status }) => (status === 'interrupted') === interrupted).map(({ id }) => id);
      // The process of an interrupted run may store its results later, and end before it notices the interruption. So
      // the id is kept for a day, and then the results are removed again.
      await store.leaveTombstones(idsOf(true), clock.now());
      await store.remove(idsOf(false));
    }
  };
}
