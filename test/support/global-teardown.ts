import { removeNotes } from './run-notes.ts';

/** Stops the server that global-setup.ts started, and removes its files and the notes. */
export default async function stopTestDatabase(): Promise<void> {
  await globalThis.testDatabaseServer?.stop();
  await removeNotes();
}
