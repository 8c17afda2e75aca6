import { removeNotes } from './run-notes.ts';

/** Stops the servers that global-setup.ts started, and removes their files and the notes. */
export default async function stopTestDatabases(): Promise<void> {
  await Promise.all((globalThis.testDatabaseServers ?? []).map((server) => server.stop()));
  await removeNotes();
}
