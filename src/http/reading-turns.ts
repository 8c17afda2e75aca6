import { ProblemError } from '../base/errors/problem-error.ts';
import { createFairQueue } from '../base/limits/fair-queue.ts';

/** Reads that take turns, fairly by family of keys. */
export interface ReadingTurns {
  /**
   * Reads when a place is free.
   * @param signal ends the wait
   * @throws the failure of another read if the database is unavailable, and the reason of `signal`
   */
  read<Result>(family: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** Ends all waits with the failure of a read, when the database is unavailable. */
  readonly outage: AbortSignal;
}

/** @param places reads that go on at the same time */
export function createReadingTurns(places: number): ReadingTurns {
  const reading = createFairQueue({ places });
  let outage = new AbortController();
  return {
    async read(family, work, signal) {
      const ended = signal === undefined ? outage.signal : AbortSignal.any([signal, outage.signal]);
      const leave = await reading.enter({ key: family, signal: ended });
      try {
        return await work();
      } catch (error) {
        // Otherwise each read would take seconds, one after the other, to fail in the same way.
        if (isDatabaseOutage(error)) {
          outage.abort(error);
          outage = new AbortController();
        }
        throw error;
      } finally {
        leave();
      }
    },
    get outage() {
      return outage.signal;
    },
  };
}

/** Object storage is left out: most of what waits does not read it. */
function isDatabaseOutage(error: unknown): boolean {
  return error instanceof ProblemError && ['database-unavailable', 'storage-full'].includes(error.type);
}
