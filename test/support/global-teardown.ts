/** Stops the server that global-setup.ts started and removes its files. */
export default async function stopTestDatabase(): Promise<void> {
  await globalThis.testDatabaseServer?.stop();
}
