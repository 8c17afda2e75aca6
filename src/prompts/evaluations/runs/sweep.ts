/** What is deleted of evaluations: with their prompt, when their time is over, and what no document leads to. */
import { doForEach, doSteps } from '../../../base/errors/outage.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { EvaluationStore } from './evaluation-store.ts';
import type { EvaluationResults } from './result-archive.ts';

export interface SweepDependencies {
  readonly store: Pick<
    EvaluationStore,
    'entries' | 'leftovers' | 'forgetPending' | 'expired' | 'forgetEntries' | 'someOf' | 'bury'
  >;
  readonly results: Pick<EvaluationResults, 'delete'>;
  readonly clock: Pick<Clock, 'now'>;
}

type Leftover = Awaited<ReturnType<EvaluationStore['leftovers']>>[number];

/** Evaluations at the same time. */
const atOnce = 20;
/** No process is as late with an object that it has announced, in milliseconds. */
const longestPutMs = 24 * 3_600_000;

/** Deletes results whose time is over, and objects that never came to count. Call it every minute. */
export function createSweep({ store, results, clock }: SweepDependencies): () => Promise<void> {
  return async () => {
    const now = clock.now();
    const sweepLeft = async ({ id, names }: Leftover): Promise<void> => {
      for (const name of names) await results.delete(name);
      await store.forgetPending(id, names);
    };
    const sweepExpired = async (id: string): Promise<void> => {
      // The objects first: without their names, nothing would lead to them.
      for (const { name } of await store.entries(id)) await results.delete(name);
      await store.forgetEntries(id);
    };
    const steps = {
      leftovers: async () =>
        doForEach(await store.leftovers(new Date(now.getTime() - longestPutMs), atOnce), sweepLeft),
      expired: async () => doForEach(await store.expired(now, atOnce), sweepExpired),
    };
    await doSteps(steps);
  };
}

/** Deletes an evaluation. A process that works on it may store results once more; the sweep deletes these. */
export function createRemoval({ store, results, clock }: SweepDependencies): (id: string) => Promise<void> {
  return async (id) => {
    for (const name of await store.bury(id, clock.now())) await results.delete(name);
  };
}

/** Deletes all evaluations of a prompt. The next call continues. @throws {ProblemError} storage-unavailable */
export function createDeletion(dependencies: SweepDependencies): (promptId: string) => Promise<void> {
  const remove = createRemoval(dependencies);
  return async (promptId) => {
    for (;;) {
      const ids = await dependencies.store.someOf(promptId, atOnce);
      if (ids.length === 0) return;
      for (const id of ids) await remove(id);
    }
  };
}
