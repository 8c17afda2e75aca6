import { mkdtemp } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/db/embedded/cache-dir.ts';
import { ENGINE_ORDER, engineIdSchema } from '../../src/db/embedded/engines.ts';
import { startEmbeddedDatabase, type EmbeddedDatabase } from '../../src/db/embedded/start.ts';
import stopTestDatabase from './global-teardown.ts';
import { consoleLog } from './log.ts';

declare global {
  var testDatabaseServer: { database: EmbeddedDatabase; dataDir: string } | undefined;
}

/**
 * Starts one database server for the whole run, by the code that the service itself uses when nothing is configured,
 * and hands its URI to the test files in `TEST_MONGODB_URI`. Set that variable to test against a server of your own,
 * or `TEST_ENGINE` to try another engine first; SecantusDB from PyPI is the default because every machine can have it.
 */
export default async function startTestDatabase(): Promise<void> {
  if (process.env['TEST_MONGODB_URI'] !== undefined) return;
  const preferred = engineIdSchema.parse(process.env['TEST_ENGINE'] ?? 'secantusd-py');
  const dataDir = await mkdtemp(join(tmpdir(), 'prompt-gateway-test-'));
  const database = await startEmbeddedDatabase({
    dataDir,
    cacheDir: defaultCacheDir(process.env, homedir()),
    env: process.env,
    log: consoleLog,
    engines: [preferred, ...ENGINE_ORDER.filter((id) => id !== preferred)],
  });
  globalThis.testDatabaseServer = { database, dataDir };
  process.env['TEST_MONGODB_URI'] = database.uri;
  // Jest runs no teardown when it is interrupted, and the server would outlive it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopTestDatabase().finally(() => process.exit(1)));
  }
}
