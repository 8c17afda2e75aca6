import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../errors/problem-error.ts';
import { within } from '../runtime/within.ts';

/** Milliseconds after which a turn is over, should its edit take that long: then the database is slow or away. */
const turnMs = 250;
/** Milliseconds that anyone waits for a turn. */
const waitLimitMs = 15_000;
/** Milliseconds in which an edit has to win a race. */
const raceLimitMs = 5_000;
/** What one attempt counts at most of that. One that takes longer has waited for a database that is away, and not raced. */
const longestRaceMs = 500;
const firstPauseMs = 10;
const longestPauseMs = 200;

/** Runs edits of the same resource in this process one after the other. */
export interface EditQueue {
  /**
   * Does the work after the previous work with the same key has ended or has taken longer than its turn. Turns only
   * save work; edits are safe without them.
   * @param otherwise done instead if the turn has not come within 15 s; an edit-conflict when left out
   */
  run<Result>(key: string, work: () => Promise<Result>, otherwise?: () => Promise<Result>): Promise<Result>;
}

/**
 * Without this, of a hundred simultaneous edits of one resource all but one would lose their compare-and-set and start
 * again. This can still happen between processes; {@link retryLostRaces} handles it.
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
        // Whoever comes next still has to wait for those before.
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
 * Repeats an attempt until it wins its race, with growing random pauses.
 * @param attempt returns `undefined` when someone else was first
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
