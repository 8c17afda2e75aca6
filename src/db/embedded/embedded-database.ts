/**
 * The embedded database server, for running without configuration. All its files are in the data folder.
 *
 * The first service process on a data folder starts the server. Other processes on the same folder use the same server,
 * also one that remained after a kill -9. The last process that uses the server stops it. If the server ends or no
 * longer answers reads, the first process that notices this starts it again on its port.
 *
 * It listens on the loopback, which every user of the machine can reach. So it requires a password that only the owner
 * of the data folder can read.
 */
import type { DatabaseLog } from '../log.ts';
import { engineIdSchema, type EngineContext, type EngineId } from './engines.ts';
import { withFileLock } from './file-lock.ts';
import { DatabaseFolder } from './folder.ts';
import { isFull } from './free-space.ts';
import { localUri, openProbe } from './identity.ts';
import { EmbeddedDatabaseError, obtainServer, replaceServer } from './obtain-server.ts';
import { isRunning, processorTimeOf, type Environment } from './processes.ts';
import { stopServer } from './server-process.ts';
import { watchServer, type WatchTimes } from './watch.ts';

export interface EmbeddedOptions {
  /** The service's data folder; the database is in `database` below it. */
  dataDir: string;
  /** For downloads and installations, shared between data folders. */
  cacheDir: string;
  /** `process.env` or a replacement for it: `PATH`, proxies, pip settings. */
  env: Environment;
  log: DatabaseLog;
  /** The engines to try for a new data folder, in this order; by default all. */
  engines?: readonly EngineId[];
  now?: () => Date;
  /** False for data that is not needed after a crash, as in tests: then writes are not forced to the disk. */
  syncsWrites?: boolean;
  /** Shorter times for tests. */
  watchTimes?: WatchTimes;
  /** Cancels the start: what it has started is ended. After the start it has no effect. */
  signal?: AbortSignal | undefined;
}

export interface EmbeddedDatabase {
  /** Connection string, valid until `stop` even if the server has to be started again. */
  readonly uri: string;
  /** Product, release and origin, such as `SecantusDB 0.7.0b3 (secantusd-py)`. */
  readonly engine: string;
  /** False when the engine runs without a password, so that every user of this machine can use it. */
  readonly isProtected: boolean;
  /** True while the file system of the data folder has too little space for the server to start. */
  isFull(): Promise<boolean>;
  /** Stops the server, unless another service process uses it. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded database of a data folder, or finds the running one. A folder keeps its engine; a new folder gets
 * the first engine that this machine can run. The first start can take a minute (a download).
 *
 * @throws EmbeddedDatabaseError, or the reason of the signal
 */
export async function startEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { log, signal } = options;
  const folder = await openFolder(options.dataDir);
  const starting: EngineContext = { now: () => new Date(), ...options };
  const context: EngineContext = { ...starting, signal: undefined };
  const locked = <Result>(action: () => Promise<Result>, ending?: AbortSignal): Promise<Result> =>
    withFileLock(folder.lockPath, action, {
      signal: ending,
      onWait: (pid) => {
        log.info({ pid }, 'waiting for another process that is preparing the database');
      },
    });

  const { leave, ...first } = await locked(async () => {
    const leave = await folder.join();
    try {
      return { leave, server: await obtainServer(folder, starting, options.engines ?? engineIdSchema.options) };
    } catch (error) {
      await leave();
      throw error;
    }
  }, signal);

  let { server } = first;
  let lacksSpace = false;
  const unwatch = watchServer(
    {
      isRunning: () => isRunning(server.pid),
      processorTime: () => processorTimeOf(server.pid),
      openProbe: () => openProbe(server.access),
      isFull: () => isFull(folder.path),
      async replace() {
        try {
          server = await locked(() => replaceServer(folder, context, server));
          lacksSpace = false;
        } catch (error) {
          // The last lines of the server's log: some servers need more space to start than others.
          lacksSpace = error instanceof Error && /no space left on device/i.test(error.message);
          throw error;
        }
      },
    },
    log,
    options.watchTimes,
  );

  return {
    uri: localUri(server.access),
    engine: `${server.product} (${server.engine})`,
    isProtected: server.isProtected,
    isFull: async () => lacksSpace || (await isFull(folder.path)),
    async stop() {
      await unwatch();
      await locked(async () => {
        await leave();
        if (await folder.hasUsers()) return;
        // Another process may have restarted the server in the meantime.
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
      `The folder of the database cannot be used (${reason}). Set DATA_DIR to a folder that this user can write to, or set MONGODB_URI to your own MongoDB.`,
      { cause },
    );
  }
}
