import { randomBytes } from 'node:crypto';
import { Binary, type Collection } from 'mongodb';
import { insertMissing } from '../../../storage/db/bulk-writes.ts';
import type { PagedDatabase } from '../../../storage/db/pages.ts';
import { read, writeIdempotently } from '../../../storage/db/writes.ts';
import { keyBytes } from './sealed-case.ts';

/**
 * A key for each invocation that cases were made of. Their content is encrypted with it, in every version of every data
 * set, so one write erases all of it: at once, for all processes, and while the object storage is away. A key is all
 * that is kept of a case that was removed. What was erased is marked, so that no file brings it back. Every method can
 * throw `database-unavailable`.
 */
export interface CaseKeys {
  /** The keys of invocations, without those that were erased. Makes the missing ones. */
  make(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** The keys that there are. */
  find(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Whether an invocation has a key, or had one. */
  has(id: string): Promise<boolean>;
  /** Erases the key of an invocation, if it has one. */
  erase(id: string, at: Date): Promise<void>;
}

interface KeyDocument {
  _id: string;
  key?: Binary;
  erased_at?: Date;
}

export function createCaseKeys({ db }: PagedDatabase): CaseKeys {
  const keys: Collection<KeyDocument> = db.collection('case_keys');
  const find: CaseKeys['find'] = async (ids) => {
    if (ids.length === 0) return new Map();
    const found = await read(() => keys.find({ _id: { $in: [...ids] } }).toArray());
    return new Map(found.flatMap(({ _id, key }) => (key === undefined ? [] : [[_id, Buffer.from(key.value())]])));
  };
  return {
    find,
    async make(ids) {
      const found = await find(ids);
      const missing = ids.filter((id) => !found.has(id));
      if (missing.length === 0) return found;
      await insertMissing(
        keys,
        missing.map((_id) => ({ _id, key: new Binary(randomBytes(keyBytes)) })),
      );
      // Another writer may have made one, and one that was erased stays so.
      return await find(ids);
    },
    async has(id) {
      return (await read(() => keys.findOne({ _id: id }, { projection: { _id: 1 } }))) !== null;
    },
    async erase(id, at) {
      const erased = { $set: { erased_at: at }, $unset: { key: true } } as const;
      await writeIdempotently(() => keys.updateOne({ _id: id }, erased));
    },
  };
}
