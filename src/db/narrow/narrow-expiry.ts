import { setTimeout as sleep } from 'node:timers/promises';
import type { Filter } from 'mongodb';
import type { Database } from '../client.ts';
import { read, writeIdempotently } from '../writes.ts';

interface ExpiringDocument {
  _id: string;
  expires_at: Date;
}

/** How far the removal has come, by collection: everything that expired earlier is removed. */
interface PositionDocument {
  _id: string;
  until: Date;
}

export interface NarrowExpiryOptions {
  /** Ids that one command removes. */
  readonly idsAtOnce: number;
  /** Milliseconds between two commands. */
  readonly pauseMs: number;
}

/**
 * Milliseconds of `expires_at` that one command reads. How many documents expire in a step is not known before it is
 * read, so steps are short: some hundred documents a second expire a month after a replay. They are longer after days
 * without a running process.
 */
const minStepMs = 1_000;
const maxStepMs = 64_000;
const stepsToNow = 16;

/**
 * Removes expired documents by commands that each match few and are followed by a pause. A TTL index makes SecantusDB
 * read whole collections each minute and block all other commands meanwhile: 1.4 s for 25,000 deliveries.
 *
 * @returns removes the expired documents of a collection. Any process may do it at any time.
 */
export function createNarrowExpiry(
  { db }: Database,
  { idsAtOnce, pauseMs }: NarrowExpiryOptions,
): (collection: string, now: Date) => Promise<void> {
  const positions = db.collection<PositionDocument>('expiry');
  /** Collections in which this process has searched once before the position, for documents that others left. */
  const checked = new Set<string>();

  /** @param within with a lower bound: without one, all documents that never expire are read */
  const removeWithin = async (name: string, within: { $gte: Date; $lt: Date }): Promise<void> => {
    const collection = db.collection<ExpiringDocument>(name);
    const filter: Filter<ExpiringDocument> = { expires_at: within };
    const found = await read(() => collection.find(filter, { projection: { _id: 1 } }).toArray());
    for (let start = 0; start < found.length; start += idsAtOnce) {
      const ids = found.slice(start, start + idsAtOnce).map(({ _id }) => _id);
      // The filter includes the time, because a document may have got another one in the meantime.
      await writeIdempotently(() => collection.deleteMany({ _id: { $in: ids }, expires_at: within }));
      await sleep(pauseMs);
    }
  };

  return async (name, end) => {
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
    await writeIdempotently(() => positions.updateOne({ _id: name }, { $max: { until: end } }, { upsert: true }));
  };
}
