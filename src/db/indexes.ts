import { MongoServerError, type Db, type IndexDescription } from 'mongodb';
import { DatabaseStartError } from './client.ts';
import { duplicateKeyFields, isUnavailable } from './database-errors.ts';
import { withRetry } from './retry.ts';

/** The indexes that a store needs on one collection. Give every index a name, because messages contain it. */
export interface CollectionIndexes {
  collection: string;
  indexes: readonly (IndexDescription & { name: string })[];
}

/** For every collection whose documents expire; `expiry.ts` removes them. */
export const expiryIndex: IndexDescription & { name: string } = {
  key: { expires_at: 1, _id: 1 },
  name: 'expires_at_1__id_1',
};
/** In earlier versions the server removed documents by an index of this name. */
const formerExpiryIndex = 'expires_at_1';

const INDEX_CONFLICT_CODES: ReadonlySet<unknown> = new Set([85, 86]);
/** The collection or the index does not exist. */
const NOT_FOUND_CODES: ReadonlySet<unknown> = new Set([26, 27]);
/** An index on a large collection takes longer than the client waits for an answer; the build continues. */
const ATTEMPTS = 40;

/**
 * Creates the declared indexes that are missing. Running it again, or in several processes at once, changes nothing.
 *
 * @throws DatabaseStartError when an index of the same name or keys exists with other options, or when documents
 *   already break a unique index; the message names collection and index.
 */
export async function ensureIndexes(db: Db, declarations: readonly CollectionIndexes[]): Promise<void> {
  await Promise.all(declarations.map((declaration) => ensureCollectionIndexes(db, declaration)));
}

async function ensureCollectionIndexes(db: Db, { collection, indexes }: CollectionIndexes): Promise<void> {
  if (indexes.includes(expiryIndex)) await dropIndex(db, collection, formerExpiryIndex);
  try {
    await db.collection(collection).createIndexes(indexes.map((index) => ({ ...index })));
  } catch {
    // Created one by one, so that the error shows which index cannot be created.
    for (const index of indexes) await ensureIndex(db, collection, index);
  }
}

async function ensureIndex(db: Db, collection: string, index: IndexDescription & { name: string }): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await db.collection(collection).createIndexes([{ ...index }]);
      return;
    } catch (error) {
      if (isUnavailable(error) && attempt < ATTEMPTS) continue;
      throw explain(error, collection, index.name);
    }
  }
}

async function dropIndex(db: Db, collection: string, name: string): Promise<void> {
  try {
    await withRetry(() => db.collection(collection).dropIndex(name));
  } catch (error) {
    if (!(error instanceof MongoServerError && NOT_FOUND_CODES.has(error.code))) throw explain(error, collection, name);
  }
}

function explain(error: unknown, collection: string, index: string): Error {
  const where = `Index "${index}" of collection "${collection}"`;
  const options = { cause: error };
  if (error instanceof MongoServerError && INDEX_CONFLICT_CODES.has(error.code)) {
    return new DatabaseStartError(
      `${where} exists with other keys or options than this version needs. ` +
        `Drop the existing index and start again. The server says: ${error.message}`,
      options,
    );
  }
  if (duplicateKeyFields(error) !== undefined) {
    return new DatabaseStartError(`${where} must be unique, but documents in the collection share a value.`, options);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new DatabaseStartError(`${where} cannot be created: ${reason}`, options);
}
