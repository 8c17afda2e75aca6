import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, MongoCompatibilityError, type Collection, type Db, type MongoClientOptions } from 'mongodb';
import { hostsOf, withoutCredentials, withoutServiceOwnedOptions } from './connection-string.ts';
import { isDuplicateKey, isUnauthorized, isUnavailable, refusesCredentials } from './database-errors.ts';
import type { DatabaseLog } from './log.ts';
import { watchPool, type DatabaseObserver } from './pool-watch.ts';
import { withoutWrites } from './read-only.ts';
import { withRetry } from './retry.ts';
import { abortable } from '../../base/runtime/abortable.ts';
import { hasCode, messageOf } from '../../base/runtime/system-error.ts';

/** Milliseconds to wait for a first answer at start before giving up. */
const START_LIMIT_MS = 30_000;
const START_PAUSE_MS = 1_000;
/** Milliseconds for a readiness check. */
const CHECK_LIMIT_MS = 2_000;

/** A collection that only checks use, so that checks and business data do not affect each other. */
export const CHECK_COLLECTION = 'database_check';

/** An open connection pool to one database. */
export interface Database {
  readonly db: Db;
  /**
   * Resolves after a small write and a read of it. A `ping` does not show enough: a server whose storage engine has
   * stopped still answers it. Neither does a read: a server without a majority or without disk space still answers it.
   * Connections that only read do without the write.
   *
   * @throws ProblemError `database-unavailable` or `storage-full` within 2 s
   */
  ping(): Promise<void>;
  /** Closes all connections. Operations still in progress fail with `database-unavailable`. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** `mongodb://` or `mongodb+srv://`. Options in it about write concern, read preference and retries are ignored. */
  uri: string;
  databaseName: string;
  log: DatabaseLog;
  /** Milliseconds to keep trying at start; 30,000 by default. */
  startLimitMs?: number;
  observer?: DatabaseObserver;
  /** Ends the wait for the server. */
  signal?: AbortSignal | undefined;
  /** For commands that take minutes: waits for answers without a limit. */
  isForLongCommands?: boolean;
  /** Refuses every write. */
  isReadOnly?: boolean;
}

/** The database could not be used at start. The message is for the operator and carries no credentials. */
export class DatabaseStartError extends Error {
  override readonly name = 'DatabaseStartError';
}

/**
 * Connects to MongoDB. Services and databases are often started together, so it repeats the attempt for 30 s while the
 * server cannot be reached, with a log line for each attempt. What does not change by waiting fails immediately: wrong
 * credentials, a wrong URI, a server of another age than the driver, a certificate that is not trusted.
 *
 * @throws DatabaseStartError, or the reason of the signal
 */
export async function connectDatabase(options: ConnectOptions): Promise<Database> {
  const hosts = hostsOf(options.uri);
  const client = createClient(options);
  if (options.observer !== undefined) watchPool(client, options.observer);
  const { isReadOnly = false } = options;
  const db = isReadOnly ? withoutWrites(client.db(options.databaseName)) : client.db(options.databaseName);
  try {
    await waitForAnswer(client, hosts, options);
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
  return {
    db,
    ping: () =>
      withRetry(() => (isReadOnly ? readOnce(db) : writeAndRead(db)), { budgetMs: CHECK_LIMIT_MS, attempts: 2 }),
    close: () => client.close(),
  };
}

async function writeAndRead(db: Db): Promise<void> {
  const collection = checked(db);
  try {
    await collection.updateOne(filter, { $set: { at: new Date() } }, { upsert: true });
  } catch (error) {
    // Another process created the document first.
    if (!isDuplicateKey(error)) throw error;
  }
  await readOnce(db);
}

async function readOnce(db: Db): Promise<void> {
  await checked(db).findOne(filter);
}

const filter = { _id: 'readiness' };

function checked(db: Db): Collection<{ _id: string; at: Date }> {
  return db.collection(CHECK_COLLECTION);
}

function createClient({ uri, isForLongCommands = false }: ConnectOptions): MongoClient {
  const stripped = withoutServiceOwnedOptions(uri);
  const defaults: MongoClientOptions = {
    appName: 'prompt-gateway',
    maxPoolSize: 50,
    // By default the driver opens two connections at a time, so the first burst after a start or an outage would wait.
    maxConnecting: 5,
    // A stopped database must lead to a 503 within seconds, not after the driver's 30.
    serverSelectionTimeoutMS: 2_500,
    connectTimeoutMS: 2_500,
    waitQueueTimeoutMS: 2_500,
    // The longest silence on a connection with an operation in progress. Requests give up earlier (see retry.ts). This
    // limit frees the connection, and is long enough for deletes of many documents.
    socketTimeoutMS: 15_000,
    // A server that hangs without closing its connections is detected after this time plus `connectTimeoutMS`.
    heartbeatFrequencyMS: 2_000,
  };
  const overridable = Object.entries(defaults).filter(([name]) => !stripped.options.has(name.toLowerCase()));
  try {
    return new MongoClient(stripped.uri, {
      ...Object.fromEntries(overridable),
      ...(isForLongCommands ? { socketTimeoutMS: 0 } : {}),
      writeConcern: { w: 'majority', journal: true },
      readPreference: 'primary',
      readConcern: { level: 'majority' },
      // Off: the driver expects that the server recognises a repeated write, but some compatible servers apply it
      // twice. writes.ts repeats writes instead, in a way that does not depend on the server.
      retryWrites: false,
      retryReads: true,
      ignoreUndefined: true,
      monitorCommands: false,
    });
  } catch (error) {
    // The error is not passed on as the cause, because the parser's message can quote the URI.
    const reason = withoutCredentials(messageOf(error), uri);
    throw new DatabaseStartError(`The database URI is not a valid MongoDB connection string: ${reason}`);
  }
}

async function waitForAnswer(
  client: MongoClient,
  hosts: string,
  { databaseName, log, startLimitMs = START_LIMIT_MS, signal }: ConnectOptions,
): Promise<void> {
  const end = performance.now() + startLimitMs;
  for (;;) {
    try {
      await abortable(
        client.connect().then(() => client.db(databaseName).command({ ping: 1 })),
        signal,
      );
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (refusesCredentials(error) || isUnauthorized(error)) {
        throw new DatabaseStartError(`The database at ${hosts} refused the credentials in its URI.`, { cause: error });
      }
      if (isPermanent(error) || (!isUnavailable(error) && !isNameLookup(error))) {
        throw new DatabaseStartError(`The database at ${hosts} cannot be used: ${messageOf(error)}`, { cause: error });
      }
      if (performance.now() + START_PAUSE_MS >= end) {
        throw new DatabaseStartError(
          `The database at ${hosts} did not answer within ${Math.round(startLimitMs / 1_000)} s: ${messageOf(error)}`,
          { cause: error },
        );
      }
      log.warn({ hosts, reason: messageOf(error) }, 'the database does not answer yet; retrying');
      await sleep(START_PAUSE_MS, undefined, { signal });
    }
  }
}

/**
 * True when the server and this driver have no version of the protocol in common, or when TLS does not trust the server.
 * The driver wraps such errors like those of a server that is away.
 */
function isPermanent(error: unknown): boolean {
  if (error instanceof MongoCompatibilityError) return true;
  if (!(error instanceof Error)) return false;
  return certificateErrors.some((code) => hasCode(error, code)) || isPermanent(error.cause);
}

/** Codes of OpenSSL and Node for a certificate that the client refuses. */
const certificateErrors = [
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** `mongodb+srv` uses DNS, whose errors are not driver errors. A name may appear while a cluster starts. */
function isNameLookup(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'syscall' in error && /^query/.test(String(error.syscall));
}
