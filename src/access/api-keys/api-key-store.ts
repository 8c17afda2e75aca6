import type { Filter } from 'mongodb';
import { auditIndex, type AuditEntry } from '../../storage/db/audit.ts';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { createResourceStore, type ResourceDocument } from '../../storage/db/resource-store.ts';
import { read, writeIdempotently } from '../../storage/db/writes.ts';
import type { Listing } from '../../base/lists/listing.ts';
import { apiKeyFields, type ApiKeyStatus, type NewApiKey, type StoredApiKey } from './api-key.ts';

export interface ApiKeyStore {
  /** False if a key with this id already exists. @param entry undefined for the key that the first start creates */
  insert(key: NewApiKey, entry: AuditEntry | undefined): Promise<boolean>;
  find(id: string): Promise<StoredApiKey | undefined>;
  /** Newest first: those that have a status at this time, and that somebody created. */
  list(
    filter: { readonly status: ApiKeyStatus | undefined; readonly authorId: string | undefined },
    at: Date,
  ): Listing<StoredApiKey>;
  isEmpty(): Promise<boolean>;
  /**
   * Writes name, limits and time of revocation of a changed key, if the stored one still has this revision.
   * @returns the key as stored; `undefined` if another writer was first
   */
  replace(key: StoredApiKey, entry: AuditEntry): Promise<StoredApiKey | undefined>;
  /** Revokes some of those that a key or a person led to. @returns their ids; empty if all are revoked */
  revokeAll(led: LedBy, at: Date, record: RecordChange): Promise<string[]>;
  /** Number of a key's descendants that are neither revoked nor expired. */
  countActiveDescendants(id: string, at: Date): Promise<number>;
  /** Moves the last use forward; never creates a deleted key again. */
  touch(id: string, at: Date): Promise<void>;
}

/** The key or the person at the beginning of a chain. */
export type LedBy = { readonly key: string; readonly person?: never } | { readonly person: string };

/** Creates the record of a change. */
export type RecordChange = (before: StoredApiKey, after: StoredApiKey) => AuditEntry;

type ApiKeyDocument = ResourceDocument<typeof apiKeyFields.table>;

const collectionName = 'api_keys';

export const apiKeyIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { ancestors: 1, _id: 1 }, name: 'ancestors_1__id_1' },
    { key: { 'author.id': 1, created_at: -1, _id: 1 }, name: 'author.id_1_created_at_-1__id_1' },
    { key: { 'person.id': 1, _id: 1 }, name: 'person.id_1__id_1' },
    auditIndex,
  ],
};

/** Number of keys that one command revokes, so that each command is short. */
const revokedAtOnce = 250;

export function createApiKeyStore(database: PagedDatabase): ApiKeyStore {
  const keys = database.db.collection<ApiKeyDocument>(collectionName);
  const resources = createResourceStore(database, collectionName, apiKeyFields);
  const listByTime = database.pages.listsOf(fromDocument);

  return {
    find: resources.find,
    insert: (key, entry) => resources.insert({ ...key, lastUsedAt: undefined, revokedAt: undefined }, entry),
    list: ({ status, authorId }, at) =>
      listByTime({
        collection: keys,
        where: authorId === undefined ? {} : { 'author.id': authorId },
        time: 'created_at',
        ...(status !== undefined && { rest: having(status, at) }),
      }),
    async isEmpty() {
      return (await read(() => keys.findOne({}, { projection: { _id: 1 } }))) === null;
    },
    // The time of the last use may be later than that of the copy.
    replace: (key, entry) => resources.replace(key, entry, { only: ['name', 'limits', 'revokedAt'] }),
    async revokeAll(led, at, record) {
      const chain = led.person === undefined ? { ancestors: led.key } : { 'person.id': led.person };
      const active: Filter<ApiKeyDocument> = { ...chain, revoked_at: { $exists: false } };
      const found = await read(() => keys.find(active, { limit: revokedAtOnce }).toArray());
      const [first] = found.map(fromDocument);
      if (first === undefined) return [];
      const ids = found.map(({ _id }) => _id);
      // A repetition matches nothing, so each is revoked and recorded once.
      const unrevoked: Filter<ApiKeyDocument> = { _id: { $in: ids }, revoked_at: { $exists: false } };
      // The records differ in the key. No other record has its id.
      const template = { $literal: record(first, { ...first, revokedAt: at }) };
      const entry = { $mergeObjects: [template, { id: '$_id', resource_id: '$_id' }] };
      const audit = { $concatArrays: [{ $ifNull: ['$audit', []] }, [entry]] };
      const change = [{ $set: { revoked_at: at, revision: { $add: ['$revision', 1] }, audit } }];
      await writeIdempotently(() => keys.updateMany(unrevoked, change));
      return ids;
    },
    async countActiveDescendants(id, at) {
      return await read(() => keys.countDocuments({ ancestors: id, ...having('active', at) }));
    },
    async touch(id, at) {
      await writeIdempotently(() => keys.updateOne({ _id: id }, { $max: { last_used_at: at } }));
    },
  };
}

function having(status: ApiKeyStatus, at: Date): Filter<ApiKeyDocument> {
  if (status === 'revoked') return { revoked_at: { $exists: true } };
  const unrevoked = { revoked_at: { $exists: false } };
  if (status === 'expired') return { ...unrevoked, expires_at: { $lte: at } };
  return { ...unrevoked, $or: [{ expires_at: { $exists: false } }, { expires_at: { $gt: at } }] };
}

function fromDocument(document: ApiKeyDocument): StoredApiKey {
  return { ...apiKeyFields.fromDocument(document), revision: document.revision };
}
