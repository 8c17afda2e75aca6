import { startFauxqs, type FauxqsServer } from 'fauxqs';
import type { S3BlobStoreOptions } from '../../src/storage/blobs/s3-blob-store.ts';
import { reservePort } from './ports.ts';

/** An S3-protocol server in this process, with one empty bucket. */
export interface ObjectStorage {
  readonly endpoint: string;
  readonly bucket: string;
  /** For `createS3BlobStore`. */
  readonly options: S3BlobStoreOptions;
  /** For a service under test. The AWS keys are for `process.env`, where the SDK reads them. */
  readonly environment: Readonly<Record<string, string>>;
  /** Stops listening, and discards the stored objects. Does nothing if it is already stopped. */
  stop(): Promise<void>;
  /** Listens again on the same port, with an empty bucket. */
  restart(): Promise<void>;
}

const bucket = 'test-bucket';
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

/** Starts the server on a free port. */
export async function startObjectStorage(): Promise<ObjectStorage> {
  let server: FauxqsServer | undefined = await start(await reservePort());
  const { port } = server;
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    bucket,
    options: {
      bucket,
      endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      checksums: 'when-required',
      prefix: '',
      credentials,
    },
    environment: {
      S3_BUCKET: bucket,
      S3_ENDPOINT: endpoint,
      S3_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    async stop() {
      const running = server;
      server = undefined;
      await running?.stop();
    },
    async restart() {
      server ??= await start(port);
    },
  };
}

async function start(port: number): Promise<FauxqsServer> {
  const server = await startFauxqs({ port, host: '127.0.0.1', logger: false });
  server.createBucket(bucket);
  return server;
}
