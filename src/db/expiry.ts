/**
 * Removes documents once their `expires_at` is over. MongoDB does that by itself where an index asks for it (TTL), but
 * there are compatible servers that then read whole collections each minute and let nobody else in meanwhile: 1.4 s for
 * 25,000 deliveries on SecantusDB. Here each command matches few documents, and a pause follows.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Filter } from 'mongodb';
import type { Database } from './client.ts';
import { expiryIndex, type CollectionIndexes } from './indexes.ts';
import { idsAtOnce } from './narrow-reads.ts';
import { withRetry } from './retry.ts';
import { read } from './writes.ts';

interface ExpiringDocument {
  _id: string;
  expires_at: Date;
}

/** How far the removal has come, by collection: what expired before is gone. */
interface PositionDocument {
  _id: string;
  until: Date;
}

export interface ExpiryDependencies {
  readonly database: Database;
  /** Those with {@link expiryIndex} are swept. */
  readonly indexes: readonly CollectionIndexes[];
  /** Wall-clock time. */
  readonly now: () => Date;
  /** Milliseconds between two commands. @default 20 */
  readonly pauseMs?: number;
}

/** Milliseconds of `expires_at` that one command looks at: to begin with, and at most. */
const firstStepMs = 60_000;
const longestStepMs = 24 * 3_600_000;

/** @returns a sweep: it removes what has expired by now, of all collections. Any process may run it at any time. */
export function createExpiry({ database, indexes, now, pauseMs = 20 }: ExpiryDependencies): () => Promise<void> {
  const positions = database.db.collection<PositionDocument>('expiry');
  const names = indexes
    .filter((declared) => declared.indexes.some(({ name }) => name === expiryIndex.name))
    .map(({ collection }) => collection);
  /** Collections in which this process has looked once for what others left before their position. */
  const checked = new Set<string>();

  /** @param within with a lower bound: without one there are servers that read all documents that never expire */
  const removeWithin = async (name: string, within: { $gte: Date; $lt: Date }): Promise<number> => {
    const collection = database.db.collection<ExpiringDocument>(name);
    const filter: Filter<ExpiringDocument> = { expires_at: within };
    const found = await read(() => collection.find(filter, { projection: { _id: 1 } }).toArray());
    for (let start = 0; start < found.length; start += idsAtOnce) {
      const ids = found.slice(start, start + idsAtOnce).map(({ _id }) => _id);
      // With the time: one may have got another meanwhile.
      await withRetry(() => collection.deleteMany({ _id: { $in: ids }, expires_at: within }));
      await sleep(pauseMs);
    }
    return found.length;
  };

  const sweep = async (name: string, end: Date): Promise<void> => {
    const position = await read(() => positions.findOne({ _id: name }));
    let since = position?.until ?? new Date(end.getTime() - firstStepMs);
    if (!checked.has(name)) await removeWithin(name, { $gte: new Date(0), $lt: since });
    checked.add(name);
    for (let step = firstStepMs; since < end;) {
      const until = new Date(Math.min(end.getTime(), since.getTime() + step));
      const removed = await removeWithin(name, { $gte: since, $lt: until });
      await withRetry(() => positions.updateOne({ _id: name }, { $max: { until } }, { upsert: true }));
      since = until;
      step = Math.max(1_000, Math.min(longestStepMs, 4 * step, Math.floor((step * 2 * idsAtOnce) / (removed + 1))));
    }
  };

  return async () => {
    const end = now();
    for (const name of names) await sweep(name, end);
  };
}
