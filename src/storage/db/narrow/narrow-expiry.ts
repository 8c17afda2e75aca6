import type { Filter } from 'mongodb';
import type { Database } from '../client.ts';
import type { Pages } from '../pages.ts';
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

/**
 * Milliseconds of `expires_at` that one command reads. How many documents expire in a step is not known before it is
 * read, so the first steps are short: some hundred documents a second expire a month after a replay. While few expire,
 * steps double: after days without a running process there are many without a document.
 */
const minStepMs = 1_000;
const maxStepMs = 3_600_000;

/**
 * Removes expired documents by commands that each match few and are followed by a pause. A TTL index makes SecantusDB
 * read whole collections each minute and block all other commands meanwhile: 1.4 s for 25,000 deliveries.
 *
 * @param idsAtOnce ids that one command removes
 * @returns removes the expired documents of a collection. Any process may do it at any time.
 */
export function createNarrowExpiry({ db }: Database, idsAtOnce: number): Pages['removeExpired'] {
  const positions = db.collection<PositionDocument>('expiry');
  /** Collections in which this process has searched once before the position, for documents that others left. */
  const checked = new Set<string>();

  /** @param within with a lower bound: without one, all documents that never expire are read */
  const removeWithin = async (
    name: string,
    within: { $gte: Date; $lt: Date },
    pause: (removed: number) => Promise<void>,
  ): Promise<number> => {
    const collection = db.collection<ExpiringDocument>(name);
    const filter: Filter<ExpiringDocument> = { expires_at: within };
    const found = await read(() => collection.find(filter, { projection: { _id: 1 } }).toArray());
    await pause(0);
    for (let start = 0; start < found.length; start += idsAtOnce) {
      const ids = found.slice(start, start + idsAtOnce).map(({ _id }) => _id);
      // The filter includes the time, because a document may have got another one in the meantime.
      await writeIdempotently(() => collection.deleteMany({ _id: { $in: ids }, expires_at: within }));
      await pause(ids.length);
    }
    return found.length;
  };

  return async (name, end, pause) => {
    const position = await read(() => positions.findOne({ _id: name }));
    let since = position?.until ?? end;
    if (!checked.has(name)) await removeWithin(name, { $gte: new Date(0), $lt: since }, pause);
    checked.add(name);
    for (let stepMs = minStepMs; since < end;) {
      const until = new Date(Math.min(since.getTime() + stepMs, end.getTime()));
      const found = await removeWithin(name, { $gte: since, $lt: until }, pause);
      if (found < idsAtOnce / 2) stepMs = Math.min(2 * stepMs, maxStepMs);
      else if (found > 2 * idsAtOnce) stepMs = Math.max(minStepMs, stepMs / 2);
      since = until;
    }
    await writeIdempotently(() => positions.updateOne({ _id: name }, { $max: { until: end } }, { upsert: true }));
  };
}
