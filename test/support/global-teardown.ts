import { rm } from 'node:fs/promises';

/** Stops the server that global-setup.ts started and removes its files. */
export default async function stopTestDatabase(): Promise<void> {
  const server = globalThis.testDatabaseServer;
  if (server === undefined) return;
  await server.database.stop();
  await rm(server.dataDir, { recursive: true, force: true });
}
