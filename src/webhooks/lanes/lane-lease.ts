/**
 * Leases without comparing clocks. The holder measures the end of its lease from before its write, on its own monotonic
 * clock. Another process takes the lane only after it has seen the lane's counter unchanged for the full term on its
 * own clock. It can only have seen this value after the holder's write, so the holder's lease has ended by then.
 */
import { createStalenessWatch } from '../../runtime/staleness-watch.ts';

/** A lane's counter, as another process sees it. */
export interface SeenLane {
  readonly integrationId: string;
  readonly holder: string | undefined;
  readonly token: number;
  /** Incremented by each renewal. */
  readonly beat: number;
}

/** Remembers since when the counters of other lanes have not changed. */
export interface LaneWatch {
  /** Whether the lane can be taken now: no process holds it, or its holder has not renewed it for a full term. */
  mayAcquire(lane: SeenLane): boolean;
}

/**
 * @param term milliseconds that a lease lasts
 * @param monotonic a clock in milliseconds that never goes back
 */
export function createLaneWatch(term: number, monotonic: () => number): LaneWatch {
  const watch = createStalenessWatch(monotonic);
  return {
    mayAcquire({ integrationId, holder, token, beat }) {
      if (holder !== undefined) return watch.observe(integrationId, `${token} ${beat}`).unchangedMs >= term;
      watch.forget(integrationId);
      return true;
    },
  };
}
