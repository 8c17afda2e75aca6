import type { ResultArchive } from './result-archive.ts';
import type { TestRunStore } from './test-run-store.ts';
import type { Clock } from '../runtime/clock.ts';

export interface ExpiryDependencies {
  readonly store: Pick<TestRunStore, 'endedBefore' | 'remove'>;
  readonly archive: Pick<ResultArchive, 'delete'>;
  readonly retentionMs: number;
  readonly clock: Clock;
}

const day = 24 * 60 * 60 * 1_000;
/** Number of ranges of ids. Ids are random, so the ranges have about the same number of runs. */
const ranges = 256;
/** Results removed at the same time. */
const atOnce = 20;

/**
 * Creates a function for calls every few seconds. It goes through all test runs once a day and deletes those that ended
 * too long ago, their results first. Each call handles one range of ids.
 */
export function createExpiry(dependencies: ExpiryDependencies): () => Promise<void> {
  const { store, archive, retentionMs, clock } = dependencies;
  let range = 0;
  let nextRoundAt = clock.monotonic();

  return async () => {
    if (range === 0 && clock.monotonic() < nextRoundAt) return;
    const ids = await store.endedBefore(
      new Date(clock.now().getTime() - retentionMs),
      prefix(range),
      prefix(range + 1),
    );
    for (let start = 0; start < ids.length; start += atOnce) {
      const some = ids.slice(start, start + atOnce);
      await Promise.all(some.map((id) => archive.delete(id)));
      await store.remove(some);
    }
    range = (range + 1) % ranges;
    if (range === 0) nextRoundAt = clock.monotonic() + day;
  };
}

/** The beginning of a range of UUIDs: its first two digits. The end of the last range is greater than any digit. */
function prefix(range: number): string {
  return range < ranges ? range.toString(16).padStart(2, '0') : 'g';
}
