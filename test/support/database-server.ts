import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/db/embedded/cache-dir.ts';
import { ENGINE_ORDER, engineIdSchema, type EngineId } from '../../src/db/embedded/engines.ts';
import { startEmbeddedDatabase } from '../../src/db/embedded/embedded-database.ts';
import { consoleLog } from './log.ts';

/** A server with its own data folder. */
export interface StartedServer extends DatabaseServer {
  /** Product, release and origin. */
  readonly engine: string;
  /** The current process of the server. After a crash it is another one. */
  pid(): Promise<number>;
}

export interface DatabaseServer {
  readonly uri: string;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
}

/** The engine that tests prefer: `TEST_ENGINE`, or SecantusDB from PyPI, because it runs on every machine. */
export function engineOfTests(): EngineId {
  return engineIdSchema.parse(process.env['TEST_ENGINE'] ?? 'secantusd-py');
}

/** The engine that benchmarks and fault programs prefer: `TEST_ENGINE`, or the fastest one without a MongoDB. */
export const fastEngine: EngineId = engineIdSchema.parse(process.env['TEST_ENGINE'] ?? 'secantusd-rs');

/** Settings for a service on an engine. Engines that are only for benchmarks do not pass the check of the database. */
export function checkSetting(engine: EngineId): Readonly<Record<string, string>> {
  return ENGINE_ORDER.includes(engine) ? {} : { DATABASE_CHECK: 'off' };
}

/**
 * Starts a server in the same way as the service does without configuration.
 *
 * @param preferred is tried first
 * @param syncsWrites false if no test kills the server
 */
export async function startDatabaseServer(
  preferred: EngineId,
  log = consoleLog,
  syncsWrites = true,
): Promise<StartedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'prompt-gateway-test-'));
  const database = await startEmbeddedDatabase({
    ...{ dataDir, cacheDir: defaultCacheDir(process.env, homedir()), env: process.env, log, syncsWrites },
    engines: [preferred, ...ENGINE_ORDER.filter((id) => id !== preferred)],
  });
  return {
    uri: database.uri,
    engine: database.engine,
    async pid() {
      const record = await readFile(join(dataDir, 'database', 'server.json'), 'utf8');
      return (JSON.parse(record) as { pid: number }).pid;
    },
    async stop() {
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
