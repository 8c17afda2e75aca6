import { LRUCache } from 'lru-cache';
import type { Total } from '../lists/listing.ts';
import { shareReads } from '../runtime/shared-reads.ts';

/** How many entries lists have. */
export interface Totals {
  /**
   * Counts a list once for all callers that want its total at the same time. A total is counted after the request for
   * it, except that of a long list, which can be up to 2 s old.
   * @param key the list, by its filter
   */
  of(key: string, count: () => Promise<Total>): Promise<Total>;
}

/** The length from which counting a list costs more than reading a page of it. */
const long = 2_000;
const keptMs = 2_000;

/** @param monotonic a clock in milliseconds that never goes back */
export function createTotals(monotonic: () => number = () => performance.now()): Totals {
  const known = new LRUCache<string, { readonly total: Total; readonly until: number }>({ max: 1_000 });
  const shared = shareReads(async (key: string, count: () => Promise<Total>) => {
    const startedAt = monotonic();
    const total = await count();
    if (typeof total !== 'number' || total > long) known.set(key, { total, until: startedAt + keptMs });
    return total;
  });
  return {
    async of(key, count) {
      const kept = known.get(key);
      return kept !== undefined && monotonic() < kept.until ? kept.total : shared(key, count);
    },
  };
}
