/** Stops the servers that global-setup.ts started and removes their files. */
export default async function stopTestDatabases(): Promise<void> {
  await Promise.all((globalThis.testDatabaseServers ?? []).map((server) => server.stop()));
}
