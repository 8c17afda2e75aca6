import { LRUCache } from 'lru-cache';
import { shareReads } from '../runtime/shared-reads.ts';

/** How many entries lists have. */
export interface Totals {
  /**
   * Counts a list, together with all others who want its total at the same time. Nobody gets a total that was counted
   * before they asked, but for that of a long list, which may be as old as 2 s.
   * @param key the list, by its filter
   */
  of(key: string, count: () => Promise<number>): Promise<number>;
}

/** From here on a list is long: to count it for each page would cost more than to read the page. */
const long = 2_000;
const keptMs = 2_000;

/** @param monotonic milliseconds that never go back */
export function createTotals(monotonic: () => number = () => performance.now()): Totals {
  const known = new LRUCache<string, { readonly total: number; readonly until: number }>({ max: 1_000 });
  const shared = shareReads(async (key: string, count: () => Promise<number>) => {
    const startedAt = monotonic();
    const total = await count();
    if (total > long) known.set(key, { total, until: startedAt + keptMs });
    return total;
  });
  return {
    async of(key, count) {
      const kept = known.get(key);
      return kept !== undefined && monotonic() < kept.until ? kept.total : shared(key, count);
    },
  };
}
