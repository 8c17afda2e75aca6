import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../errors/problem-error.ts';

/** Milliseconds within which a race must be won. */
const raceLimitMs = 5_000;
/** The most milliseconds that one attempt counts. A longer attempt has waited for an unavailable database. */
const longestRaceMs = 500;
const firstPauseMs = 10;
const longestPauseMs = 200;

/**
 * Repeats an attempt until it wins its race, with increasing random pauses. A race can also be lost against a write that
 * no majority has confirmed yet: it is not found, and cannot be changed.
 *
 * @param attempt returns `undefined` if another writer was first
 * @param failure creates what is thrown after 5 s of lost races; by default `database-unavailable`
 */
export async function retryLostRaces<Result>(
  attempt: () => Promise<Result | undefined>,
  failure: () => Error = tooManyChanges,
): Promise<Result> {
  let elapsed = 0;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    const started = performance.now();
    const result = await attempt();
    if (result !== undefined) return result;
    const wait = pause * Math.random();
    elapsed += Math.min(performance.now() - started, longestRaceMs) + wait;
    if (elapsed > raceLimitMs) throw failure();
    await sleep(wait);
  }
}

function tooManyChanges(): ProblemError {
  return new ProblemError('database-unavailable', {
    detail: 'Too many changes at the same time. Try again shortly.',
    headers: { 'Retry-After': '2' },
  });
}
