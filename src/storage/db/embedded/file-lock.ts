/**
 * Locks between processes: those of the operating system, which end with their process, however it ends, and do not come
 * along with a copy of a folder. Node offers them through SQLite only, so the file of a lock is an empty database.
 */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../base/runtime/system-error.ts';

const POLL_MS = 50;
/** `SQLITE_BUSY`: somebody else has the lock. */
const BUSY = 5;

export interface LockOptions {
  /** Called once when the lock has to be waited for. */
  onWait?: () => void;
  /** Milliseconds to wait for another process; 15 minutes by default, longer than any install. */
  limitMs?: number;
  /** Ends the wait for another process. */
  signal?: AbortSignal | undefined;
}

/**
 * Runs an action while no other process (nor another call in this one) has the lock.
 *
 * @throws Error when the lock is still held after the limit; the reason of the signal
 */
export async function withFileLock<Result>(
  path: string,
  action: () => Promise<Result>,
  { onWait, limitMs = 15 * 60_000, signal }: LockOptions = {},
): Promise<Result> {
  const end = performance.now() + limitMs;
  let lock = tryLock(path, 'IMMEDIATE');
  if (lock === undefined) onWait?.();
  while (lock === undefined) {
    if (performance.now() > end) throw new Error(`Another process has held the lock ${path} for too long.`);
    await sleep(POLL_MS, undefined, { signal });
    lock = tryLock(path, 'IMMEDIATE');
  }
  try {
    return await action();
  } finally {
    lock.close();
  }
}

/** Shares a lock with other processes. Nobody may call {@link isShared} meanwhile. @returns a function that ends this */
export function shareLock(path: string): () => void {
  const file = new DatabaseSync(path);
  // A transaction has the lock from its first read.
  file.exec('BEGIN; SELECT * FROM sqlite_schema');
  return () => {
    if (file.isOpen) file.close();
  };
}

/** Whether a process shares the lock. */
export function isShared(path: string): boolean {
  const lock = tryLock(path, 'EXCLUSIVE');
  lock?.close();
  return lock === undefined;
}

function tryLock(path: string, kind: 'IMMEDIATE' | 'EXCLUSIVE'): DatabaseSync | undefined {
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(path, { timeout: 0 });
    file.exec(`BEGIN ${kind}`);
    return file;
  } catch (error) {
    file?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return undefined;
    throw new Error(`${path} cannot be locked: ${messageOf(error)}`, { cause: error });
  }
}
