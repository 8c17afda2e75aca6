import type { Db } from 'mongodb';
import { readOnly } from '../../base/errors/read-only.ts';
import { overriding } from '../../base/runtime/overriding.ts';

/** The methods of the driver that write, of a database and of a collection. */
const writes = [
  ...['insertOne', 'insertMany', 'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany', 'bulkWrite'],
  ...['findOneAndUpdate', 'findOneAndReplace', 'findOneAndDelete', 'drop', 'rename'],
  ...['createIndex', 'createIndexes', 'dropIndex', 'dropIndexes', 'createCollection', 'dropCollection', 'dropDatabase'],
] as const;

/**
 * The same database for a process that changes nothing. Writes fail before they are sent, with the problem `read-only`:
 * requests that would write are refused earlier, and this makes sure that nothing was forgotten.
 */
export function withoutWrites(db: Db): Db {
  const refuse = (): Promise<never> => Promise.reject(readOnly());
  const refusals = Object.fromEntries(writes.map((name) => [name, refuse]));
  return overriding(db, {
    ...refusals,
    collection: (name: string) => overriding(db.collection(name), refusals),
  });
}
