/**
 * Removes documents after their `expires_at`. MongoDB can do this itself with a TTL index, but some compatible servers
 * then read whole collections each minute and block all other commands meanwhile: 1.4 s for 25,000 deliveries on
 * SecantusDB. Here each command matches few documents and is followed by a pause.
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

/** How far the removal has come, by collection: everything that expired earlier is removed. */
interface PositionDocument {
  _id: string;
  until: Date;
}

export interface ExpiryDependencies {
  readonly database: Database;
  /** The collections with {@link expiryIndex} are swept. */
  readonly indexes: readonly CollectionIndexes[];
  /** Wall-clock time. */
  readonly now: () => Date;
  /** Milliseconds between two commands. @default 20 */
  readonly pauseMs?: number;
}

/**
 * Milliseconds of `expires_at` that one command reads. How many documents expire in a step is not known before it is
 * read, so steps are short: some hundred documents a second expire a month after a replay. They are longer after days
 * without a running process.
 */
const minStepMs = 1_000;
const maxStepMs = 64_000;
const stepsToNow = 16;

/** @returns a sweep, which removes the expired documents of all collections. Any process may run it at any time. */
export function createExpiry({ database, indexes, now, pauseMs = 20 }: ExpiryDependencies): () => Promise<void> {
  const positions = database.db.collection<PositionDocument>('expiry');
  const names = indexes
    .filter((declared) => declared.indexes.some(({ name }) => name === expiryIndex.name))
    .map(({ collection }) => collection);
  /**
   * Collections in which this process has searched once before the position, for documents that other processes left.
   */
  const checked = new Set<string>();

  /** @param within with a lower bound: without one, some servers read all documents that never expire */
  const removeWithin = async (name: string, within: { $gte: Date; $lt: Date }): Promise<void> => {
    const collection = database.db.collection<ExpiringDocument>(name);
    const filter: Filter<ExpiringDocument> = { expires_at: within };
    const found = await read(() => collection.find(filter, { projection: { _id: 1 } }).toArray());
    for (let start = 0; start < found.length; start += idsAtOnce) {
      const ids = found.slice(start, start + idsAtOnce).map(({ _id }) => _id);
      // The filter includes the time, because a document may have got another one in the meantime.
      await withRetry(() => collection.deleteMany({ _id: { $in: ids }, expires_at: within }));
      await sleep(pauseMs);
    }
  };

  const sweep = async (name: string, end: Date): Promise<void> => {
    const position = await read(() => positions.findOne({ _id: name }));
    let since = position?.until ?? end;
    if (!checked.has(name)) await removeWithin(name, { $gte: new Date(0), $lt: since });
    checked.add(name);
    while (since < end) {
      const left = end.getTime() - since.getTime();
      const step = Math.min(left, maxStepMs, Math.max(minStepMs, left / stepsToNow));
      const until = new Date(since.getTime() + Math.ceil(step));
      await removeWithin(name, { $gte: since, $lt: until });
      since = until;
    }
    await withRetry(() => positions.updateOne({ _id: name }, { $max: { until: end } }, { upsert: true }));
  };

  return async () => {
    const end = now();
    for (const name of names) await sweep(name, end);
  };
}
