import { engineOfTests, startDatabaseServer, type DatabaseServer } from './database-server.ts';
import { beginNotes } from './run-notes.ts';
import stopTestDatabase from './global-teardown.ts';

declare global {
  var testDatabaseServer: DatabaseServer | undefined;
}

/**
 * Starts one database server for the whole run, by the code that the service itself uses when nothing is configured,
 * and hands its URI to the test files in `TEST_MONGODB_URI`. Set that variable to test against a server of your own.
 */
export default async function startTestDatabase(): Promise<void> {
  await beginNotes();
  if (process.env['TEST_MONGODB_URI'] !== undefined) return;
  const server = await startDatabaseServer(engineOfTests());
  globalThis.testDatabaseServer = server;
  process.env['TEST_MONGODB_URI'] = server.uri;
  process.env['TEST_SERVERS'] = 'own';
  // Jest runs no teardown when it is interrupted, and the server would outlive it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopTestDatabase().finally(() => process.exit(1)));
  }
}
