/**
 * The embedded database server, for running without configuration. All its files are in the data folder.
 *
 * The first service process on a data folder starts the server. Other processes on the same folder use the same server,
 * also one that remained after a kill -9. The last process that uses the server stops it. If the server ends or no
 * longer answers reads, the first process that notices this starts it again on its port.
 *
 * It listens on the loopback, where every user of the machine reaches it, so it asks for a password, which only the
 * owner of the data folder can read.
 */
import type { DatabaseLog } from '../log.ts';
import { ENGINE_ORDER, type EngineContext, type EngineId } from './engines.ts';
import { withFileLock } from './file-lock.ts';
import { DatabaseFolder } from './folder.ts';
import { isFull } from './free-space.ts';
import { localUri, openProbe } from './identity.ts';
import { EmbeddedDatabaseError, obtainServer, replaceServer } from './obtain-server.ts';
import { isRunning, type Environment } from './processes.ts';
import { stopServer } from './server-process.ts';
import { watchServer, type WatchTimes } from './watch.ts';

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
  /** False for data that nobody needs after a crash, as in tests: a write is then not forced to the disk. */
  syncsWrites?: boolean;
  /** For tests that cannot wait so long. */
  watchTimes?: WatchTimes;
}

export interface EmbeddedDatabase {
  /** Connection string, valid until `stop` even if the server has to be started again. */
  readonly uri: string;
  /** Product, release and origin, such as `SecantusDB 0.7.0b3 (secantusd-py)`. */
  readonly engine: string;
  /** False when the engine runs without a password, so that everybody on this machine may use it. */
  readonly isProtected: boolean;
  /** True while the file system of the data folder has no space left, or too little for the server to start. */
  isFull(): Promise<boolean>;
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

  let { server } = first;
  let lacksSpace = false;
  const unwatch = watchServer(
    {
      isRunning: () => isRunning(server.pid),
      openProbe: () => openProbe(server.access),
      isFull: () => isFull(folder.path),
      async replace() {
        try {
          server = await locked(() => replaceServer(folder, context, server));
          lacksSpace = false;
        } catch (error) {
          // The server's last words: some need more space to start than others.
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
      `The folder of the database cannot be used (${reason}). Set DATA_DIR to a folder that this user can write to, or set MONGODB_URI to your own MongoDB.`,
      { cause },
    );
  }
}
