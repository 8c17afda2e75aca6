import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { BlobStore } from '../../../src/storage/blobs/blob-store.ts';
import { createBlobStore } from '../../../src/storage/blobs/create-blob-store.ts';
import { createS3BlobStore } from '../../../src/storage/blobs/s3-blob-store.ts';
import { startObjectStorage, type ObjectStorage } from '../../support/object-storage.ts';
import { contentOf, describeBlobStore, text } from './blob-store-contract.ts';
import { findVersitygw, startVersitygw } from './versitygw.ts';

describeBlobStore('a bucket of fauxqs', async () => {
  const storage = await startObjectStorage();
  return { store: createS3BlobStore(storage.options), stop: storage.stop };
});

describeBlobStore('a bucket of fauxqs, with checksums and a prefix', async () => {
  const storage = await startObjectStorage();
  return {
    store: createS3BlobStore({ ...storage.options, checksums: 'when-supported', prefix: 'our/part/' }),
    stop: storage.stop,
  };
});

const versitygw = findVersitygw();
if (versitygw === undefined) {
  describe.skip('a bucket of versitygw (which is not on the PATH)', () => {
    it('is not tested here', () => undefined);
  });
} else {
  describeBlobStore('a bucket of versitygw', async () => {
    const { options, stop } = await startVersitygw(versitygw);
    return { store: createS3BlobStore(options), stop };
  });
}

const unavailable = { name: 'ProblemError', type: 'storage-unavailable', status: 503, headers: { 'Retry-After': '2' } };

/** Runs every operation and checks that each fails with the right problem within seconds. */
async function expectUnavailable(store: BlobStore): Promise<void> {
  const operations = [
    () => store.put('a', text('x'), 'text/plain'),
    () => contentOf(store, 'a'),
    () => store.delete('a'),
    () => store.check(),
  ];
  await Promise.all(
    operations.map(async (operation) => {
      const started = performance.now();
      await expect(operation()).rejects.toMatchObject(unavailable);
      expect(performance.now() - started).toBeLessThan(14_000);
    }),
  );
}

describe('createS3BlobStore', () => {
  let storage: ObjectStorage;

  beforeAll(async () => {
    storage = await startObjectStorage();
  });
  afterAll(() => storage.stop());

  it('does not wait for a store to ask for a large object', async () => {
    const expected: unknown[] = [];
    const answer: RequestListener = (request, response) => {
      expected.push(request.headers.expect);
      request.resume().on('end', () => response.end());
    };
    // A store that does not know `Expect: 100-continue`: it reads the object, and answers.
    const server = createHttpServer(answer).on('checkContinue', answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const store = createS3BlobStore({ ...storage.options, endpoint });
    try {
      await store.put('large', text('x'.repeat(3 * 1024 * 1024)), 'text/plain');
      expect(expected).toEqual([undefined]);
    } finally {
      await store.close();
      server.closeAllConnections();
      server.close();
    }
  });

  it('reads only keys under its prefix', async () => {
    const ours = createS3BlobStore({ ...storage.options, prefix: 'ours/' });
    const theirs = createS3BlobStore({ ...storage.options, prefix: 'theirs/' });
    const all = createS3BlobStore(storage.options);
    await ours.put('a/1', text('ours'), 'text/plain');
    await theirs.put('a/1', text('theirs'), 'text/plain');
    expect(await contentOf(ours, 'a/1')).toEqual(text('ours'));
    expect(await contentOf(all, 'theirs/a/1')).toEqual(text('theirs'));
    expect(await contentOf(all, 'a/1')).toBeUndefined();
    await Promise.all([ours.close(), theirs.close(), all.close()]);
  });

  it('answers storage-unavailable within seconds while the server is stopped, and recovers with it', async () => {
    const own = await startObjectStorage();
    const store = createS3BlobStore(own.options);
    try {
      await store.put('a', text('before'), 'text/plain');
      await own.stop();
      await expectUnavailable(store);
      await own.restart();
      await store.check();
      await store.put('a', text('after'), 'text/plain');
      expect(await contentOf(store, 'a')).toEqual(text('after'));
    } finally {
      await store.close();
      await own.stop();
    }
  });

  it('answers storage-unavailable when its bucket does not exist', async () => {
    const store = createS3BlobStore({ ...storage.options, bucket: 'no-such-bucket' });
    await expectUnavailable(store);
    await store.close();
  });

  it('writes the cause to the log only', async () => {
    const store = createS3BlobStore({ ...storage.options, bucket: 'no-such-bucket' });
    const error: unknown = await contentOf(store, 'a').catch((thrown: unknown) => thrown);
    expect((error as Error).message).not.toMatch(/no-such-bucket|127\.0\.0\.1/);
    expect((error as Error).cause).toMatchObject({ name: 'NoSuchBucket' });
    await store.close();
  });

  it('can be closed without having been used', async () => {
    await expect(createS3BlobStore(storage.options).close()).resolves.toBeUndefined();
  });
});

describe('createS3BlobStore with a server', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
  });

  const storeFor = async (server: Server): Promise<BlobStore> => {
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => sockets.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const store = createS3BlobStore({
      bucket: 'test-bucket',
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'us-east-1',
      forcePathStyle: true,
      checksums: 'when-required',
      prefix: '',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      limitMs: 1_000,
    });
    cleanups.push(async () => {
      await store.close();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    });
    return store;
  };
  const httpStore = (listener: RequestListener): Promise<BlobStore> => storeFor(createHttpServer(listener));

  it('that accepts connections and never answers', async () => {
    await expectUnavailable(await storeFor(createServer()));
  });

  it('that closes every connection', async () => {
    await expectUnavailable(await storeFor(createServer((socket) => socket.destroy())));
  });

  it('that does not speak HTTP', async () => {
    await expectUnavailable(await storeFor(createServer((socket) => socket.end('hello\r\n\r\n'))));
  });

  it.each([403, 500, 503])('that answers every request with %i', async (status) => {
    await expectUnavailable(await httpStore((_request, response) => response.writeHead(status).end('<html>')));
  });

  it('that starts an object and then sends nothing more', async () => {
    const store = await httpStore((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
    });
    await expect(contentOf(store, 'a')).rejects.toThrow('the bucket sent nothing for 1000 ms');
  });

  it('that closes the connection in the middle of an object', async () => {
    const store = await httpStore((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
    });
    await expect(contentOf(store, 'a')).rejects.toThrow('aborted');
  });

  it('that sends at once to a reader that takes longer than the limit of the bucket', async () => {
    const store = await httpStore((_request, response) => response.end('x'.repeat(4_000_000)));
    const { size, content } = (await store.open('a')) ?? {};
    let received = 0;
    for await (const chunk of content ?? []) {
      if (received === 0) await sleep(1_500);
      received += (chunk as Buffer).length;
    }
    expect([size, received]).toEqual([4_000_000, 4_000_000]);
  });

  it('that never answers, until the reader cancels', async () => {
    const connected = Promise.withResolvers<Socket>();
    const store = await httpStore((request) => {
      connected.resolve(request.socket);
    });
    const reader = new AbortController();
    const opened = store.open('a', reader.signal);
    const socket = await connected.promise;
    reader.abort(new Error('nobody waits'));
    await expect(opened).rejects.toThrow('nobody waits');
    if (!socket.destroyed) await once(socket, 'close');
  });

  it('that has an object larger than the limit', async () => {
    const store = await httpStore((_request, response) => {
      response.writeHead(200, { 'content-length': String(10 ** 12) }).write('x');
    });
    await expect(contentOf(store, 'a')).rejects.toMatchObject(unavailable);
  });

  it.each(['NoSuchKey', 'SomethingElse'])('that answers 404 %s for an object', async (code) => {
    const store = await httpStore((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);
    });
    expect(await contentOf(store, 'a')).toBeUndefined();
    await expect(store.delete('a')).resolves.toBeUndefined();
    await expect(store.check()).rejects.toMatchObject(unavailable);
  });

  it('that fails once: the second attempt succeeds', async () => {
    let requests = 0;
    const store = await httpStore((_request, response) => {
      response.writeHead(++requests === 1 ? 500 : 200).end();
    });
    await expect(store.put('a', text('x'), 'text/plain')).resolves.toBeUndefined();
    expect(requests).toBe(2);
  });
});

describe('createBlobStore with a bucket', () => {
  const storage = { region: 'eu-west-1', forcePathStyle: false, checksums: 'when-required', prefix: 'p/' } as const;

  it('describes the bucket, and does not connect to it', async () => {
    const amazon = await createBlobStore({ kind: 's3', bucket: 'results', endpoint: undefined, ...storage });
    expect(amazon.description).toBe('bucket results/p/ at Amazon S3 (eu-west-1)');
    const other = await createBlobStore({ kind: 's3', bucket: 'results', endpoint: 'http://127.0.0.1:9', ...storage });
    expect(other.description).toBe('bucket results/p/ at http://127.0.0.1:9');
  });
});
