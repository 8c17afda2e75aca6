import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheMebibytesFor, engines, type EngineContext, type EngineId } from './engines.ts';
import type { DatabaseFolder, FolderRecord } from './folder.ts';
import { isFull } from './free-space.ts';
import {
  createFirstUser,
  identify,
  isBroken,
  isProtected,
  isRefusal,
  mark,
  SERVER_USER,
  type Access,
  type ServerIdentity,
} from './identity.ts';
import { createWorkWatch, isRunning, processorTimeOf, runsWith } from './processes.ts';
import { freePort, launchServer, ServerLaunchError, stopServer } from './server-process.ts';

/** A server that is stopping or does not answer yet still holds its files. This is how long to wait for it. */
const LAUNCH_ATTEMPTS = 10;
const LAUNCH_PAUSE_MS = 1_000;
/** Milliseconds for which a server that does not answer is looked at. */
const BUSY_LOOK_MS = 1_000;
/** Milliseconds for a server that no longer works to stop after a signal. */
const BROKEN_SERVER_LIMIT_MS = 3_000;

const WHAT_TO_DO = 'Restore it, set DATA_DIR to another folder, or set MONGODB_URI to your own MongoDB.';

/**
 * No embedded database could be started. The message is for the operator and says what was attempted and what to do.
 */
export class EmbeddedDatabaseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedDatabaseError';
  }
}

/** A server that answers, and its engine. */
export interface RunningServer {
  pid: number;
  access: Access;
  product: string;
  engine: EngineId;
  /** False when every user of this machine can use it. */
  isProtected: boolean;
}

/**
 * The running server of a folder, or a new one. Called under the folder's lock.
 *
 * @param order the engines to try for a new folder, in this order
 * @throws EmbeddedDatabaseError, or the reason of the context's signal
 */
export async function obtainServer(
  folder: DatabaseFolder,
  context: EngineContext,
  order: readonly EngineId[],
): Promise<RunningServer> {
  const record = await folder.readRecord().catch((error: unknown) => {
    throw new EmbeddedDatabaseError(`${messageOf(error)} ${WHAT_TO_DO}`, { cause: error });
  });
  return record === undefined ? startFirst(folder, context, order) : startRecorded(folder, context, record);
}

/**
 * Replaces a server that has ended or no longer works, by one that another process has started in the meantime, or by a
 * new one on the same port with the same password. The old one has ended before a new one is started. One attempt,
 * under the folder's lock.
 *
 * @throws Error when there is none yet
 */
export async function replaceServer(
  folder: DatabaseFolder,
  context: EngineContext,
  { access, pid }: RunningServer,
): Promise<RunningServer> {
  const record = await folder.readRecord();
  if (record === undefined) throw new Error(`${folder.path} has lost its record of the engine.`);
  const running = await findRunning(folder, record, access.password);
  if (running !== undefined) return running;
  // Another process may have started a server since, and that one may have failed too.
  const last = (await folder.readServer())?.pid ?? pid;
  if (isRunning(last)) await stopServer(last, BROKEN_SERVER_LIMIT_MS);
  return launch(folder, context, record, await locateRecorded(context, record), access);
}

async function startRecorded(
  folder: DatabaseFolder,
  context: EngineContext,
  record: FolderRecord,
): Promise<RunningServer> {
  let failure: unknown;
  let toldBusy = false;
  for (let attempt = 1; attempt <= LAUNCH_ATTEMPTS; attempt += 1) {
    context.signal?.throwIfAborted();
    const running = await findRunning(folder, record, await folder.readPassword());
    if (running !== undefined) return running;
    await endBrokenServer(folder, record);
    if (await isBusy(folder, record)) {
      if (!toldBusy) context.log.info({}, 'the database server is busy; waiting until it answers');
      toldBusy = true;
      // This uses up no attempts.
      attempt -= 1;
      continue;
    }
    try {
      return await launch(folder, context, record, await locateRecorded(context, record));
    } catch (error) {
      if (!(error instanceof ServerLaunchError)) throw error;
      failure = error;
      if (await isFull(folder.path)) break;
      await sleep(LAUNCH_PAUSE_MS, undefined, { signal: context.signal });
    }
  }
  if (await isFull(folder.path)) {
    throw new EmbeddedDatabaseError(
      `The database in ${folder.path} cannot be started: its file system is full. Free some space and start again.`,
      { cause: failure },
    );
  }
  throw new EmbeddedDatabaseError(
    `The database in ${folder.path} cannot be started. ${messageOf(failure)}\n` +
      `If another process uses these files, it is named in ${folder.path}/server.json.`,
    { cause: failure },
  );
}

async function findRunning(
  folder: DatabaseFolder,
  record: FolderRecord,
  password: string | undefined,
): Promise<RunningServer | undefined> {
  const server = await folder.readServer();
  if (server === undefined || !isRunning(server.pid)) return undefined;
  const access = { port: server.port, password };
  const identity = await identify(access).catch(() => undefined);
  if (identity?.folderId !== record.id) return undefined;
  return describe(server.pid, access, identity, record);
}

/**
 * Ends a server that remained and answers that it cannot read: its storage engine has stopped, and it still locks the
 * files. Only if the process is certainly the folder's server.
 */
async function endBrokenServer(folder: DatabaseFolder, { engine }: FolderRecord): Promise<void> {
  const server = await folder.readServer();
  if (server === undefined || !(await runsWith(server.pid, folder.storagePath(engine)))) return;
  const failure: unknown = await identify({ port: server.port, password: await folder.readPassword() }).catch(
    (error: unknown) => error,
  );
  if (!isBroken(failure)) return;
  await stopServer(server.pid, BROKEN_SERVER_LIMIT_MS);
}

/**
 * Whether the folder's server runs and works without answering, as some servers do while they build or drop an index. It
 * locks the files, so no other can be started. Takes a second. On systems without /proc always false.
 */
async function isBusy(folder: DatabaseFolder, { engine }: FolderRecord): Promise<boolean> {
  const server = await folder.readServer();
  if (server === undefined || !(await runsWith(server.pid, folder.storagePath(engine)))) return false;
  const work = createWorkWatch();
  work.hasWorked(await processorTimeOf(server.pid), performance.now());
  await sleep(BUSY_LOOK_MS);
  return work.hasWorked(await processorTimeOf(server.pid), performance.now());
}

async function describe(
  pid: number,
  access: Access,
  { product }: ServerIdentity,
  { engine }: FolderRecord,
): Promise<RunningServer> {
  return { pid, access, product, engine, isProtected: await isProtected(access) };
}

async function locateRecorded(context: EngineContext, { engine, version }: FolderRecord): Promise<string> {
  const { title } = engines[engine];
  let reason = 'it is not there any more';
  let cause: unknown;
  try {
    const command = await engines[engine].locate(context, version);
    if (command !== undefined) return command;
  } catch (error) {
    context.signal?.throwIfAborted();
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
      // Written before the first start, so that the files can be identified if this process is killed.
      await folder.writeRecord(record);
      return await launch(folder, context, record, command);
    } catch (error) {
      if ((await folder.readRecord().catch(() => undefined)) !== undefined) await folder.discard(id);
      context.signal?.throwIfAborted();
      context.log.info({ engine: id }, `${title} cannot be used: ${messageOf(error)}`);
      tried.push(`- ${title}: ${messageOf(error)}`);
    }
  }
  throw new EmbeddedDatabaseError(
    `No database can be started on this machine. Set MONGODB_URI, or install MongoDB or Python 3. Tried:\n${tried.join('\n')}`,
  );
}

/** @param wanted the address that clients already use for the server */
async function launch(
  folder: DatabaseFolder,
  context: EngineContext,
  record: FolderRecord,
  command: string,
  wanted?: Access,
): Promise<RunningServer> {
  const { env, syncsWrites = true, signal } = context;
  const engine = engines[record.engine];
  const storagePath = folder.storagePath(record.engine);
  const access = wanted ?? {
    port: await freePort(),
    password: await obtainPassword(folder, context, record.engine, command),
  };
  const { port, password } = access;
  const cacheMebibytes = cacheMebibytesFor(Math.min(process.constrainedMemory() || Infinity, totalmem()));
  const previous = await folder.readServer();
  const { pid, identity } = await launchServer({
    command,
    args: engine.args({ port, storagePath, cacheMebibytes, auth: password !== undefined, syncsWrites }),
    port,
    storagePath,
    logPath: folder.logPath,
    env,
    onSpawn: (spawned) => folder.writeServer({ pid: spawned, port, storagePath }),
    identify: () => identifyOwn(folder, access),
    signal,
  }).catch(async (error: unknown) => {
    // If the old server is only too busy to answer, this one cannot start, and the old one must be found the next time.
    if (previous !== undefined) await folder.writeServer(previous);
    throw error;
  });
  if (identity.folderId === undefined) {
    await mark(access, record.id);
  } else if (identity.folderId !== record.id) {
    await stopServer(pid);
    throw new EmbeddedDatabaseError(
      `The database files in ${storagePath} belong to another data folder. ${WHAT_TO_DO}`,
    );
  }
  return describe(pid, access, identity, record);
}

/**
 * The password of the folder's server, created at the first start; undefined if the engine cannot have one. It is
 * stored before the server gets it: with a lost password the folder would be unusable.
 */
async function obtainPassword(
  folder: DatabaseFolder,
  { env, log, signal }: EngineContext,
  id: EngineId,
  command: string,
): Promise<string | undefined> {
  const existing = await folder.readPassword();
  if (existing !== undefined) return existing;
  const password = randomBytes(32).toString('base64url');
  try {
    const storagePath = folder.storagePath(id);
    await mkdir(storagePath, { recursive: true, mode: 0o700 });
    await engines[id].addUser?.({ command, storagePath, name: SERVER_USER, password, env, signal });
  } catch (error) {
    signal?.throwIfAborted();
    log.warn({ engine: id, err: error }, 'no password could be set for the database');
    return undefined;
  }
  await folder.writePassword(password);
  return password;
}

/** Identifies a server, and creates its user when it has none. */
async function identifyOwn(folder: DatabaseFolder, access: Access): Promise<ServerIdentity | undefined> {
  try {
    return await identify(access);
  } catch (error) {
    if (!isRefusal(error)) return undefined;
  }
  try {
    await createFirstUser(access);
  } catch (error) {
    if (!isRefusal(error)) return undefined;
    throw new EmbeddedDatabaseError(
      `The database does not accept the password in ${folder.passwordPath}. Restore the file, ` +
        'set DATA_DIR to another folder, or set MONGODB_URI to your own MongoDB.',
      { cause: error },
    );
  }
  return identify(access).catch(() => undefined);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
