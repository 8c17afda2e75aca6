import type { Collection, Db, Document } from 'mongodb';
import { read, writeIdempotently } from './writes.ts';

/** A collection for each day, dropped as a whole. Every method can throw `database-unavailable`. */
export interface DayCollections<T extends Document> {
  /** @param day such as `20261105` */
  of(day: string): Collection<T>;
  /** The days that have a collection, the newest first. */
  days(): Promise<string[]>;
  drop(day: string): Promise<void>;
}

/** @param prefix of the collections, of small letters and `_` */
export function createDayCollections<T extends Document>(db: Db, prefix: string): DayCollections<T> {
  const collections = new Map<string, Collection<T>>();
  const form = new RegExp(`^${prefix}\\d{8}$`);
  const of = (day: string): Collection<T> => {
    let collection = collections.get(day);
    if (collection === undefined) collections.set(day, (collection = db.collection<T>(prefix + day)));
    return collection;
  };
  return {
    of,
    async days() {
      const found = await read(() => db.listCollections({}, { nameOnly: true }).toArray());
      const days = found.flatMap(({ name }) => (form.test(name) ? [name.slice(prefix.length)] : []));
      return days.sort((a, b) => (a < b ? 1 : -1));
    },
    async drop(day) {
      await writeIdempotently(() => of(day).drop());
      collections.delete(day);
    },
  };
}
