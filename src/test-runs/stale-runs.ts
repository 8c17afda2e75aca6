import type { Heartbeat } from './test-run-store.ts';

/** Tells which runs nobody works on any more. */
export interface StaleRuns {
  /**
   * Takes in the heartbeats of all running runs as they are now.
   * @returns those that have not changed for a full term
   */
  observe(heartbeats: readonly Heartbeat[]): Heartbeat[];
}

/**
 * Makes an observer. It compares no clocks: a run is stale when this process has seen its heartbeat unchanged for the
 * full term on its own monotonic clock. When it has not looked for two thirds of the term, the term starts anew,
 * because whatever kept it from looking, such as an outage of the database, may have kept the heart from beating.
 *
 * @param termMs several times the interval of heartbeats
 * @param now monotonic, in milliseconds
 */
export function createStaleRuns(termMs: number, now: () => number = () => performance.now()): StaleRuns {
  let seen = new Map<string, { beat: number; since: number }>();
  let lookedAt = now();
  return {
    observe(heartbeats) {
      const at = now();
      if (at - lookedAt > (termMs * 2) / 3) seen.clear();
      lookedAt = at;
      const before = seen;
      seen = new Map();
      return heartbeats.filter(({ id, beat }) => {
        const known = before.get(id);
        const since = known?.beat === beat ? known.since : at;
        seen.set(id, { beat, since });
        return at - since >= termMs;
      });
    },
  };
}
