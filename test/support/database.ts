import { randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '../../src/db/client.ts';
import { silentLog } from './log.ts';

export interface TestDatabase extends Database {
  readonly uri: string;
  readonly databaseName: string;
  /** Drops the database and closes the connections. */
  drop(): Promise<void>;
}

/** The environment variable with the URI of a worker's server. Jest numbers its worker processes from 1. */
export function uriVariableOf(worker: number | string): string {
  return `TEST_MONGODB_URI_${worker}`;
}

/** The server that global-setup.ts started for this worker process, or the one in `TEST_MONGODB_URI`. */
export function testDatabaseUri(): string {
  const { TEST_MONGODB_URI, JEST_WORKER_ID = '' } = process.env;
  const uri = TEST_MONGODB_URI ?? process.env[uriVariableOf(JEST_WORKER_ID)];
  if (uri === undefined) throw new Error('No database server was started for this process: is globalSetup configured?');
  return uri;
}

/**
 * Creates a database for one test file, with the client of the service. Drop it in `afterAll`.
 *
 * @param uri another address of the same server, such as that of a proxy
 */
export async function createTestDatabase(uri: string = testDatabaseUri()): Promise<TestDatabase> {
  const databaseName = `test_${randomUUID()}`;
  const database = await connectDatabase({ uri, databaseName, log: silentLog });
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
