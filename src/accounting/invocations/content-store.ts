import { Binary } from 'mongodb';
import { insertMissing } from '../../storage/db/bulk-writes.ts';
import { isDuplicateKey } from '../../storage/db/database-errors.ts';
import { createDayCollections } from '../../storage/db/day-collections.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { read, writeIdempotently } from '../../storage/db/writes.ts';
import type { Sealed, SecretBox } from '../../base/secrets/secret-box.ts';
import { dayOf, timeOf } from './invocation-id.ts';
import { openContent, sealContent } from './sealed-content.ts';

/** The content of an invocation, as JSON in the form of the contract. */
export interface Content {
  readonly id: string;
  readonly json: string;
}

/** The contents of invocations, encrypted, in a collection for each day. Every method can throw `database-unavailable`. */
export interface ContentStore {
  /** Stores contents. One that is stored, or was erased, does not change. */
  insert(contents: readonly Content[]): Promise<void>;
  /** @throws SecretUnreadableError */
  find(id: string): Promise<string | undefined>;
  /** Erases the key and the content, also one that is stored later. */
  erase(id: string, at: Date): Promise<void>;
  /** The days that have a collection, the newest first. */
  days(): Promise<string[]>;
  drop(day: string): Promise<void>;
}

interface ContentDocument {
  _id: string;
  key?: Sealed;
  data?: Binary;
  erased_at?: Date;
}

export function createContentStore({ db }: PagedDatabase, secrets: SecretBox): ContentStore {
  const collections = createDayCollections<ContentDocument>(db, 'invocation_contents_');
  const collectionOf = (id: string) => collections.of(dayOf(timeOf(id) ?? 0));
  return {
    async insert(contents) {
      for (const [day, some] of Map.groupBy(contents, ({ id }) => dayOf(timeOf(id) ?? 0))) {
        const documents = some.map(async ({ id, json }): Promise<ContentDocument> => {
          const { key, data } = await sealContent(json, id, secrets);
          return { _id: id, key, data: new Binary(data) };
        });
        await insertMissing(collections.of(day), await Promise.all(documents));
      }
    },
    async find(id) {
      const { key, data } = (await read(() => collectionOf(id).findOne({ _id: id }))) ?? {};
      if (key === undefined || data === undefined) return undefined;
      return await openContent({ key, data: data.value() }, id, secrets);
    },
    async erase(id, at) {
      const erased = { $set: { erased_at: at }, $unset: { key: true, data: true } } as const;
      await writeIdempotently(async () => {
        try {
          await collectionOf(id).updateOne({ _id: id }, erased, { upsert: true });
        } catch (error) {
          // It was stored at the same time.
          if (!isDuplicateKey(error)) throw error;
          await collectionOf(id).updateOne({ _id: id }, erased);
        }
      });
    },
    days: collections.days,
    drop: collections.drop,
  };
}
