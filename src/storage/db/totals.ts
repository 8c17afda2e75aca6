import { LRUCache } from 'lru-cache';
import type { Total } from '../../base/lists/listing.ts';
import { shareReads } from '../../base/runtime/shared-reads.ts';
import type { Source, Stored } from './pages.ts';

/** The length from which counting a list costs more than reading a page of it. */
const long = 2_000;
const keptMs = 2_000;

/**
 * Creates a function that counts a list once for all callers that want its total at the same time. A total is counted
 * after the request for it, except that of a long list, which can be up to 2 s old.
 */
export function createTotals<T extends Stored>(
  count: (source: Source<T>) => Promise<Total>,
): (source: Source<T>) => Promise<Total> {
  const known = new LRUCache<string, { readonly total: Total; readonly until: number }>({ max: 1_000 });
  const shared = shareReads(async (key: string, source: Source<T>) => {
    const startedAt = performance.now();
    const total = await count(source);
    if (typeof total !== 'number' || total > long) known.set(key, { total, until: startedAt + keptMs });
    return total;
  });
  return async (source) => {
    const key = JSON.stringify([source.collection.collectionName, source.where, source.span, source.rest]);
    const kept = known.get(key);
    return kept !== undefined && performance.now() < kept.until ? kept.total : shared(key, source);
  };
}
