import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../errors/problem-error.ts';
import { within } from '../runtime/within.ts';

/** The longest turn, in milliseconds. If an edit takes longer, the database is slow or unavailable. */
const turnMs = 250;
/** The longest wait for a turn, in milliseconds. */
const waitLimitMs = 15_000;
/** Milliseconds within which an edit must win a race. */
const raceLimitMs = 5_000;
/** The most milliseconds that one attempt counts. A longer attempt has waited for an unavailable database. */
const longestRaceMs = 500;
const firstPauseMs = 10;
const longestPauseMs = 200;

/** Runs edits of the same resource in this process one after the other. */
export interface EditQueue {
  /**
   * Does the work after the previous work with the same key has ended or has taken longer than its turn. Turns only
   * reduce work; edits are also safe without them.
   * @param otherwise runs instead if there was no turn within 15 s; if left out, an edit-conflict is thrown
   */
  run<Result>(key: string, work: () => Promise<Result>, otherwise?: () => Promise<Result>): Promise<Result>;
}

/**
 * Without this, only one of a hundred simultaneous edits of one resource would win its compare-and-set, and the others
 * would start again. This can still happen between processes; {@link retryLostRaces} handles it.
 */
export function createEditQueue(): EditQueue {
  const last = new Map<string, Promise<undefined>>();
  return {
    async run(key, work, otherwise = () => Promise.reject(editConflict())) {
      const { promise: over, resolve } = Promise.withResolvers<undefined>();
      const end = (): void => {
        resolve(undefined);
        if (last.get(key) === over) last.delete(key);
      };
      const before = last.get(key);
      last.set(key, over);
      if (
        before !== undefined &&
        !(await within(
          waitLimitMs,
          before.then(() => true),
          () => false,
        ))
      ) {
        // The next entrant still waits for the earlier ones.
        void before.then(end);
        return await otherwise();
      }
      const limit = setTimeout(end, turnMs);
      try {
        return await work();
      } finally {
        clearTimeout(limit);
        end();
      }
    },
  };
}

/**
 * Repeats an attempt until it wins its race, with increasing random pauses.
 * @param attempt returns `undefined` if another writer was first
 * @throws {ProblemError} edit-conflict after 5 s of lost races
 */
export async function retryLostRaces<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  let elapsed = 0;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    const started = performance.now();
    const result = await attempt();
    if (result !== undefined) return result;
    const wait = pause * Math.random();
    elapsed += Math.min(performance.now() - started, longestRaceMs) + wait;
    if (elapsed > raceLimitMs) throw editConflict();
    await sleep(wait);
  }
}

/** The failure of an edit that lost too many races. */
function editConflict(): ProblemError {
  return new ProblemError('edit-conflict', {
    detail: 'Other requests changed the resource each time before this change was saved.',
  });
}
