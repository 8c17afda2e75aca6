import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isShared, shareLock, withFileLock } from '../../../src/storage/db/embedded/file-lock.ts';

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
  it('admits one action at a time', async () => {
    const path = join(folder, 'plain');
    expect(await mostAtOnce(path)).toBe(1);
    expect((await readdir(folder)).filter((name) => name.startsWith('plain'))).toEqual(['plain']);
  });

  it('is released when the action fails', async () => {
    const path = join(folder, 'failing');
    await expect(withFileLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withFileLock(path, () => Promise.resolve('yes'))).toBe('yes');
  });

  it('ends with the process that held it', async () => {
    const path = join(folder, 'killed');
    const [holder, end] = await otherProcess(
      `withFileLock(${JSON.stringify(path)}, () => new Promise(() => undefined))`,
    );
    let waits = 0;
    const waiting = withFileLock(path, () => Promise.resolve('mine'), { onWait: () => (waits += 1) });
    expect(waits).toBe(1);
    holder.kill('SIGKILL');
    await end;
    expect(await waiting).toBe('mine');
  });

  it('is not held by the owner of the folder that it was copied from', async () => {
    const [original, copy] = [join(folder, 'original'), join(folder, 'copy')];
    await withFileLock(original, async () => {
      await cp(original, copy);
      expect(await withFileLock(copy, () => Promise.resolve('mine'), { limitMs: 0 })).toBe('mine');
    });
  });

  it('gives up after the limit', async () => {
    const path = join(folder, 'held');
    await withFileLock(path, async () => {
      const attempt = withFileLock(path, () => Promise.resolve(), { limitMs: 100 });
      await expect(attempt).rejects.toThrow(`Another process has held the lock ${path}`);
    });
  });

  it('says so when a file cannot be locked', async () => {
    const attempt = withFileLock(join(folder, 'no', 'folder'), () => Promise.resolve());
    await expect(attempt).rejects.toThrow(/folder cannot be locked: unable to open/);
  });
});

describe('shareLock', () => {
  it('is shared until the last one leaves, or is killed', async () => {
    const path = join(folder, 'shared');
    expect(isShared(path)).toBe(false);
    const leave = shareLock(path);
    const [other, end] = await otherProcess(`shareLock(${JSON.stringify(path)})`);
    expect(isShared(path)).toBe(true);
    leave();
    leave();
    expect(isShared(path)).toBe(true);
    other.kill('SIGKILL');
    await end;
    expect(isShared(path)).toBe(false);
  });

  it('is not shared by the users of the folder that it was copied from', async () => {
    const [original, copy] = [join(folder, 'used'), join(folder, 'used-copy')];
    const leave = shareLock(original);
    await cp(original, copy);
    expect([isShared(original), isShared(copy)]).toEqual([true, false]);
    leave();
  });
});

/** Starts a process that takes a lock and keeps running. */
async function otherProcess(statement: string): Promise<readonly [ChildProcess, Promise<unknown>]> {
  const module = fileURLToPath(new URL('../../../src/storage/db/embedded/file-lock.ts', import.meta.url));
  const script = `import { shareLock, withFileLock } from ${JSON.stringify(module)};
    void ${statement};
    setInterval(() => undefined, 1_000);
    console.log('locked');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return [child, once(child, 'exit')];
}
