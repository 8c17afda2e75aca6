import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createBlobStore } from '../../../src/storage/blobs/create-blob-store.ts';
import { createFsBlobStore } from '../../../src/storage/blobs/fs-blob-store.ts';
import { contentOf, describeBlobStore, text } from './blob-store-contract.ts';

const makeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'blobs-'));

describeBlobStore('a folder', async () => {
  const folder = await makeFolder();
  return {
    store: createFsBlobStore(join(folder, 'not', 'there', 'yet')),
    stop: () => rm(folder, { recursive: true }),
  };
});

describe('createFsBlobStore', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await makeFolder();
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it('stores each object in a file of that name that only the owner can read', async () => {
    await createFsBlobStore(folder).put('a/b.json', text('{}'), 'application/json');
    expect(await readFile(join(folder, 'a/b.json'), 'utf8')).toBe('{}');
    expect((await stat(join(folder, 'a/b.json'))).mode & 0o777).toBe(0o600);
  });

  it('leaves no temporary files behind', async () => {
    const store = createFsBlobStore(folder);
    await store.put('a/b', text('x'), 'text/plain');
    await store.put('a/c', text('y'), 'text/plain');
    await store.delete('a/b');
    expect((await readdir(folder, { recursive: true })).sort()).toEqual(['.tmp', 'a', 'a/c']);
  });

  it('sees what another store on the same folder wrote', async () => {
    await createFsBlobStore(folder).put('shared', text('x'), 'text/plain');
    expect(await contentOf(createFsBlobStore(folder), 'shared')).toEqual(text('x'));
  });

  it('removes temporary files of processes that ended long ago, and no others', async () => {
    await mkdir(join(folder, '.tmp'));
    await writeFile(join(folder, '.tmp', 'old'), 'x');
    await writeFile(join(folder, '.tmp', 'new'), 'x');
    const twoHoursAgo = new Date(Date.now() - 2 * 60 * 60_000);
    await utimes(join(folder, '.tmp', 'old'), twoHoursAgo, twoHoursAgo);
    const store = createFsBlobStore(folder);
    await store.put('a', text('x'), 'text/plain');
    expect(await readdir(join(folder, '.tmp'))).toEqual(['new']);
  });

  it('answers storage-unavailable while the file system refuses, and recovers', async () => {
    const blocked = join(folder, 'blocked');
    await writeFile(blocked, 'a file where the folder should be');
    const store = createFsBlobStore(blocked);
    const unavailable = { type: 'storage-unavailable', status: 503, headers: { 'Retry-After': '2' } };
    await expect(store.put('a', text('x'), 'text/plain')).rejects.toMatchObject(unavailable);
    await expect(store.check()).rejects.toMatchObject(unavailable);
    await rm(blocked);
    await store.put('a', text('x'), 'text/plain');
    await store.check();
    expect(await contentOf(store, 'a')).toEqual(text('x'));
  });

  it('contains only complete objects after kill -9 during a write', async () => {
    const script = `
      const { createFsBlobStore } = await import(${JSON.stringify(new URL('../../../src/storage/blobs/fs-blob-store.ts', import.meta.url).href)});
      const store = createFsBlobStore(${JSON.stringify(folder)});
      for (let round = 0; ; round++) {
        await store.put('runs/' + (round % 3), new Uint8Array(500_000).fill(round % 250), 'text/plain');
        process.stdout.write(round + '\\n');
      }`;
    for (let kill = 0; kill < 4; kill++) {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await once(child.stdout, 'data');
      await sleep(20 + kill * 37);
      child.kill('SIGKILL');
      await once(child, 'close');
      const store = createFsBlobStore(folder);
      const acknowledged = output.split('\n').slice(0, -1).map(Number);
      expect(acknowledged.length).toBeGreaterThan(0);
      for (const key of (await readdir(join(folder, 'runs'))).map((name) => `runs/${name}`)) {
        const body = (await contentOf(store, key)) ?? text('');
        expect(body).toHaveLength(500_000);
        expect(new Set(body).size).toBe(1);
        const last = acknowledged.filter((round) => `runs/${round % 3}` === key).at(-1);
        // The put after the last acknowledged one may also have been applied.
        if (last !== undefined) expect([last % 250, (last + 3) % 250]).toContain(body[0]);
      }
    }
  });
});

describe('createBlobStore with files', () => {
  it('describes the folder', async () => {
    const folder = await makeFolder();
    const { store, description } = await createBlobStore({ kind: 'files', directory: folder });
    expect(description).toBe(`files in ${folder}`);
    await store.put('a', text('x'), 'text/plain');
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('x');
    await rm(folder, { recursive: true });
  });

  it('refuses a folder that it cannot write to', async () => {
    const folder = await makeFolder();
    const file = join(folder, 'file');
    await writeFile(file, '');
    await expect(createBlobStore({ kind: 'files', directory: file })).rejects.toThrow(
      `Files cannot be written in ${file}; set DATA_DIR or S3_BUCKET. (ENOTDIR: `,
    );
    await rm(folder, { recursive: true });
  });
});
