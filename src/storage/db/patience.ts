import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError, reasonOf } from '../../base/errors/problem-error.ts';
import { DatabaseStartError } from './client.ts';
import { isUnavailable } from './database-errors.ts';

export interface PatienceOptions {
  /** Milliseconds after which the last error is thrown. */
  readonly limitMs: number;
  /** Called after each failure that is followed by another attempt. */
  readonly onWait: (reason: string, waitedMs: number) => void;
  /** Ends the waiting with the last error. */
  readonly isOver?: () => boolean;
}

const pauseMs = 1_000;

/**
 * Repeats work while the database is unavailable. Some servers answer nobody else while they build or drop an index, for
 * longer than a request waits.
 */
export async function patiently<Result>(work: () => Promise<Result>, options: PatienceOptions): Promise<Result> {
  const begin = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const waitedMs = performance.now() - begin;
      if (!isTemporary(error) || waitedMs >= options.limitMs || options.isOver?.() === true) throw error;
      options.onWait(reasonOf(error), waitedMs);
      await sleep(pauseMs);
    }
  }
}

/** Whether an error, of the driver or of a store, means that the database is unavailable. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof DatabaseStartError) return isTemporary(error.cause);
  return isUnavailable(error) || (error instanceof ProblemError && error.type === 'database-unavailable');
}
