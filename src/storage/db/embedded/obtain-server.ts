import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../base/runtime/system-error.ts';
import { cacheMebibytesFor, engines, type EngineContext, type EngineId } from './engines.ts';
import { EmbeddedDatabaseError, WHAT_TO_DO, type DatabaseFolder, type FolderRecord } from './folder.ts';
import {
  createFirstUser,
  identify,
  isBroken,
  isRefusal,
  mark,
  SERVER_USER,
  type Access,
  type ServerIdentity,
} from './identity.ts';
import { createLifeline, joinLifeline, type Lifeline } from './lifeline.ts';
import { isRunning, processorTimeOf, runsWith } from './processes.ts';
import { freePort, launchServer, ServerLaunchError, stopServer } from './server-process.ts';
import { createPatience, usualWatchTimes } from './watch.ts';

/** Where a process cannot be examined, a server that is stopping may still hold the files. */
const LAUNCH_ATTEMPTS = 10;
const PAUSE_MS = 1_000;
/** Milliseconds for a server that no longer works to stop after a signal. */
const BROKEN_SERVER_LIMIT_MS = 3_000;

/** A server that answers. */
export interface RunningServer extends FoundServer {
  /** Keeps it running for this process. */
  lifeline: Lifeline;
}

interface FoundServer {
  pid: number;
  access: Access;
  /** Product, release and origin, such as `SecantusDB 0.7.0b3 (secantusd-py)`. */
  engine: string;
}

/** What the last server of a folder does. */
type State =
  | { status: 'answers'; server: FoundServer }
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
  const record = await folder.readRecord();
  if (record === undefined) return startFirst(folder, context, order);
  await waitWhileSilent(folder, context, record);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await replaceServer(folder, context);
    } catch (cause) {
      if (!(cause instanceof ServerLaunchError)) throw cause;
      const failed = `The database in ${folder.path} cannot be started`;
      if (await folder.isFull()) {
        throw new EmbeddedDatabaseError(`${failed}: its file system is full. Free some space and start again.`, {
          cause,
        });
      }
      if (attempt === LAUNCH_ATTEMPTS) {
        const other = `If another process uses these files, it is named in ${folder.path}/server.json.`;
        throw new EmbeddedDatabaseError(`${failed}. ${cause.message}\n${other}`, { cause });
      }
    }
    await sleep(PAUSE_MS, undefined, { signal: context.signal });
  }
}

/**
 * Replaces a server that has ended or no longer works, by one that another process has started in the meantime, or by a
 * new one. The old one has ended before a new one is started. One attempt, under the folder's lock.
 *
 * @param known the old server, if this process has used it: the new one gets its port
 * @throws ServerLaunchError when there is none yet; EmbeddedDatabaseError
 */
export async function replaceServer(
  folder: DatabaseFolder,
  context: EngineContext,
  known?: FoundServer,
): Promise<RunningServer> {
  const record = await folder.readRecord();
  if (record === undefined) throw new EmbeddedDatabaseError(`${folder.path} has lost its record of the engine.`);
  const state = await examine(folder, record, known?.pid);
  if (state.status === 'answers') {
    const lifeline = joinLifeline(folder.pathOf('lifeline'));
    if (lifeline !== undefined) return { ...state.server, lifeline };
    // The last process that used it was killed.
    await stopServer(state.server.pid);
  } else if (state.status !== 'gone') {
    await stopServer(state.pid, BROKEN_SERVER_LIMIT_MS);
  }
  return launch(folder, context, record, await locateRecorded(context, record), known?.access.port);
}

async function waitWhileSilent(folder: DatabaseFolder, context: EngineContext, record: FolderRecord): Promise<void> {
  const patience = createPatience(usualWatchTimes, performance.now());
  for (let isFirst = true; ; isFirst = false) {
    context.signal?.throwIfAborted();
    const state = await examine(folder, record);
    if (state.status !== 'silent') return;
    if (patience.isOver(await processorTimeOf(state.pid), performance.now())) return;
    if (isFirst)
      context.log.info({}, 'the database server does not answer; waiting for a minute, or for 30 min while it works');
    await sleep(PAUSE_MS, undefined, { signal: context.signal });
  }
}

async function examine(folder: DatabaseFolder, record: FolderRecord, known?: number): Promise<State> {
  const last = await folder.readServer();
  if (last === undefined || !isRunning(last.pid)) return { status: 'gone' };
  const { pid, port } = last;
  const access = { port, password: await folder.readPassword() };
  let failure: unknown;
  try {
    const identity = await identify(access);
    if (identity.folderId === record.id) return { status: 'answers', server: describe(pid, access, identity, record) };
  } catch (error) {
    failure = error;
  }
  // Another process may have got its number, and another server its port.
  const isOwn = pid === known || (await runsWith(pid, folder.pathOf(record.engine)));
  if (!isOwn || isRefusal(failure)) return { status: 'gone' };
  return { status: failure === undefined || isBroken(failure) ? 'broken' : 'silent', pid };
}

function describe(pid: number, access: Access, { product }: ServerIdentity, { engine }: FolderRecord): FoundServer {
  return { pid, access, engine: `${product} (${engine})` };
}

async function locateRecorded(context: EngineContext, { engine, version }: FolderRecord): Promise<string> {
  try {
    return await engines[engine].locate(context, version);
  } catch (cause) {
    context.signal?.throwIfAborted();
    throw new EmbeddedDatabaseError(
      `This data folder was made with ${engines[engine].title}${version === undefined ? '' : ` (${version})`}, and no ` +
        `other engine can read its files; but ${messageOf(cause)}. ${WHAT_TO_DO}`,
      { cause },
    );
  }
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

async function launch(
  folder: DatabaseFolder,
  context: EngineContext,
  record: FolderRecord,
  command: string,
  knownPort?: number,
): Promise<RunningServer> {
  const { env, syncsWrites = true, signal } = context;
  const storagePath = folder.pathOf(record.engine);
  await mkdir(storagePath, { recursive: true, mode: 0o700 });
  const password = await obtainPassword(folder, context, record.engine, command);
  const port = knownPort ?? (await freePort());
  const access = { port, password };
  const cacheMebibytes = cacheMebibytesFor(Math.min(process.constrainedMemory() || Infinity, totalmem()));
  const previous = await folder.readServer();
  let lifeline: Lifeline | undefined;
  const { pid, identity } = await launchServer({
    command,
    args: engines[record.engine].args({ port, storagePath, cacheMebibytes, auth: true, syncsWrites }),
    port,
    storagePath,
    logPath: folder.pathOf('server.log'),
    env,
    async onSpawn(spawned) {
      await folder.writeServer({ pid: spawned, port, storagePath });
      lifeline = await createLifeline(folder.pathOf('lifeline'), { pid: spawned, storagePath, env });
    },
    identify: () => identifyOwn(folder, access),
    signal,
  }).catch(async (error: unknown) => {
    lifeline?.release();
    await rm(folder.pathOf('lifeline'), { force: true });
    // If the old server is only too busy to answer, this one cannot start, and the old one must be found the next time.
    if (previous !== undefined) await folder.writeServer(previous);
    throw error;
  });
  await mark(access, record.id);
  if (lifeline === undefined) throw new Error('a server was started that nothing guards');
  return { ...describe(pid, access, identity, record), lifeline };
}

/**
 * The password of the folder's server, created at the first start. It is stored before a server over the network gets
 * it: with a lost password the folder would be unusable.
 */
async function obtainPassword(
  folder: DatabaseFolder,
  { env, signal }: EngineContext,
  id: EngineId,
  command: string,
): Promise<string> {
  const existing = await folder.readPassword();
  if (existing !== undefined) return existing;
  const password = randomBytes(32).toString('base64url');
  await engines[id].addUser?.({ command, storagePath: folder.pathOf(id), name: SERVER_USER, password, env, signal });
  await folder.writePassword(password);
  return password;
}

/** Identifies a server. When it has no user yet, creates it, to be asked again. */
async function identifyOwn(folder: DatabaseFolder, access: Access): Promise<ServerIdentity | undefined> {
  try {
    return await identify(access);
  } catch (error) {
    if (!isRefusal(error)) return undefined;
  }
  try {
    await createFirstUser(access);
  } catch (cause) {
    if (!isRefusal(cause)) return undefined;
    throw new EmbeddedDatabaseError(
      `The database does not accept the password in ${folder.pathOf('password')}. ${WHAT_TO_DO}`,
      { cause },
    );
  }
  return undefined;
}
