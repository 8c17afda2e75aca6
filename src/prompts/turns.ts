import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../errors/problem-error.ts';

/** Milliseconds that an edit waits for its turn. Meant to be short: turns save work, they are not what makes edits safe. */
const turnLimitMs = 2_000;
/** Milliseconds in which an edit has to win a race. */
const raceLimitMs = 5_000;
const longestPauseMs = 200;

/** Lets those who edit the same thing in this process go one after the other. */
export interface Turns {
  /** Does the work after the work before it under the same key has ended, or after 2 s. */
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
      const { promise: ended, resolve: end } = Promise.withResolvers<undefined>();
      const before = last.get(key);
      last.set(key, ended);
      try {
        if (before !== undefined) await within(turnLimitMs, before);
        return await work();
      } finally {
        end(undefined);
        if (last.get(key) === ended) last.delete(key);
      }
    },
  };
}

/**
 * Tries until a race is won, with growing random pauses.
 * @param attempt returns `undefined` when someone else was first
 * @throws {ProblemError} edit-conflict after 5 s of lost races
 */
export async function untilWon<Result>(
  attempt: () => Promise<Result | undefined>,
  random: () => number = Math.random,
): Promise<Result> {
  const end = performance.now() + raceLimitMs;
  for (let pause = 10; ; pause = Math.min(2 * pause, longestPauseMs)) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (performance.now() + pause > end) {
      throw new ProblemError('edit-conflict', {
        detail: 'The prompt was changed by others each time the change was about to be saved.',
      });
    }
    await sleep(pause * random());
  }
}

async function within(milliseconds: number, work: Promise<undefined>): Promise<void> {
  const waiting = new AbortController();
  const limit = sleep(milliseconds, undefined, { signal: waiting.signal }).catch(() => undefined);
  await Promise.race([work, limit]);
  waiting.abort();
}
