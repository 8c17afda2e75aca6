/**
 * A database server of the service's own, for running without any configuration. All its files are in the data folder.
 *
 * Who starts it: the first service process on a data folder. Others on the same folder use the same server, and so does
 * a process that finds one left over by a kill -9. Who stops it: the last process that uses it. A server that ends by
 * itself is started again on its port.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseLog } from '../log.ts';
import { ENGINE_ORDER, engines, type EngineContext, type EngineId } from './engines.ts';
import { withFileLock } from './file-lock.ts';
import { DatabaseFolder, type FolderRecord } from './folder.ts';
import { identify, localUri, mark } from './identity.ts';
import { isRunning, type Environment } from './processes.ts';
import { freePort, launchServer, ServerLaunchError, stopServer } from './server-process.ts';

const WATCH_INTERVAL_MS = 1_000;
/** A server that is stopping, or is not yet answering, still holds its files: it gets this many seconds. */
const LAUNCH_ATTEMPTS = 10;
const LAUNCH_PAUSE_MS = 1_000;

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

/** No embedded database could be started. The message is for the operator and says what was tried and what to do. */
export class EmbeddedDatabaseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedDatabaseError';
  }
}

interface RunningServer {
  pid: number;
  port: number;
  product: string;
  engine: EngineId;
}

/**
 * Starts the embedded database of a data folder, or finds the one that runs. A folder keeps the engine that it was made
 * with; a new one takes the first engine that this machine can run. May take a minute the first time (a download).
 *
 * @throws EmbeddedDatabaseError
 */
export async function startEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { log } = options;
  const folder = await DatabaseFolder.open(options.dataDir);
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
        await stopServer(server.pid);
        await folder.removeServer();
      });
    },
  };
}

/** The server that runs on a folder, or a new one. Called under the folder's lock. */
async function obtainServer(
  folder: DatabaseFolder,
  context: EngineContext,
  order: readonly EngineId[],
  port?: number,
): Promise<RunningServer> {
  const record = await folder.readRecord().catch((error: unknown) => {
    throw new EmbeddedDatabaseError(`${messageOf(error)} ${WHAT_TO_DO}`, { cause: error });
  });
  return record === undefined ? startFirst(folder, context, order) : startRecorded(folder, context, record, port);
}

async function startRecorded(
  folder: DatabaseFolder,
  context: EngineContext,
  record: FolderRecord,
  port: number | undefined,
): Promise<RunningServer> {
  let failure: unknown;
  for (let attempt = 1; attempt <= LAUNCH_ATTEMPTS; attempt += 1) {
    const running = await findRunning(folder, record);
    if (running !== undefined) return running;
    try {
      return await launch(folder, context, record, await locateRecorded(context, record), port);
    } catch (error) {
      if (!(error instanceof ServerLaunchError)) throw error;
      failure = error;
      await sleep(LAUNCH_PAUSE_MS);
    }
  }
  throw new EmbeddedDatabaseError(
    `The database in ${folder.path} cannot be started. ${messageOf(failure)}\n` +
      `If another process uses these files, it is named in ${folder.path}/server.json.`,
    { cause: failure },
  );
}

async function findRunning(folder: DatabaseFolder, record: FolderRecord): Promise<RunningServer | undefined> {
  const server = await folder.readServer();
  if (server === undefined || !isRunning(server.pid)) return undefined;
  const identity = await identify(server.port).catch(() => undefined);
  if (identity?.folderId !== record.id) return undefined;
  return { pid: server.pid, port: server.port, product: identity.product, engine: record.engine };
}

async function locateRecorded(context: EngineContext, { engine, version }: FolderRecord): Promise<string> {
  const { title } = engines[engine];
  let reason = 'it is not there any more';
  let cause: unknown;
  try {
    const command = await engines[engine].locate(context, version);
    if (command !== undefined) return command;
  } catch (error) {
    cause = error;
    reason = messageOf(error);
  }
  throw new EmbeddedDatabaseError(
    `This data folder was made with ${title}${version === undefined ? '' : ` (${version})`}, ` +
      `and no other engine can read its files; but ${reason}. ${WHAT_TO_DO}`,
    { cause },
  );
}

async function startFirst(
  folder: DatabaseFolder,
  context: EngineContext,
  order: readonly EngineId[],
): Promise<RunningServer> {
  const tried: string[] = [];
  for (const id of order) {
    const { title, version } = engines[id];
    try {
      const command = await engines[id].locate(context, version);
      if (command === undefined) {
        tried.push(`- ${title}: there is none`);
        continue;
      }
      const record: FolderRecord = { id: crypto.randomUUID(), engine: id, ...(version && { version }) };
      // Before the first start: should this process be killed meanwhile, the files are known for whose they are.
      await folder.writeRecord(record);
      return await launch(folder, context, record, command, undefined);
    } catch (error) {
      context.log.warn({ engine: id }, `${title} cannot be used: ${messageOf(error)}`);
      tried.push(`- ${title}: ${messageOf(error)}`);
      if ((await folder.readRecord().catch(() => undefined)) !== undefined) await folder.discard(id);
    }
  }
  throw new EmbeddedDatabaseError(
    `No database can be started on this machine. Set MONGODB_URI, or install MongoDB or Python 3. Tried:\n${tried.join('\n')}`,
  );
}

async function launch(
  folder: DatabaseFolder,
  { env }: EngineContext,
  record: FolderRecord,
  command: string,
  wantedPort: number | undefined,
): Promise<RunningServer> {
  const port = wantedPort ?? (await freePort());
  const storagePath = folder.storagePath(record.engine);
  const { pid, identity } = await launchServer({
    command,
    args: engines[record.engine].args({ port, storagePath }),
    port,
    storagePath,
    logPath: folder.logPath,
    env,
    onSpawn: (spawned) => folder.writeServer({ pid: spawned, port, storagePath }),
  });
  if (identity.folderId === undefined) {
    await mark(port, record.id);
  } else if (identity.folderId !== record.id) {
    await stopServer(pid);
    throw new EmbeddedDatabaseError(
      `The database files in ${storagePath} belong to another data folder. ${WHAT_TO_DO}`,
    );
  }
  return { pid, port, product: identity.product, engine: record.engine };
}

const WHAT_TO_DO = 'Bring it back, give another folder by DATA_DIR, or use a MongoDB of your own by MONGODB_URI.';

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
