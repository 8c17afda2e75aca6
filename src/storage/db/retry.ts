import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../base/runtime/within.ts';
import {
  DatabaseDeadlineError,
  databaseUnavailable,
  isClosed,
  isOutOfSpace,
  isUnavailable,
  refusesCredentials,
} from './database-errors.ts';

/** Milliseconds that all attempts of one operation may take together. After that the caller gets a 503. */
const DEFAULT_BUDGET_MS = 6_000;
const FIRST_PAUSE_MS = 30;
const LONGEST_PAUSE_MS = 500;

export interface RetryOptions {
  /** Milliseconds for all attempts together; 6,000 by default. */
  budgetMs?: number;
  /** The most attempts; by default as many as fit into the budget. */
  attempts?: number;
}

/**
 * Runs an operation that may safely run more than once, and repeats it while the database is unavailable.
 *
 * @throws ProblemError `database-unavailable` (503) when the budget or the attempts are used up, or when the database
 *   refuses the credentials; `storage-full` (503) when it says that it has no space left; any other error unchanged.
 */
export async function withRetry<Result>(
  operation: () => Promise<Result>,
  { budgetMs = DEFAULT_BUDGET_MS, attempts = Number.POSITIVE_INFINITY }: RetryOptions = {},
): Promise<Result> {
  const end = performance.now() + budgetMs;
  let pause = FIRST_PAUSE_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      // The driver has no such limit: `timeoutMS` has no effect since 7.9, and the socket time-out only ends silence.
      return await within(Math.max(0, end - performance.now()), operation(), () => {
        throw new DatabaseDeadlineError(budgetMs);
      });
    } catch (error) {
      if (!isUnavailable(error) && !refusesCredentials(error)) throw error;
      const wait = pause * (0.5 + Math.random());
      const isPointless = isClosed(error) || isOutOfSpace(error) || refusesCredentials(error);
      if (isPointless || attempt >= attempts || performance.now() + wait >= end) throw databaseUnavailable(error);
      await sleep(wait);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }
}
