import type { Collection, Filter } from 'mongodb';
import type { Scope } from '../../generated/operations.ts';
import type { Database } from '../db/client.ts';
import type { CollectionIndexes } from '../db/indexes.ts';
import { compareAndSet, insertOnce, read, writeIdempotently, type StampedDocument } from '../db/writes.ts';

/** An API key as stored: of its secret only the SHA-256. */
export interface StoredApiKey {
  readonly id: string;
  readonly revision: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** SHA-256 of the secret part, in hex. */
  readonly secretHash: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
  readonly lastUsedAt: Date | undefined;
  readonly revokedAt: Date | undefined;
}

export type NewApiKey = Omit<StoredApiKey, 'revision' | 'lastUsedAt' | 'revokedAt'>;

export interface ApiKeyStore {
  /** False when a key with this id exists already. */
  insert(key: NewApiKey): Promise<boolean>;
  find(id: string): Promise<StoredApiKey | undefined>;
  /** Newest first. */
  list(limit: number, offset: number): Promise<{ keys: StoredApiKey[]; total: number }>;
  isEmpty(): Promise<boolean>;
  /** Sets the time of revocation, once. */
  revoke(id: string, at: Date): Promise<StoredApiKey | undefined>;
  /** Moves the last use forward; never brings a deleted key back. */
  touch(id: string, at: Date): Promise<void>;
}

interface ApiKeyDocument extends StampedDocument {
  name: string;
  scopes: Scope[];
  secret_hash: string;
  created_at: Date;
  expires_at?: Date;
  last_used_at?: Date;
  revoked_at?: Date;
}

const collectionName = 'api_keys';

export const apiKeyIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [{ key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' }],
};

export function createApiKeyStore(database: Database): ApiKeyStore {
  const keys: Collection<ApiKeyDocument> = database.db.collection(collectionName);
  const find = async (id: string): Promise<StoredApiKey | undefined> => {
    const document = await read(() => keys.findOne({ _id: id }));
    return document === null ? undefined : fromDocument(document);
  };

  return {
    find,
    async insert(key) {
      const inserted = await insertOnce(keys, {
        _id: key.id,
        name: key.name,
        scopes: [...key.scopes],
        secret_hash: key.secretHash,
        created_at: key.createdAt,
        ...(key.expiresAt === undefined ? {} : { expires_at: key.expiresAt }),
      });
      return inserted.outcome === 'done';
    },
    async list(limit, offset) {
      const everything: Filter<ApiKeyDocument> = {};
      const [documents, total] = await Promise.all([
        read(() => keys.find(everything).sort({ created_at: -1, _id: 1 }).skip(offset).limit(limit).toArray()),
        read(() => keys.countDocuments(everything)),
      ]);
      return { keys: documents.map(fromDocument), total };
    },
    async isEmpty() {
      return (await read(() => keys.findOne({}, { projection: { _id: 1 } }))) === null;
    },
    async revoke(id, at) {
      for (;;) {
        const key = await find(id);
        if (key === undefined || key.revokedAt !== undefined) return key;
        const change = { $set: { revoked_at: at } };
        const revoked = await compareAndSet(keys, { id, revision: key.revision, change });
        if (revoked.outcome === 'done') return { ...key, revision: revoked.revision, revokedAt: at };
      }
    },
    async touch(id, at) {
      await writeIdempotently(() => keys.updateOne({ _id: id }, { $max: { last_used_at: at } }));
    },
  };
}

function fromDocument(document: ApiKeyDocument): StoredApiKey {
  return {
    id: document._id,
    revision: document.revision,
    name: document.name,
    scopes: document.scopes,
    secretHash: document.secret_hash,
    createdAt: document.created_at,
    expiresAt: document.expires_at,
    lastUsedAt: document.last_used_at,
    revokedAt: document.revoked_at,
  };
}
