import { expiryIndex, type CollectionIndexes } from './indexes.ts';
import type { PagedDatabase } from './pages.ts';

export interface ExpiryDependencies {
  readonly database: PagedDatabase;
  /** The collections with {@link expiryIndex} are swept. */
  readonly indexes: readonly CollectionIndexes[];
  /** Wall-clock time. */
  readonly now: () => Date;
}

/**
 * Creates a sweep that removes documents of all collections after their `expires_at`. Any process may run it at any
 * time. A TTL index would leave this to the server, but some are slow at it or block all other commands meanwhile.
 */
export function createExpiry({ database: { pages }, indexes, now }: ExpiryDependencies): () => Promise<void> {
  const names = indexes
    .filter((declared) => declared.indexes.some(({ name }) => name === expiryIndex.name))
    .map(({ collection }) => collection);
  return async () => {
    const end = now();
    for (const name of names) await pages.removeExpired(name, end);
  };
}
