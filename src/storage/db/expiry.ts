import { setTimeout as sleep } from 'node:timers/promises';
import { doForEach } from '../../base/errors/outage.ts';
import { expiryIndex, type CollectionIndexes } from './indexes.ts';
import type { DatabaseLog } from './log.ts';
import type { PagedDatabase } from './pages.ts';

export interface ExpiryDependencies {
  readonly database: PagedDatabase;
  /** The collections with {@link expiryIndex} are swept. */
  readonly indexes: readonly CollectionIndexes[];
  /** Wall-clock time. */
  readonly now: () => Date;
  readonly log: DatabaseLog;
  /** Milliseconds after which a sweep of a collection says how far it is, again and again; shorter for tests. */
  readonly tellEveryMs?: number;
}

const longestPauseMs = 1_000;

/**
 * Creates a sweep that removes documents of all collections after their `expires_at`. Any process may run it at any
 * time. A TTL index would leave this to the server, but some are slow at it or block all other commands meanwhile. After
 * each command it pauses for as long as that took: days without a process leave millions of documents.
 */
export function createExpiry({
  database: { pages },
  indexes,
  now,
  log,
  tellEveryMs = 10_000,
}: ExpiryDependencies): () => Promise<void> {
  const names = indexes
    .filter((declared) => declared.indexes.some(({ name }) => name === expiryIndex.name))
    .map(({ collection }) => collection);
  return async () => {
    const end = now();
    await doForEach(names, async (collection) => {
      const began = performance.now();
      let [removed, told, last] = [0, began, began];
      await pages.removeExpired(collection, end, async (more) => {
        removed += more;
        const at = performance.now();
        if (at - told >= tellEveryMs) {
          told = at;
          log.info({ collection, removed }, 'removing expired documents');
        }
        await sleep(Math.min(at - last, longestPauseMs), undefined, { ref: false });
        last = performance.now();
      });
      if (told > began) log.info({ collection, removed }, 'the expired documents are removed');
    });
  };
}
