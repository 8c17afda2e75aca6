import { LRUCache } from 'lru-cache';

/**
 * Watches leases without comparing clocks. A holder changes a mark while it lives. Another process can take over after
 * it has seen the mark unchanged for the whole term on its own monotonic clock.
 */
export interface StalenessWatch {
  /**
   * Records a mark that was just read.
   * @param readAt when the reading began, on the monotonic clock; now when left out
   */
  observe(id: string, mark: string, readAt?: number): Sighting;
  forget(id: string): void;
  /** Forgets all others. */
  keepOnly(ids: ReadonlySet<string>): void;
}

export interface Sighting {
  /** Milliseconds for which the mark has been seen unchanged. */
  readonly unchangedMs: number;
  /** Whether the mark has changed since it was last seen, which means that its holder lives. */
  readonly hasMoved: boolean;
}

/** Maximum number of stored marks. For a dropped mark, the waiting starts again. */
const maxRemembered = 100_000;

export function createStalenessWatch(monotonic: () => number): StalenessWatch {
  // `maxSize`, because `max` would reserve memory for all of them at once.
  const seen = new LRUCache<string, { mark: string; since: number }>({
    maxSize: maxRemembered,
    sizeCalculation: () => 1,
  });
  return {
    observe(id, mark, readAt = monotonic()) {
      const before = seen.get(id);
      if (before?.mark === mark) return { unchangedMs: readAt - before.since, hasMoved: false };
      // Measured from after the read, because the mark may have moved until then.
      seen.set(id, { mark, since: monotonic() });
      return { unchangedMs: 0, hasMoved: before !== undefined };
    },
    forget(id) {
      seen.delete(id);
    },
    keepOnly(ids) {
      for (const id of [...seen.keys()]) if (!ids.has(id)) seen.delete(id);
    },
  };
}
