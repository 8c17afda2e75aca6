import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoErrorLabel,
  MongoExpiredSessionError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { hasCode } from '../../base/runtime/system-error.ts';

/**
 * Server codes of temporary failures: those that the specifications of retryable reads and retryable writes list, those
 * of failed waits for a majority or a lock, and those of operations and cursors that the server has ended.
 */
const UNAVAILABLE_CODES: ReadonlySet<number> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  24, // LockTimeout
  43, // CursorNotFound
  46, // LockBusy
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
  79, // UnknownReplWriteConcern
  89, // NetworkTimeout
  91, // ShutdownInProgress
  100, // UnsatisfiableWriteConcern
  112, // WriteConflict
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  9001, // SocketException
  10058, // LegacyNotPrimary
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11601, // Interrupted
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
]);

const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
/** Atlas refuses credentials with its general code, 8000. */
const BAD_CREDENTIALS = /^bad auth/i;
/** A connection without a user, for example after the user was removed. Such a server has the code Unauthorized, too. */
const NO_CREDENTIALS = /requires authentication/i;

/**
 * What DocumentDB says, in the words of PostgreSQL, when it ended one of several writes that waited for each other. The
 * write was not applied.
 */
const CONFLICT = /^deadlock detected/;

/** What servers say when the disk or the storage quota is full. The code is often a general one. */
const FULL = /no space left on device|out of disk space|not enough disk space|over your space quota/i;

/**
 * Answers of a compatible server whose storage engine has stopped, for example after a full disk: WiredTiger's panic,
 * or the text that SecantusDB's Python server uses for all unexpected errors.
 */
const BROKEN = /WT_PANIC|WiredTiger error|^internal server error$/;
const INTERNAL_ERROR = 1;

const UNAVAILABLE_LABELS = [
  MongoErrorLabel.RetryableWriteError,
  MongoErrorLabel.RetryableError,
  MongoErrorLabel.SystemOverloadedError,
  MongoErrorLabel.PoolRequestedRetry,
];

/**
 * Errors of the socket. The driver passes them on unchanged when the server closes a connection while a command is
 * being written to it.
 */
const SOCKET_CODES = [
  'EPIPE',
  'ECONNRESET',
  'ECONNABORTED',
  'ERR_SOCKET_CLOSED',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
];

const DUPLICATE_KEY = 11000;
const OUT_OF_DISK_SPACE = 14031;

/** Seconds after which a caller may send the request again. */
const RETRY_AFTER = '2';
const RETRY_AFTER_SPACE = '10';

/** An operation that was given up at its deadline. Whether the server applied it is unknown. */
export class DatabaseDeadlineError extends Error {
  constructor(milliseconds: number) {
    super(`the database did not answer within ${milliseconds} ms`);
    this.name = 'DatabaseDeadlineError';
  }
}

/**
 * True when an error means that the database could not be reached, could not answer in time, or could not confirm a
 * write. The operation may or may not have been applied; running it again later may succeed.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseDeadlineError || isClosed(error) || isSocketError(error)) return true;
  if (!(error instanceof MongoError)) return false;
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoWriteConcernError ||
    error instanceof MongoOperationTimeoutError ||
    error.name === 'MongoWaitQueueTimeoutError' || // the driver does not export this class
    (error instanceof MongoBulkWriteError && error.result.getWriteConcernError() !== undefined) ||
    isWrappedDriverError(error) ||
    (error instanceof MongoServerError && UNAVAILABLE_CODES.has(Number(error.code))) ||
    (error instanceof MongoServerError && error.code === INTERNAL_ERROR && BROKEN.test(error.message)) ||
    (error instanceof MongoServerError && CONFLICT.test(error.message)) ||
    isOutOfSpace(error) ||
    UNAVAILABLE_LABELS.some((label) => error.hasErrorLabel(label))
  );
}

/** True when a server refuses the credentials, and so every operation. Only an operator can correct this. */
export function refusesCredentials(error: unknown): boolean {
  const server = serverErrorOf(error);
  if (server === undefined) return false;
  const { code, message } = server;
  if (code === UNAUTHORIZED) return NO_CREDENTIALS.test(message);
  return code === AUTHENTICATION_FAILED || BAD_CREDENTIALS.test(message);
}

/** True when a server does not allow an operation. It may allow others, such as those on another collection. */
export function isUnauthorized(error: unknown): boolean {
  return serverErrorOf(error)?.code === UNAUTHORIZED;
}

/** The driver wraps what a server answers while a connection is made. */
function serverErrorOf(error: unknown): MongoServerError | undefined {
  const server = error instanceof MongoError && error.cause instanceof MongoServerError ? error.cause : error;
  return server instanceof MongoServerError ? server : undefined;
}

/** True when a server says that it has no space left. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof MongoServerError && (error.code === OUT_OF_DISK_SPACE || FULL.test(error.message));
}

/** Bulk writes wrap a connection error in an error of their own and keep only its message. */
function isWrappedDriverError(error: MongoError): boolean {
  return error instanceof MongoBulkWriteError && error.code === undefined && [error.writeErrors].flat().length === 0;
}

function isSocketError(error: unknown): boolean {
  return SOCKET_CODES.some((code) => hasCode(error, code));
}

/** True when this process has closed its own client. Another attempt cannot succeed. */
export function isClosed(error: unknown): boolean {
  return (
    error instanceof MongoNotConnectedError ||
    error instanceof MongoClientClosedError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoServerClosedError ||
    error instanceof MongoExpiredSessionError ||
    (error instanceof MongoError && error.name === 'MongoPoolClosedError') // not exported
  );
}

/** True when a unique index refused a write. Which one it was, not every server says in the same way. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** The 503 problem for an error that {@link isUnavailable} or {@link refusesCredentials} recognises. Its detail names no host and no credentials. */
export function databaseUnavailable(cause: unknown): ProblemError {
  if (isOutOfSpace(cause)) return databaseFull(cause);
  return new ProblemError('database-unavailable', {
    detail: 'The database cannot be reached or did not confirm in time. Try again shortly.',
    headers: { 'Retry-After': RETRY_AFTER },
    cause,
  });
}

/** The 503 problem while the database has no space left. Only the operator can correct this. */
export function databaseFull(cause: unknown): ProblemError {
  return new ProblemError('storage-full', {
    detail: 'The disk of the database is full. Free some space; the service then recovers automatically.',
    headers: { 'Retry-After': RETRY_AFTER_SPACE },
    cause,
  });
}
