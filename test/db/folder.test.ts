import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DatabaseFolder } from '../../src/db/embedded/folder.ts';

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'prompt-gateway-folder-'));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

describe('the users of a data folder', () => {
  it('are not users of its copy, although they run', async () => {
    const original = await DatabaseFolder.open(join(parent, 'original'));
    const leave = await original.join();
    await cp(join(parent, 'original'), join(parent, 'copy'), { recursive: true });
    const copy = await DatabaseFolder.open(join(parent, 'copy'));
    expect([await copy.hasUsers(), await original.hasUsers()]).toEqual([false, true]);
    expect(await readdir(join(copy.path, 'users'))).toEqual([]);
    await leave();
    expect(await original.hasUsers()).toBe(false);
  });

  it('are not processes that have got the number of one that has ended', async () => {
    const folder = await DatabaseFolder.open(join(parent, 'reused'));
    const record = { pid: process.ppid, startedAt: 0, folder: folder.path };
    const path = join(folder.path, 'users', 'a.json');
    await writeFile(path, JSON.stringify(record));
    expect(await folder.hasUsers()).toBe(true);
    await writeFile(path, JSON.stringify({ ...record, birth: 'another boot 1' }));
    const hasProc = await readFile('/proc/self/stat').then(
      () => true,
      () => false,
    );
    expect(await folder.hasUsers()).toBe(!hasProc);
  });
});
