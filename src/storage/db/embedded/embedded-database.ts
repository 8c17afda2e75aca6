/**
 * The embedded database server, for running without configuration. All its files are in the data folder.
 *
 * The first service process on a data folder starts the server. Other processes on the same folder use the same server.
 * The last process that uses the server stops it; if that process is killed, the server is asked to stop, too
 * (`lifeline.ts`). If the server ends or no longer answers reads, the first process that notices this starts it again on
 * its port.
 *
 * It listens on the loopback, which every user of the machine can reach. So it requires a password that only the owner
 * of the data folder can read.
 */
import { engineIdSchema, type EngineContext, type EngineId } from './engines.ts';
import { isShared, shareLock, withFileLock } from './file-lock.ts';
import { DatabaseFolder } from './folder.ts';
import { connectTo, isProtected, localUri, readFolderId } from './identity.ts';
import { obtainServer, replaceServer } from './obtain-server.ts';
import { isRunning, processorTimeOf } from './processes.ts';
import { stopServer } from './server-process.ts';
import { watchServer, type WatchTimes } from './watch.ts';

/** The signal cancels the start: what it has started is ended. After the start it has no effect. */
export interface EmbeddedOptions extends EngineContext {
  /** The service's data folder; the database is in `database` below it. */
  dataDir: string;
  /** The engines to try for a new data folder, in this order; by default all. */
  engines?: readonly EngineId[];
  /** Shorter times for tests. */
  watchTimes?: WatchTimes;
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
  const folder = await DatabaseFolder.open(options.dataDir);
  const locked = <Result>(action: () => Promise<Result>, ending?: AbortSignal): Promise<Result> =>
    withFileLock(folder.pathOf('starting.lock'), action, {
      signal: ending,
      onWait: () => {
        log.info({}, 'waiting for another process that is preparing the database, for at most 15 min');
      },
    });

  const [first, leave] = await locked(async () => {
    const obtained = await obtainServer(folder, options, options.engines ?? engineIdSchema.options);
    return [obtained, shareLock(folder.pathOf('users.lock'))] as const;
  }, signal);
  const { access, engine } = first;

  let { pid, lifeline } = first;
  let lacksSpace = false;
  const client = connectTo(access);
  const unwatch = watchServer(
    {
      isRunning: () => isRunning(pid),
      processorTime: () => processorTimeOf(pid),
      read: () => readFolderId(client),
      isFull: () => folder.isFull(),
      async replace() {
        try {
          const former = lifeline;
          ({ pid, lifeline } = await locked(() =>
            replaceServer(folder, { ...options, signal: undefined }, { pid, access, engine }),
          ));
          former.release();
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
    uri: localUri(access),
    engine,
    isProtected: await isProtected(access),
    isFull: async () => lacksSpace || (await folder.isFull()),
    async stop() {
      await unwatch();
      await client.close();
      await locked(async () => {
        leave();
        if (!isShared(folder.pathOf('users.lock'))) {
          // Another process may have restarted the server in the meantime.
          await stopServer((await folder.readServer())?.pid ?? pid);
          await folder.removeServer();
        }
        lifeline.release();
      });
    },
  };
}
