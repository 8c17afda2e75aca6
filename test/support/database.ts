import { randomUUID } from 'node:crypto';
import { connectDatabase } from '../../src/storage/db/client.ts';
import { ensureIndexes, type CollectionIndexes } from '../../src/storage/db/indexes.ts';
import { openPages } from '../../src/storage/db/open-pages.ts';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import { silentLog } from './log.ts';

export interface TestDatabase extends PagedDatabase {
  readonly uri: string;
  readonly databaseName: string;
  /** Drops the database and closes the connections. */
  drop(): Promise<void>;
}

/** The environment variable with the URI of a worker's server. Jest numbers its worker processes from 1. */
export function uriVariableOf(worker: number | string): string {
  return `TEST_MONGODB_URI_${worker}`;
}

/** The environment variable with the process id of a worker's server. */
export function pidVariableOf(worker: number | string): string {
  return `TEST_MONGODB_PID_${worker}`;
}

/** The server that global-setup.ts started for this worker process, or the one in `TEST_MONGODB_URI`. */
export function testDatabaseUri(): string {
  const { TEST_MONGODB_URI, JEST_WORKER_ID = '' } = process.env;
  const uri = TEST_MONGODB_URI ?? process.env[uriVariableOf(JEST_WORKER_ID)];
  if (uri === undefined) throw new Error('No database server was started for this process: is globalSetup configured?');
  return uri;
}

/** Opens a database with the client of the service. */
export async function openDatabase(uri: string, databaseName: string): Promise<PagedDatabase> {
  return openPages(await connectDatabase({ uri, databaseName, log: silentLog }));
}

/** Creates the indexes of stores, in a database without documents. */
export async function createIndexes(
  { db, pages }: PagedDatabase,
  declared: readonly CollectionIndexes[],
): Promise<void> {
  await ensureIndexes(db, pages.indexes(declared));
}

/**
 * Creates a database for one test file, with the client of the service. Drop it in `afterAll`.
 *
 * @param uri another address of the same server, such as that of a proxy
 */
export async function createTestDatabase(uri: string = testDatabaseUri()): Promise<TestDatabase> {
  const databaseName = `test_${randomUUID()}`;
  const database = await openDatabase(uri, databaseName);
  return {
    ...database,
    uri,
    databaseName,
    drop: async () => {
      await database.db.dropDatabase();
      await database.close();
    },
  };
}
