import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../errors/problem-error.ts';

/** Milliseconds after which a turn is over, should its edit take that long: then the database is slow or away. */
const turnMs = 250;
/** Milliseconds that an edit waits for its turn at most. */
const waitLimitMs = 5_000;
/** Milliseconds in which an edit has to win a race. */
const raceLimitMs = 5_000;
const firstPauseMs = 10;
const longestPauseMs = 200;

/** Lets those who edit the same thing in this process go one after the other. */
export interface Turns {
  /**
   * Does the work once the work before it under the same key has ended. Turns save work, they are not what makes edits
   * safe: nobody waits long for one.
   */
  take<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}

/**
 * Of a hundred edits of one prompt at the same time, all but one would lose their compare-and-set and start again.
 * Across processes they still may; that is what {@link untilWon} is for.
 */
export function createTurns(): Turns {
  const last = new Map<string, Promise<undefined>>();
  return {
    async take(key, work) {
      const { promise: over, resolve } = Promise.withResolvers<undefined>();
      const end = (): void => {
        resolve(undefined);
        if (last.get(key) === over) last.delete(key);
      };
      const before = last.get(key);
      last.set(key, over);
      if (before !== undefined) await within(waitLimitMs, before);
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
 * Tries until a race is won, with growing random pauses.
 * @param attempt returns `undefined` when someone else was first
 * @throws {ProblemError} edit-conflict after 5 s of lost races
 */
export async function untilWon<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  const end = performance.now() + raceLimitMs;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (performance.now() + pause > end) {
      throw new ProblemError('edit-conflict', {
        detail: 'The prompt was changed by others each time the change was about to be saved.',
      });
    }
    await sleep(pause * Math.random());
  }
}

async function within(milliseconds: number, work: Promise<undefined>): Promise<void> {
  const waiting = new AbortController();
  const limit = sleep(milliseconds, undefined, { signal: waiting.signal }).catch(() => undefined);
  await Promise.race([work, limit]);
  waiting.abort();
}
