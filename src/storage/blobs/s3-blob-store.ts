import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type * as S3 from '@aws-sdk/client-s3';
import {
  assertBlobKey,
  assertBlobSize,
  maxBlobBytes,
  storageFull,
  storageUnavailable,
  type BlobStore,
} from './blob-store.ts';

export interface S3BlobStoreOptions {
  readonly bucket: string;
  /** Left out for Amazon S3. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  /** Whether the bucket is in the path (true) or in the host name. */
  readonly forcePathStyle: boolean;
  /** When requests have checksums. Some S3-compatible services do not support them. */
  readonly checksums: 'when-required' | 'when-supported';
  /** Prefix of every key; empty, or ends with a slash. */
  readonly prefix: string;
  /** If left out, the AWS SDK finds the credentials: environment, profiles, roles. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /**
   * Milliseconds for an operation with all its attempts, plus the same for each MiB sent (rounded up). By default
   * 5,000.
   */
  readonly limitMs?: number;
}

/** The SDK and two clients of it. */
interface Connection {
  readonly sdk: typeof S3;
  readonly client: S3.S3Client;
  /** With separate connections, one for each reader, so that slow readers delay nothing else. */
  readonly reader: S3.S3Client;
}

const defaultLimitMs = 5_000;
const checkBody = 'Whether objects can be stored.';
const maxAttempts = 2;
const mebibyte = 1024 * 1024;

/**
 * Stores objects in a bucket of Amazon S3 or a compatible service. The SDK is loaded on first use, because this takes a
 * while and most processes do not need it at start.
 */
export function createS3BlobStore(options: S3BlobStoreOptions): BlobStore {
  const { bucket, prefix, limitMs = defaultLimitMs } = options;
  let loading: Promise<Connection> | undefined;
  /** Whether the last check succeeded. */
  let wasUsable = false;
  const load = (): Promise<Connection> => (loading ??= loadClient(options, limitMs));
  const nameOf = (key: string): { Bucket: string; Key: string } => {
    assertBlobKey(key);
    return { Bucket: bucket, Key: prefix + key };
  };
  return {
    async put(key, body, contentType) {
      const name = nameOf(key);
      assertBlobSize(body.byteLength);
      const { sdk, client } = await load();
      const limit = limitMs * (1 + Math.ceil(body.byteLength / mebibyte));
      await available(() =>
        client.send(new sdk.PutObjectCommand({ ...name, Body: body, ContentType: contentType }), within(limit)),
      );
    },
    async open(key, signal) {
      const name = nameOf(key);
      const { sdk, reader } = await load();
      const limit = new AbortController();
      const timer = setTimeout(() => {
        limit.abort();
      }, limitMs);
      const abortSignal = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]);
      try {
        return await available(async () => {
          try {
            const { Body, ContentLength: size } = await reader.send(new sdk.GetObjectCommand(name), {
              requestTimeout: limitMs / maxAttempts,
              abortSignal,
            });
            const content = unlessSilent(Body as Readable, limitMs);
            if ((size ?? 0) > maxBlobBytes) content.destroy();
            assertBlobSize(size ?? 0);
            return { size, content };
          } catch (error) {
            if (isMissingObject(error)) return undefined;
            throw error;
          }
        });
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    async delete(key) {
      const name = nameOf(key);
      const { sdk, client } = await load();
      await available(async () => {
        try {
          await client.send(new sdk.DeleteObjectCommand(name), within(limitMs));
        } catch (error) {
          if (!isMissingObject(error)) throw error;
        }
      });
    },
    async check() {
      const { sdk, client } = await load();
      if (wasUsable) {
        await available(() => client.send(new sdk.HeadBucketCommand({ Bucket: bucket }), within(limitMs))).catch(
          (error: unknown) => {
            wasUsable = false;
            throw error;
          },
        );
        return;
      }
      // Not HEAD: its answers have no body that distinguishes refusals. And a read alone does not show that writes
      // work.
      const limits = within(limitMs);
      const name = { Bucket: bucket, Key: `${prefix}check/${randomUUID()}` };
      await available(async () => {
        await client.send(new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: name.Key, MaxKeys: 1 }), limits);
        await client.send(new sdk.PutObjectCommand({ ...name, Body: checkBody }), limits);
        const { Body } = await client.send(new sdk.GetObjectCommand(name), limits);
        const found = await Body?.transformToString();
        if (found !== checkBody) throw new Error('an object came back with another content');
        await client.send(new sdk.DeleteObjectCommand(name), limits);
      });
      wasUsable = true;
    },
    async close() {
      if (loading === undefined) return;
      const { client, reader } = await loading;
      client.destroy();
      reader.destroy();
    },
  };
}

async function loadClient(options: S3BlobStoreOptions, limitMs: number): Promise<Connection> {
  const sdk = await import('@aws-sdk/client-s3');
  const checksums = options.checksums === 'when-required' ? 'WHEN_REQUIRED' : 'WHEN_SUPPORTED';
  const shared = {
    region: options.region,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(options.credentials !== undefined && { credentials: options.credentials }),
    forcePathStyle: options.forcePathStyle,
    requestChecksumCalculation: checksums,
    responseChecksumValidation: checksums,
    maxAttempts,
    // Not every store answers `Expect: 100-continue`, and the client would wait longer for it than a request may take.
    expectContinueHeader: false,
  } as const;
  const connectionTimeout = Math.min(limitMs / maxAttempts, 2_000);
  const everyReader = { maxSockets: Infinity };
  return {
    sdk,
    client: new sdk.S3Client({
      ...shared,
      requestHandler: {
        connectionTimeout,
        // The longest silence within an answer; the time limit before its beginning is set for each request.
        socketTimeout: limitMs,
        throwOnRequestTimeout: true,
      },
    }),
    reader: new sdk.S3Client({
      ...shared,
      requestHandler: {
        connectionTimeout,
        // A connection is also silent while its reader is slow. `unlessSilent` distinguishes the two.
        socketTimeout: 0,
        throwOnRequestTimeout: true,
        httpAgent: everyReader,
        httpsAgent: everyReader,
      },
    }),
  };
}

/**
 * A stream that fails if its reader waits and nothing arrives for a time. Time without a waiting reader does not count,
 * and neither does time in which this process was stopped.
 */
function unlessSilent(source: Readable, limitMs: number): Readable {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  // Between two reads there is no listener; the next read fails with this error.
  source.on('error', () => undefined);
  let timer: NodeJS.Timeout | undefined;
  let lastLook: NodeJS.Immediate | undefined;
  const stopWatch = (): void => {
    clearTimeout(timer);
    clearImmediate(lastLook);
  };
  return new Readable({
    read() {
      timer = setTimeout(() => {
        // Data that has already arrived is read first.
        lastLook = setImmediate(() => this.destroy(new Error(`the bucket sent nothing for ${limitMs} ms`)));
      }, limitMs);
      void chunks
        .next()
        .finally(stopWatch)
        .then(
          ({ done, value }) => this.push(done === true ? null : value),
          (error: unknown) => this.destroy(error as Error),
        );
    },
    destroy(error, done) {
      stopWatch();
      source.destroy();
      done(error);
    },
  });
}

/** Time limits of one operation: for each attempt, and for all of them. */
function within(limitMs: number): { requestTimeout: number; abortSignal: AbortSignal } {
  return { requestTimeout: limitMs / maxAttempts, abortSignal: AbortSignal.timeout(limitMs) };
}

/** Services use different codes for a missing object, but a missing bucket always has its own. */
function isMissingObject(error: unknown): boolean {
  const { name, $metadata } = error as Partial<S3.S3ServiceException>;
  return name === 'NoSuchKey' || (name !== 'NoSuchBucket' && $metadata?.httpStatusCode === 404);
}

/** Every error of the SDK (network, time limits, refusals, missing credentials, invalid answers) is a 503 problem. */
async function available<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { name, $metadata } = error as Partial<S3.S3ServiceException>;
    const isFull =
      $metadata?.httpStatusCode === 507 || /StorageFull|QuotaExceeded|InsufficientStorage/i.test(name ?? '');
    throw isFull ? storageFull(error) : storageUnavailable(error);
  }
}
