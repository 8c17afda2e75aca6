import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../runtime/system-error.ts';
import { cacheMebibytesFor, engines, type EngineContext, type EngineId } from './engines.ts';
import type { DatabaseFolder, FolderRecord } from './folder.ts';
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
import { isRunning, processorTimeOf, runsWith } from './processes.ts';
import { freePort, launchServer, ServerLaunchError, stopServer } from './server-process.ts';
import { createPatience, usualWatchTimes } from './watch.ts';

/** Where a process cannot be examined, a server that is stopping may still hold the files. */
const LAUNCH_ATTEMPTS = 10;
const PAUSE_MS = 1_000;
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

/** What the last server of a folder does. */
type State =
  | { status: 'answers'; server: RunningServer }
  /** It says that it cannot read, or was never marked: its start was interrupted. It still locks the files. */
  | { status: 'broken'; pid: number }
  /** It runs without answering, as some servers do while they build or drop an index. */
  | { status: 'silent'; pid: number }
  /** It has ended, or it cannot be told whether its process is the folder's server. */
  | { status: 'gone' };

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
  const state = await examine(folder, record, access.password);
  if (state.status === 'answers') return state.server;
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
  let isOver: ReturnType<typeof createPatience> | undefined;
  for (let attempts = 0; ;) {
    context.signal?.throwIfAborted();
    const state = await examine(folder, record, await folder.readPassword());
    if (state.status === 'answers') return state.server;
    const now = performance.now();
    if (state.status === 'silent') {
      if (isOver === undefined) context.log.info({}, 'the database server is busy; waiting until it answers');
      isOver ??= createPatience(usualWatchTimes, now);
      if (!isOver(await processorTimeOf(state.pid), now)) {
        await sleep(PAUSE_MS, undefined, { signal: context.signal });
        continue;
      }
    }
    if (state.status !== 'gone') await stopServer(state.pid, BROKEN_SERVER_LIMIT_MS);
    try {
      return await launch(folder, context, record, await locateRecorded(context, record));
    } catch (error) {
      if (!(error instanceof ServerLaunchError)) throw error;
      attempts += 1;
      const isFull = await folder.isFull();
      if (isFull || attempts === LAUNCH_ATTEMPTS) {
        throw new EmbeddedDatabaseError(
          isFull
            ? `The database in ${folder.path} cannot be started: its file system is full. Free some space and start again.`
            : `The database in ${folder.path} cannot be started. ${error.message}\n` +
                `If another process uses these files, it is named in ${folder.path}/server.json.`,
          { cause: error },
        );
      }
      await sleep(PAUSE_MS, undefined, { signal: context.signal });
    }
  }
}

async function examine(folder: DatabaseFolder, record: FolderRecord, password: string | undefined): Promise<State> {
  const last = await folder.readServer();
  if (last === undefined || !isRunning(last.pid)) return { status: 'gone' };
  const { pid, port } = last;
  const access = { port, password };
  let failure: unknown;
  try {
    const identity = await identify(access);
    if (identity.folderId === record.id) {
      return { status: 'answers', server: await describe(pid, access, identity, record) };
    }
  } catch (error) {
    failure = error;
  }
  // Another process may have got its number, and another server its port.
  const isOwn = await runsWith(pid, folder.pathOf(record.engine));
  if (!isOwn || isRefusal(failure)) return { status: 'gone' };
  return { status: failure === undefined || isBroken(failure) ? 'broken' : 'silent', pid };
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
  let cause: unknown;
  try {
    const command = await engines[engine].locate(context, version);
    if (command !== undefined) return command;
  } catch (error) {
    context.signal?.throwIfAborted();
    cause = error;
  }
  throw new EmbeddedDatabaseError(
    `This data folder was made with ${title}${version === undefined ? '' : ` (${version})`}, and no other engine can ` +
      `read its files; but ${cause === undefined ? 'it is not there any more' : messageOf(cause)}. ${WHAT_TO_DO}`,
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
      await folder.discard(id);
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
  const storagePath = folder.pathOf(record.engine);
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
    logPath: folder.pathOf('server.log'),
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
    const storagePath = folder.pathOf(id);
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
      `The database does not accept the password in ${folder.pathOf('password')}. ${WHAT_TO_DO}`,
      { cause: error },
    );
  }
  return identify(access).catch(() => undefined);
}
