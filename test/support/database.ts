import { randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '../../src/db/client.ts';
import { silentLog } from './log.ts';

export interface TestDatabase extends Database {
  readonly uri: string;
  readonly databaseName: string;
  /** Drops the database and closes the connections. */
  drop(): Promise<void>;
}

/** The server that global-setup.ts started, or the one in `TEST_MONGODB_URI`. */
export function testDatabaseUri(): string {
  const uri = process.env['TEST_MONGODB_URI'];
  if (uri === undefined) throw new Error('TEST_MONGODB_URI is not set: is globalSetup configured?');
  return uri;
}

/**
 * A fresh database for one test file, by the service's own client. Drop it in `afterAll`.
 *
 * @param uri another way to the same server, such as a proxy's
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
