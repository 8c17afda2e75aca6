import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { maxBlobBytes, type BlobStore } from '../../../src/storage/blobs/blob-store.ts';

export const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** The content of an object; undefined if it does not exist. */
export async function contentOf(store: BlobStore, key: string): Promise<Uint8Array | undefined> {
  const opened = await store.open(key);
  return opened === undefined ? undefined : new Uint8Array(await buffer(opened.content));
}

/** Tests that every blob store must pass. */
export function describeBlobStore(
  name: string,
  open: () => Promise<{ store: BlobStore; stop: () => Promise<void> }>,
): void {
  describe(`${name} as a blob store`, () => {
    let store: BlobStore;
    let stop: () => Promise<void>;

    beforeAll(async () => {
      ({ store, stop } = await open());
    });
    afterAll(async () => {
      await store.close();
      await stop();
    });

    it('is ready', async () => {
      await expect(store.check()).resolves.toBeUndefined();
    });

    it('returns what was put', async () => {
      await store.put('runs/one.json', text('{"ä":1}'), 'application/json');
      expect(await contentOf(store, 'runs/one.json')).toEqual(text('{"ä":1}'));
    });

    it('returns every byte, of empty and of large objects too', async () => {
      const large = new Uint8Array(randomBytes(5 * 1024 * 1024));
      await store.put('bytes/empty', new Uint8Array(), 'application/octet-stream');
      await store.put('bytes/large', large, 'application/octet-stream');
      expect(await contentOf(store, 'bytes/empty')).toHaveLength(0);
      expect(Buffer.compare((await contentOf(store, 'bytes/large')) ?? new Uint8Array(), large)).toBe(0);
    });

    it('replaces an object that has the same key', async () => {
      await store.put('replaced', text('a longer first value'), 'text/plain');
      await store.put('replaced', text('second'), 'text/plain');
      expect(await contentOf(store, 'replaced')).toEqual(text('second'));
    });

    it('has nothing under a key that was never put, nor under a folder', async () => {
      await store.put('folder/inner/file', text('x'), 'text/plain');
      expect(await contentOf(store, 'never')).toBeUndefined();
      expect(await contentOf(store, 'never/put')).toBeUndefined();
      expect(await contentOf(store, 'folder')).toBeUndefined();
      expect(await contentOf(store, 'folder/inner')).toBeUndefined();
      expect(await contentOf(store, 'folder/inner/file/below')).toBeUndefined();
    });

    it('deletes an object, and accepts that it is deleted again', async () => {
      await store.put('deleted/a', text('x'), 'text/plain');
      await store.put('deleted/b', text('y'), 'text/plain');
      await store.delete('deleted/a');
      await store.delete('deleted/a');
      await store.delete('deleted/never');
      expect(await contentOf(store, 'deleted/a')).toBeUndefined();
      expect(await contentOf(store, 'deleted/b')).toEqual(text('y'));
    });

    it('takes many requests at the same time', async () => {
      const keys = Array.from({ length: 40 }, (_, index) => `many/${index % 4}/${index}`);
      await Promise.all(keys.map((key) => store.put(key, text(key), 'text/plain')));
      expect(await Promise.all(keys.map((key) => contentOf(store, key)))).toEqual(keys.map(text));
      await Promise.all(keys.map((key) => store.delete(key)));
      expect(await Promise.all(keys.map((key) => contentOf(store, key)))).toEqual(keys.map(() => undefined));
    });

    it('never shows an incomplete object while it is replaced', async () => {
      const bodies = ['a', 'b'].map((letter) => text(letter.repeat(300_000)));
      await store.put('torn', bodies[0] ?? text(''), 'text/plain');
      let isWriting = true;
      const writes = (async () => {
        for (let round = 0; round < 20; round++) await store.put('torn', bodies[round % 2] ?? text(''), 'text/plain');
        isWriting = false;
      })();
      while (isWriting) {
        const read = (await contentOf(store, 'torn')) ?? text('');
        expect(bodies.some((body) => Buffer.compare(body, read) === 0)).toBe(true);
      }
      await writes;
    });

    it.each([
      '',
      '/',
      '/absolute',
      '..',
      '../outside',
      'a/../../outside',
      'a/./b',
      'a//b',
      'a/',
      '.hidden',
      'a/.hidden',
      'a\\b',
      'a\0b',
      'a b',
      'ä',
      'a/b/c/d/e/f/g/h/i',
      'x'.repeat(129),
    ])('refuses the key %j', async (key) => {
      await expect(store.put(key, text('x'), 'text/plain')).rejects.toThrow(TypeError);
      await expect(store.open(key)).rejects.toThrow(TypeError);
      await expect(store.delete(key)).rejects.toThrow(TypeError);
    });

    it('refuses objects that are too large', async () => {
      await expect(store.put('large', new Uint8Array(maxBlobBytes + 1), 'text/plain')).rejects.toThrow(RangeError);
    });
  });
}
