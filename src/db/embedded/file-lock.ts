import { randomUUID } from 'node:crypto';
import { link, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { isMissing, readJson } from './json-file.ts';
import { isAlive, processRecordSchema, thisProcess } from './processes.ts';
import { hasCode } from '../../runtime/system-error.ts';

const POLL_MS = 50;

const holderSchema = z.object({ ...processRecordSchema.shape, token: z.string() });
type Holder = z.infer<typeof holderSchema>;

export interface LockOptions {
  /** Called once with the holder's process number when the lock has to be waited for. */
  onWait?: (pid: number) => void;
  /** Milliseconds to wait for another process; 15 minutes by default, longer than any install. */
  limitMs?: number;
  /** Ends the wait for another process. */
  signal?: AbortSignal | undefined;
}

/**
 * Runs an action while no other process (nor another call in this one) holds the lock file. The lock of a process that
 * died is taken over, and one that came with a copy of the folder.
 *
 * @throws Error when the lock is still held after the limit; the reason of the signal
 */
export async function withFileLock<Result>(
  path: string,
  action: () => Promise<Result>,
  { onWait, limitMs = 15 * 60_000, signal }: LockOptions = {},
): Promise<Result> {
  const token = randomUUID();
  const end = performance.now() + limitMs;
  let waited = false;
  while (!(await tryLock(path, token))) {
    signal?.throwIfAborted();
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    if (!(await isAlive(holder, path))) {
      await breakLock(path, holder);
      continue;
    }
    if (performance.now() > end) {
      throw new Error(
        `Process ${holder.pid} has held the lock ${path} for too long. If it does not belong to this service, delete the file.`,
      );
    }
    if (!waited) onWait?.(holder.pid);
    waited = true;
    await sleep(POLL_MS);
  }
  try {
    return await action();
  } finally {
    await rm(path, { force: true });
  }
}

/** A hard link appears in one step and with its content, and only once under a name. */
async function tryLock(path: string, token: string): Promise<boolean> {
  const own = `${path}.${token}`;
  await writeFile(own, JSON.stringify({ ...(await thisProcess(path)), token } satisfies Holder), { flag: 'wx' });
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await unlink(own);
  }
}

/**
 * Moves the lock of a dead process away. If another process has taken the lock in the meantime, its lock is put back. A
 * third process could take the lock in the microseconds between; then the lock of the storage engine still protects the
 * files.
 */
async function breakLock(path: string, dead: Holder): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  const moved = await readHolder(aside);
  if (moved !== undefined && moved.token !== dead.token) await link(aside, path).catch(() => undefined);
  await unlink(aside);
}

async function readHolder(path: string): Promise<Holder | undefined> {
  const content = await readJson(path);
  return content === undefined ? undefined : holderSchema.parse(content);
}
