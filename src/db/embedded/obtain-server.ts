import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { engines, type EngineContext, type EngineId } from './engines.ts';
import type { DatabaseFolder, FolderRecord } from './folder.ts';
import { identify, mark } from './identity.ts';
import { isRunning } from './processes.ts';
import { freePort, launchServer, ServerLaunchError, stopServer } from './server-process.ts';

/** A server that is stopping, or is not yet answering, still holds its files: it gets this many seconds. */
const LAUNCH_ATTEMPTS = 10;
const LAUNCH_PAUSE_MS = 1_000;

const WHAT_TO_DO = 'Bring it back, give another folder by DATA_DIR, or use a MongoDB of your own by MONGODB_URI.';

/** No embedded database could be started. The message is for the operator and says what was tried and what to do. */
export class EmbeddedDatabaseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedDatabaseError';
  }
}

/** A server that answers, and the engine behind it. */
export interface RunningServer {
  pid: number;
  port: number;
  product: string;
  engine: EngineId;
}

/**
 * The server that runs on a folder, or a new one. Called under the folder's lock.
 *
 * @param order what to try for a new folder, first to last
 * @param port where the server has to be, when clients know it already
 * @throws EmbeddedDatabaseError
 */
export async function obtainServer(
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
      const record: FolderRecord = { id: randomUUID(), engine: id, ...(version && { version }) };
      // Before the first start: should this process be killed meanwhile, the files are known for whose they are.
      await folder.writeRecord(record);
      return await launch(folder, context, record, command, undefined);
    } catch (error) {
      context.log.info({ engine: id }, `${title} cannot be used: ${messageOf(error)}`);
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
  const previous = await folder.readServer();
  const { pid, identity } = await launchServer({
    command,
    args: engines[record.engine].args({ port, storagePath }),
    port,
    storagePath,
    logPath: folder.logPath,
    env,
    onSpawn: (spawned) => folder.writeServer({ pid: spawned, port, storagePath }),
  }).catch(async (error: unknown) => {
    // A server that is only too busy to answer keeps this one from starting, and must be found the next time.
    if (previous !== undefined) await folder.writeServer(previous);
    throw error;
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
