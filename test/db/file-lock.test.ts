import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withFileLock } from '../../src/db/embedded/file-lock.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prompt-gateway-lock-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs actions under one lock. @returns the highest number of actions that ran at the same time */
async function mostAtOnce(path: string): Promise<number> {
  let inside = 0;
  let most = 0;
  const action = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await sleep(5);
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 10 }, () => withFileLock(path, action)));
  return most;
}

describe('withFileLock', () => {
  it('admits one action at a time and leaves no file behind', async () => {
    const path = join(folder, 'plain');
    expect(await mostAtOnce(path)).toBe(1);
    expect((await readdir(folder)).filter((name) => name.startsWith('plain'))).toEqual([]);
  });

  it('is released when the action fails', async () => {
    const path = join(folder, 'failing');
    await expect(withFileLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withFileLock(path, () => Promise.resolve('yes'))).toBe('yes');
  });

  it.each([
    ['a process that has ended', { pid: 2 ** 22 + 1, startedAt: 0 }],
    ['an earlier process with the same id', { pid: process.pid, startedAt: 1 }],
  ])('is taken over from %s', async (_title, holder) => {
    const path = join(folder, `dead-${holder.startedAt}`);
    await writeFile(path, JSON.stringify({ ...holder, token: 'dead' }));
    expect(await mostAtOnce(path)).toBe(1);
  });

  it('is not held by the owner of the folder that it was copied from', async () => {
    const [original, copy] = [join(folder, 'original'), join(folder, 'copy')];
    await withFileLock(original, async () => {
      await copyFile(original, copy);
      expect(await withFileLock(copy, () => Promise.resolve('mine'), { limitMs: 200 })).toBe('mine');
    });
  });

  it('names its owner, and gives up after the limit', async () => {
    const path = join(folder, 'held');
    await writeFile(path, JSON.stringify({ pid: process.ppid, startedAt: 0, token: 'parent' }));
    const waited: number[] = [];
    const attempt = withFileLock(path, () => Promise.resolve(), {
      limitMs: 200,
      onWait: (pid) => {
        waited.push(pid);
      },
    });
    await expect(attempt).rejects.toThrow(`Process ${process.ppid} has held the lock`);
    expect(waited).toEqual([process.ppid]);
  });
});
