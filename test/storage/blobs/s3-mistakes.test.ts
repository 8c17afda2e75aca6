import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { system } from '../../../src/base/runtime/system.ts';
import { createBlobStore, tellingChecks } from '../../../src/storage/blobs/create-blob-store.ts';
import type { S3BlobStoreOptions } from '../../../src/storage/blobs/s3-blob-store.ts';
import { startObjectStorage, type ObjectStorage } from '../../support/object-storage.ts';
import { findVersitygw, startVersitygw } from './versitygw.ts';

/** The messages for the operator about a bucket with these settings. */
async function toldAbout(options: S3BlobStoreOptions): Promise<string[]> {
  const told: string[] = [];
  const store = tellingChecks(await createBlobStore({ kind: 's3', ...options }), system.clock, (message) =>
    told.push(message),
  );
  await store.check().catch(() => undefined);
  await store.close();
  return told;
}

const cannot = 'Test results and data sets cannot be stored. ';

let storage: ObjectStorage;
beforeAll(async () => {
  storage = await startObjectStorage();
});
afterAll(() => storage.stop());

describe('the messages for the operator about a bucket', () => {
  it('are none while it works, and the check leaves nothing behind', async () => {
    const store = tellingChecks(await createBlobStore({ kind: 's3', ...storage.options }), system.clock, (message) => {
      throw new Error(message);
    });
    await store.check();
    await store.check();
    await store.close();
    const { endpoint, region, forcePathStyle, credentials } = storage.options;
    const client = new S3Client({
      endpoint: endpoint ?? '',
      region,
      forcePathStyle,
      ...(credentials && { credentials }),
    });
    expect((await client.send(new ListObjectsV2Command({ Bucket: storage.bucket }))).Contents ?? []).toEqual([]);
    client.destroy();
  });

  it('say that the bucket does not exist', async () => {
    expect(await toldAbout({ ...storage.options, bucket: 'reslts' })).toEqual([
      `${cannot}The bucket reslts does not exist at ${storage.endpoint}. Create it, or correct S3_BUCKET.`,
    ]);
  });

  it('say that the server at the address is not S3-compatible', async () => {
    const server = createHttpServer((_request, response) => response.writeHead(404).end('<html>Not here</html>'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect((await toldAbout({ ...storage.options, endpoint }))[0]).toMatch(
      /^Test results and data sets cannot be stored\. The server at http\S+ is not S3-compatible/,
    );
    server.close();
  });

  it('are printed once, and again when the bucket works', async () => {
    const told: string[] = [];
    const store = tellingChecks(await createBlobStore({ kind: 's3', ...storage.options }), system.clock, (message) =>
      told.push(message),
    );
    await store.check();
    await storage.stop();
    for (let look = 0; look < 3; look += 1) await expect(store.check()).rejects.toMatchObject({ status: 503 });
    await storage.restart();
    await store.check();
    expect(told).toEqual([
      expect.stringMatching(/cannot be stored/),
      'Test results and data sets can be stored again.',
    ]);
    await store.close();
  });
});

const versitygw = findVersitygw();
(versitygw === undefined ? describe.skip : describe)('what the operator is told about a bucket of versitygw', () => {
  let gateway: Awaited<ReturnType<typeof startVersitygw>>;
  beforeAll(async () => {
    gateway = await startVersitygw(versitygw ?? '');
  });
  afterAll(() => gateway.stop());
  const withKeys = (accessKeyId: string, secretAccessKey: string): S3BlobStoreOptions => ({
    ...gateway.options,
    credentials: { accessKeyId, secretAccessKey },
  });

  it.each([
    ['the access key', ['nobody', 'root-secret'], 'AWS_ACCESS_KEY_ID'],
    ['the secret key', ['root-access', 'wrong'], 'AWS_SECRET_ACCESS_KEY'],
  ] as const)('is that %s is wrong', async (_which, [id, secret], variable) => {
    const told = await toldAbout(withKeys(id, secret));
    expect(told).toEqual([expect.stringContaining(`Check ${variable}.`)]);
    expect(told.join()).not.toContain(secret);
  });

  it('say that the bucket does not exist', async () => {
    expect((await toldAbout({ ...gateway.options, bucket: 'reslts' }))[0]).toContain(
      'The bucket reslts does not exist',
    );
  });

  it('say that the bucket is in another region', async () => {
    expect((await toldAbout({ ...gateway.options, region: 'eu-west-1' }))[0]).toContain('Correct S3_REGION');
  });

  it('are none while it works', async () => {
    expect(await toldAbout(gateway.options)).toEqual([]);
  });
});
