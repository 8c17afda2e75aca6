import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/storage/db/embedded/cache-dir.ts';
import { z } from 'zod';
import { engineIdSchema, type EngineId } from '../../src/storage/db/embedded/engines.ts';
import { startEmbeddedDatabase } from '../../src/storage/db/embedded/embedded-database.ts';
import { findOnPath } from '../../src/storage/db/embedded/find-on-path.ts';
import { startBenchServer } from './bench-server.ts';
import { consoleLog } from './log.ts';

/**
 * Servers of SecantusDB on the PATH that only benchmarks use: release 0.5.3 keeps replaced values in unique indexes.
 */
const benchEngines = ['secantusd-rs', 'secantusd-mdb'] as const;
export const testEngineSchema = z.enum([...engineIdSchema.options, ...benchEngines]);
export type TestEngine = z.infer<typeof testEngineSchema>;

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
export function engineOfTests(): TestEngine {
  return testEngineSchema.parse(process.env['TEST_ENGINE'] ?? 'secantusd-py');
}

/** The engine that benchmarks and fault programs prefer: `TEST_ENGINE`, or the fastest one without a MongoDB. */
export const fastEngine: TestEngine = testEngineSchema.parse(process.env['TEST_ENGINE'] ?? 'secantusd-rs');

/** Settings for a service on an engine. Engines that are only for benchmarks do not pass the check of the database. */
export function checkSetting(engine: TestEngine): Readonly<Record<string, string>> {
  return isOfService(engine) ? {} : { DATABASE_CHECK: 'off' };
}

/**
 * Starts a server in the same way as the service does without configuration, or one for benchmarks.
 *
 * @param preferred is tried first
 * @param syncsWrites false if no test kills the server
 */
export async function startDatabaseServer(
  preferred: TestEngine,
  log = consoleLog,
  syncsWrites = true,
): Promise<StartedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'prompt-gateway-test-'));
  const removeFiles = (): Promise<void> => rm(dataDir, { recursive: true, force: true });
  const program = isOfService(preferred) ? undefined : await findOnPath(preferred, process.env['PATH']);
  if (program !== undefined) {
    const server = await startBenchServer(program, dataDir, syncsWrites);
    return {
      uri: server.uri,
      engine: `${server.product} (${preferred})`,
      pid: () => Promise.resolve(server.pid()),
      stop: () => server.stop().then(removeFiles),
    };
  }
  const database = await startEmbeddedDatabase({
    dataDir,
    cacheDir: defaultCacheDir(process.env, homedir()),
    env: process.env,
    log,
    syncsWrites,
    engines: [
      ...(isOfService(preferred) ? [preferred] : []),
      ...engineIdSchema.options.filter((id) => id !== preferred),
    ],
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
      await removeFiles();
    },
  };
}

function isOfService(engine: TestEngine): engine is EngineId {
  return engineIdSchema.safeParse(engine).success;
}
