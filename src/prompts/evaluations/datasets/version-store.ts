import type { Collection, Filter } from 'mongodb';
import type { Document } from '../../../base/fields/fields.ts';
import type { CollectionIndexes } from '../../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../../storage/db/pages.ts';
import { read, writeIdempotently } from '../../../storage/db/writes.ts';
import { versionFields, type DatasetVersion } from './dataset.ts';

/** A version, and whether it may be one that no data set names. */
export type StoredVersion = DatasetVersion & { readonly isPending: boolean };

/**
 * The versions of data sets. One is pending from before its first object is stored until its data set names it, so that
 * objects of a process that died are found. Every method can throw `database-unavailable`.
 */
export interface VersionStore {
  begin(id: string, at: Date): Promise<void>;
  /** Stores everything of a version that is pending. */
  complete(version: DatasetVersion): Promise<void>;
  /** A data set names it. */
  confirm(id: string): Promise<void>;
  /** All that are stored of a data set. */
  of(datasetId: string): Promise<StoredVersion[]>;
  remove(ids: readonly string[]): Promise<void>;
  /** Ids of some that are pending since before a time. */
  pendingBefore(time: Date): Promise<string[]>;
  /** The ids of data sets that have versions. */
  datasetIds(): Promise<string[]>;
}

type VersionDocument = { _id: string; pending?: Date } & Partial<Omit<Document<typeof versionFields.table>, '_id'>>;

const collectionName = 'dataset_versions';
const atOnce = 100;

export const versionIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { dataset_id: 1 }, name: 'dataset_id_1' },
    { key: { pending: 1 }, name: 'pending_1', sparse: true },
  ],
};

export function createVersionStore({ db, pages }: PagedDatabase): VersionStore {
  const versions: Collection<VersionDocument> = db.collection(collectionName);
  return {
    async begin(id, at) {
      await writeIdempotently(() => versions.updateOne({ _id: id }, { $set: { pending: at } }, { upsert: true }));
    },
    async complete(version) {
      await writeIdempotently(() => versions.updateOne({ _id: version.id }, versionFields.toUpdate(version)));
    },
    async confirm(id) {
      await writeIdempotently(() => versions.updateOne({ _id: id }, { $unset: { pending: '' } }));
    },
    async of(datasetId) {
      const found = await read(() => versions.find({ dataset_id: datasetId }).toArray());
      return found.map((document) => ({
        ...versionFields.fromDocument(document as Document<typeof versionFields.table>),
        isPending: document.pending !== undefined,
      }));
    },
    async remove(ids) {
      await writeIdempotently(() => versions.deleteMany({ _id: { $in: [...ids] } }));
    },
    async pendingBefore(time) {
      const filter: Filter<VersionDocument> = { pending: { $lt: time } };
      const found = await read(() => versions.find(filter, { projection: { _id: 1 }, limit: atOnce }).toArray());
      return found.map(({ _id }) => _id);
    },
    async datasetIds() {
      return (await Array.fromAsync(pages.values(versions, 'dataset_id', ''))).flat();
    },
  };
}
