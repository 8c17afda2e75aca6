/**
 * A database server of the service's own, for running without any configuration. All its files are in the data folder.
 *
 * Who starts it: the first service process on a data folder. Others on the same folder use the same server, and so does
 * a process that finds one left over by a kill -9. Who stops it: the last process that uses it. A server that ends by
 * itself is started again on its port.
 */
import type { DatabaseLog } from '../log.ts';
import { ENGINE_ORDER, type EngineContext, type EngineId } from './engines.ts';
import { withFileLock } from './file-lock.ts';
import { DatabaseFolder } from './folder.ts';
import { localUri } from './identity.ts';
import { EmbeddedDatabaseError, obtainServer } from './obtain-server.ts';
import { isRunning, type Environment } from './processes.ts';
import { stopServer } from './server-process.ts';

const WATCH_INTERVAL_MS = 1_000;

export interface EmbeddedOptions {
  /** The service's data folder; the database is in `database` below it. */
  dataDir: string;
  /** For downloads and installations, shared between data folders. */
  cacheDir: string;
  /** `process.env`, or what stands in for it: `PATH`, proxies, pip settings. */
  env: Environment;
  log: DatabaseLog;
  /** What to try for a new data folder, first to last; by default everything. */
  engines?: readonly EngineId[];
  now?: () => Date;
}

export interface EmbeddedDatabase {
  /** Connection string, valid until `stop` even if the server has to be started again. */
  readonly uri: string;
  /** Product, release and origin, such as `SecantusDB 0.7.0b3 (secantusd-py)`. */
  readonly engine: string;
  /** Stops the server, unless another service process uses it. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded database of a data folder, or finds the one that runs. A folder keeps the engine that it was made
 * with; a new one takes the first engine that this machine can run. May take a minute the first time (a download).
 *
 * @throws EmbeddedDatabaseError
 */
export async function startEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { log } = options;
  const folder = await openFolder(options.dataDir);
  const context: EngineContext = { now: () => new Date(), ...options };
  const locked = <Result>(action: () => Promise<Result>): Promise<Result> =>
    withFileLock(folder.lockPath, action, {
      onWait: (pid) => {
        log.info({ pid }, 'waiting for another process that is preparing the database');
      },
    });

  const { leave, ...first } = await locked(async () => {
    const leave = await folder.join();
    try {
      return { leave, server: await obtainServer(folder, context, options.engines ?? ENGINE_ORDER) };
    } catch (error) {
      await leave();
      throw error;
    }
  });

  let server = first.server;
  let restarting: Promise<void> | undefined;
  const restart = async (): Promise<void> => {
    log.warn({ engine: server.engine, pid: server.pid }, 'the embedded database has ended, starting it again');
    try {
      server = await locked(() => obtainServer(folder, context, [server.engine], server.port));
    } catch (error) {
      log.warn({ err: error }, 'the embedded database cannot be started again yet');
    }
    restarting = undefined;
  };
  const watch = setInterval(() => {
    if (restarting === undefined && !isRunning(server.pid)) restarting = restart();
  }, WATCH_INTERVAL_MS);
  watch.unref();

  return {
    uri: localUri(server.port),
    engine: `${server.product} (${server.engine})`,
    async stop() {
      clearInterval(watch);
      await restarting;
      await locked(async () => {
        await leave();
        if (await folder.hasUsers()) return;
        // Another process may have started the server again since this one looked.
        await stopServer((await folder.readServer())?.pid ?? server.pid);
        await folder.removeServer();
      });
    },
  };
}

async function openFolder(dataDir: string): Promise<DatabaseFolder> {
  try {
    return await DatabaseFolder.open(dataDir);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EmbeddedDatabaseError(
      `There is no place for a database (${reason}). Set DATA_DIR to a folder that can be written, or MONGODB_URI to a database.`,
      { cause },
    );
  }
}
