import type { Readable } from 'node:stream';
import { ProblemError } from '../../base/errors/problem-error.ts';

/** An object that is read piece by piece. The caller must read `content` to its end or destroy it. */
export interface OpenBlob {
  /** In bytes; undefined if the storage does not report it. */
  readonly size: number | undefined;
  /** If the object is incomplete, it ends early without an error. Errors of the storage are passed on unchanged. */
  readonly content: Readable;
}

/**
 * Object storage: bytes under keys. Every method throws ProblemError `storage-unavailable` (503, with `Retry-After`)
 * within seconds if the storage cannot be reached or fails, `storage-full` if it has no space.
 */
export interface BlobStore {
  /**
   * Stores an object, replacing one with the same key. After it has resolved, the object survives a crash. A reader
   * never sees a part of it.
   *
   * @throws RangeError when the body is larger than `maxBlobBytes`
   */
  put(key: string, body: Uint8Array, contentType: string): Promise<void>;
  /**
   * Opens an object; undefined if there is none. Only about 100 KiB are read ahead of the reader, which can be slow.
   * @param signal ends the wait for the storage. Its reason is thrown then.
   */
  open(key: string, signal?: AbortSignal): Promise<OpenBlob | undefined>;
  /**
   * Removes an object. Succeeds when there is none.
   *
   * @throws Error when the storage works, but does not remove this object
   */
  delete(key: string): Promise<void>;
  /**
   * Resolves if the storage can be used. The first call, and calls after a failure, store, read and remove an object.
   */
  check(): Promise<void>;
  /** Closes connections. */
  close(): Promise<void>;
}

/** The largest object: 64 MiB. */
export const maxBlobBytes = 64 * 1024 * 1024;

const keyPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}(\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}){0,7}$/;

/**
 * Refuses keys that are not plain names separated by single slashes. A name does not start with a dot, so that a key
 * cannot leave the folder in a file system or name a hidden file. No key may be the folder of another (`a`, `a/b`).
 *
 * @throws TypeError
 */
export function assertBlobKey(key: string): void {
  if (!keyPattern.test(key)) throw new TypeError(`Not a blob key: ${JSON.stringify(key.slice(0, 200))}`);
}

/** @throws RangeError for bodies larger than `maxBlobBytes` */
export function assertBlobSize(bytes: number): void {
  if (bytes > maxBlobBytes) throw new RangeError(`A blob has at most ${maxBlobBytes} bytes, not ${bytes}.`);
}

/** Seconds after which a caller may send the request again. */
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
    detail:
      'The storage for test results and data sets is full. Free some space; the service then recovers automatically.',
    headers: { 'Retry-After': retryAfterSpace },
    cause,
  });
}
