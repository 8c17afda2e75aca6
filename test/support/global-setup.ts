import { engineOfTests, startDatabaseServer, type StartedServer } from './database-server.ts';
import { pidVariableOf, uriVariableOf } from './database.ts';
import stopTestDatabases from './global-teardown.ts';

declare global {
  var testDatabaseServers: readonly StartedServer[] | undefined;
}

/**
 * Starts a database server for each worker process, in the same way as the service does without configuration. So no
 * test file waits for the requests of others. Set `TEST_MONGODB_URI` to use your own server.
 */
export default async function startTestDatabases({ maxWorkers }: { readonly maxWorkers: number }): Promise<void> {
  if (process.env['TEST_MONGODB_URI'] !== undefined) return;
  const count = Math.min(maxWorkers, Number(process.env['TEST_FILES'] ?? maxWorkers));
  const engine = engineOfTests();
  // The first server may have to install the engine.
  const first = await startDatabaseServer(engine, undefined, false);
  const others = Array.from({ length: count - 1 }, () => startDatabaseServer(engine, undefined, false));
  globalThis.testDatabaseServers = [first, ...(await Promise.all(others))];
  // Worker processes inherit these variables.
  for (const [index, { uri, pid }] of globalThis.testDatabaseServers.entries()) {
    process.env[uriVariableOf(index + 1)] = uri;
    process.env[pidVariableOf(index + 1)] = String(await pid());
  }
  // Jest runs no teardown when it is interrupted. Without this, the servers would continue to run.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopTestDatabases().finally(() => process.exit(1)));
  }
}
