import type { Readable } from 'node:stream';
import { ProblemError } from '../errors/problem-error.ts';

/** An object that is read piece by piece. Whoever opened it reads it to its end or destroys `content`. */
export interface OpenBlob {
  /** In bytes; undefined where the storage does not say. */
  readonly size: number | undefined;
  /** Ends early, without an error, where the object was cut. Fails with the errors of the storage as they are. */
  readonly content: Readable;
}

/**
 * Object storage: bytes under keys. Every method throws ProblemError `storage-unavailable` (503, with `Retry-After`)
 * within seconds when the storage cannot be reached or does not do what was asked, `storage-full` when it has no space.
 */
export interface BlobStore {
  /**
   * Stores an object, replacing one of the same key. When it resolves the object survives a crash, and at no moment
   * does a reader see half of it.
   *
   * @throws RangeError when the body is larger than `maxBlobBytes`
   */
  put(key: string, body: Uint8Array, contentType: string): Promise<void>;
  /**
   * Opens an object; undefined when there is none. Only some 100 KiB are read ahead of the reader, who may be slow.
   * @param signal ends the wait for the storage. Its reason is thrown then.
   */
  open(key: string, signal?: AbortSignal): Promise<OpenBlob | undefined>;
  /** Removes an object. Succeeds when there is none. */
  delete(key: string): Promise<void>;
  /** The keys that start with a prefix, in no particular order. The prefix is empty or ends with a slash. */
  list(prefix: string): AsyncIterable<string>;
  /** Resolves when the storage can be used. The first time, and after a failure, an object is stored, read and removed. */
  check(): Promise<void>;
  /** Lets go of connections. */
  close(): Promise<void>;
}

/** The largest object: 64 MiB. */
export const maxBlobBytes = 64 * 1024 * 1024;

const keyPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}(\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}){0,7}$/;

/**
 * Refuses keys that are not plain names separated by single slashes. A name starts with no dot, so that a key can
 * neither leave the folder of a file system nor name a hidden file. No key may be the folder of another (`a`, `a/b`).
 *
 * @throws TypeError
 */
export function assertBlobKey(key: string): void {
  if (!keyPattern.test(key)) throw new TypeError(`Not a blob key: ${JSON.stringify(key.slice(0, 200))}`);
}

/** @throws TypeError unless the prefix is empty or a key with a slash at its end */
export function assertBlobPrefix(prefix: string): void {
  if (prefix === '') return;
  if (!prefix.endsWith('/')) throw new TypeError(`A blob prefix ends with a slash: ${JSON.stringify(prefix)}`);
  assertBlobKey(prefix.slice(0, -1));
}

/** @throws RangeError for bodies larger than `maxBlobBytes` */
export function assertBlobSize(bytes: number): void {
  if (bytes > maxBlobBytes) throw new RangeError(`A blob has at most ${maxBlobBytes} bytes, not ${bytes}.`);
}

/** Seconds after which a caller may try again. */
const retryAfter = '2';
const retryAfterSpace = '10';

/** The 503 problem for a failure of the storage. Its detail names no host and no bucket; the cause is for the log. */
export function storageUnavailable(cause: unknown): ProblemError {
  return new ProblemError('storage-unavailable', {
    detail: 'Object storage cannot be reached or does not work. Try again shortly.',
    headers: { 'Retry-After': retryAfter },
    cause,
  });
}

/** The 503 problem while the storage has no space left. */
export function storageFull(cause: unknown): ProblemError {
  return new ProblemError('storage-full', {
    detail: 'The storage for test-run results is full. Free some space; the service then recovers automatically.',
    headers: { 'Retry-After': retryAfterSpace },
    cause,
  });
}
