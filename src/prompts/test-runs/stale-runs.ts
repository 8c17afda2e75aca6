import { createStalenessWatch } from '../../base/runtime/staleness-watch.ts';
import type { Heartbeat } from './test-run-store.ts';

/** Finds runs that no process works on any more. */
export interface StaleRuns {
  /**
   * Records the current heartbeats of all running runs.
   * @returns those that have not changed for a full term
   */
  observe(heartbeats: readonly Heartbeat[]): Heartbeat[];
}

/**
 * Creates an observer. It compares no clocks: a run is stale if this process has seen its heartbeat unchanged for the
 * full term on its own monotonic clock. After two thirds of the term without an observation the term starts again,
 * because the cause, such as an outage of the database, may also have prevented heartbeats.
 *
 * @param termMs several times the interval of heartbeats
 * @param monotonic a clock in milliseconds that never goes back
 */
export function createStaleRuns(termMs: number, monotonic: () => number): StaleRuns {
  const watch = createStalenessWatch(monotonic);
  let observedAt = monotonic();
  return {
    observe(heartbeats) {
      const now = monotonic();
      const hasPaused = now - observedAt > (termMs * 2) / 3;
      observedAt = now;
      watch.keepOnly(hasPaused ? new Set() : new Set(heartbeats.map(({ id }) => id)));
      return heartbeats.filter(({ id, beat }) => watch.observe(id, String(beat), now).unchangedMs >= termMs);
    },
  };
}
