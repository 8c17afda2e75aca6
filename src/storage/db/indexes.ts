import { MongoServerError, type Db, type IndexDescription } from 'mongodb';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { messageOf } from '../../base/runtime/system-error.ts';
import { DatabaseStartError } from './client.ts';
import { isDuplicateKey, isUnavailable } from './database-errors.ts';
import { withRetry } from './retry.ts';
import { read } from './writes.ts';

/** The indexes that a store needs on one collection. Give every index a name, because messages contain it. */
export interface CollectionIndexes {
  collection: string;
  indexes: readonly (IndexDescription & { name: string })[];
  /** Further ones, which pay only on a server that reads in the order of an index. */
  inOrder?: readonly (IndexDescription & { name: string })[];
}

/** An index of a collection, by name. */
export interface IndexName {
  readonly collection: string;
  readonly index: string;
}

/** For every collection whose documents expire; `expiry.ts` removes them. */
export const expiryIndex: IndexDescription & { name: string } = {
  key: { expires_at: 1, _id: 1 },
  name: 'expires_at_1__id_1',
};

const INDEX_CONFLICT_CODES: ReadonlySet<unknown> = new Set([85, 86]);
/** What DocumentDB says instead of a duplicate key while it builds an index. */
const UNIQUE_VIOLATION = /could not create exclusion constraint/;
/** The collection or the index does not exist. */
const NOT_FOUND_CODES: ReadonlySet<unknown> = new Set([26, 27]);

/** A declared index. */
export interface DeclaredIndex {
  readonly collection: string;
  readonly index: IndexDescription & { name: string };
}

/**
 * Creates the declared indexes of collections without documents, which takes no time, and checks those that exist.
 * Running it again, or in several processes at once, changes nothing.
 *
 * @param building an index that another process may be building: it is left alone, because some servers list it already
 *   and let a command that creates it wait for the build
 * @returns the missing indexes of collections with documents. Building them can take minutes.
 * @throws DatabaseStartError when an index of the same name or keys exists with other options
 * @throws ProblemError `database-unavailable`
 */
export async function ensureIndexes(
  db: Db,
  declarations: readonly CollectionIndexes[],
  building?: IndexName,
): Promise<DeclaredIndex[]> {
  const found = await read(() => db.listCollections({}, { nameOnly: true }).toArray());
  const existing = new Set(found.map(({ name }) => name));
  const missing = declarations.map(async ({ collection, indexes }) => {
    const exists = existing.has(collection);
    const present = exists ? await indexNames(db, collection) : new Set();
    const absent = indexes.filter(({ name }) => !present.has(name));
    const hasDocuments =
      exists && absent.length > 0 && (await read(() => db.collection(collection).findOne({}, onlyId))) !== null;
    const isLeft = (name: string): boolean => building?.collection === collection && building.index === name;
    const now = indexes.filter(({ name }) => (!hasDocuments || present.has(name)) && !isLeft(name));
    if (now.length > 0) await createTogether(db, collection, now);
    return hasDocuments ? absent.map((index) => ({ collection, index })) : [];
  });
  return (await Promise.all(missing)).flat();
}

/** The declared indexes that do not exist. @throws ProblemError `database-unavailable` */
export async function missingIndexes(db: Db, declarations: readonly CollectionIndexes[]): Promise<DeclaredIndex[]> {
  const missing = declarations.map(async ({ collection, indexes }) => {
    const present = await indexNames(db, collection);
    return indexes.filter(({ name }) => !present.has(name)).map((index) => ({ collection, index }));
  });
  return (await Promise.all(missing)).flat();
}

const onlyId = { projection: { _id: 1 } } as const;

/** The names of a collection's indexes. @throws ProblemError `database-unavailable` */
async function indexNames(db: Db, collection: string): Promise<ReadonlySet<string | undefined>> {
  try {
    return new Set((await read(() => db.collection(collection).indexes())).map(({ name }) => name));
  } catch (error) {
    if (isNotFound(error)) return new Set();
    throw error;
  }
}

async function createTogether(db: Db, collection: string, indexes: CollectionIndexes['indexes']): Promise<void> {
  try {
    await withRetry(() => db.collection(collection).createIndexes(indexes.map((index) => ({ ...index }))));
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    // Created one by one, so that the error shows which index cannot be created.
    for (const index of indexes) await createIndex(db, { collection, index });
  }
}

/**
 * Builds an index. It may take minutes.
 *
 * @throws DatabaseStartError when it cannot be built: an index of the same name or keys exists with other options, or
 *   documents share a value that must be unique
 * @throws MongoError when the database is unavailable
 */
export async function createIndex(db: Db, { collection, index }: DeclaredIndex): Promise<void> {
  try {
    await db.collection(collection).createIndexes([{ ...index }]);
  } catch (error) {
    throw isUnavailable(error) ? error : explain(error, collection, index.name);
  }
}

/** Drops an index, if it exists. It may take minutes. @throws MongoError when the database is unavailable */
export async function dropIndex(db: Db, collection: string, name: string): Promise<void> {
  try {
    await db.collection(collection).dropIndex(name);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof MongoServerError && NOT_FOUND_CODES.has(error.code);
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
  if (isDuplicateKey(error) || UNIQUE_VIOLATION.test(messageOf(error))) {
    return new DatabaseStartError(`${where} must be unique, but documents in the collection share a value.`, options);
  }
  return new DatabaseStartError(`${where} cannot be created: ${messageOf(error)}`, options);
}
