import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/db/embedded/cache-dir.ts';
import { ENGINE_ORDER, engineIdSchema } from '../../src/db/embedded/engines.ts';
import { startEmbeddedDatabase } from '../../src/db/embedded/start.ts';
import { testDatabaseUri } from './database.ts';
import { consoleLog } from './log.ts';

export interface DatabaseServer {
  readonly uri: string;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
}

/** Starts a server. `TEST_ENGINE` is tried first; by default SecantusDB from PyPI, because every machine can have it. */
export async function startDatabaseServer(): Promise<DatabaseServer> {
  const preferred = engineIdSchema.parse(process.env['TEST_ENGINE'] ?? 'secantusd-py');
  const dataDir = await mkdtemp(join(tmpdir(), 'prompt-gateway-test-'));
  const database = await startEmbeddedDatabase({
    dataDir,
    cacheDir: defaultCacheDir(process.env, homedir()),
    env: process.env,
    log: consoleLog,
    engines: [preferred, ...ENGINE_ORDER.filter((id) => id !== preferred)],
  });
  return {
    uri: database.uri,
    async stop() {
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A server for tests that keep one busy, so that others do not have to wait. A server that was given serves all. */
export async function startBusyServer(): Promise<DatabaseServer> {
  if (process.env['TEST_SERVERS'] === 'own') return startDatabaseServer();
  return { uri: testDatabaseUri(), stop: () => Promise.resolve() };
}
