import { ProblemError } from '../errors/problem-error.ts';
import type { BlobStore } from './blob-store.ts';
import { createFsBlobStore } from './fs-blob-store.ts';
import { createS3BlobStore, type S3BlobStoreOptions } from './s3-blob-store.ts';

/** Where objects go: a bucket, or files under a folder. */
export type BlobStorage =
  ({ readonly kind: 's3' } & S3BlobStoreOptions) | { readonly kind: 'files'; readonly directory: string };

/**
 * Makes the blob store that the configuration asks for, with a description of it for the operator. A bucket is not
 * asked for anything yet: the service starts without it.
 *
 * @throws Error when files are to go into a folder that cannot be written
 */
export async function createBlobStore(storage: BlobStorage): Promise<{ store: BlobStore; description: string }> {
  if (storage.kind === 's3') {
    const { bucket, prefix, endpoint, region } = storage;
    const place = endpoint === undefined ? `Amazon S3 (${region})` : endpoint;
    return { store: createS3BlobStore(storage), description: `bucket ${bucket}/${prefix} at ${place}` };
  }
  const { directory } = storage;
  const store = createFsBlobStore(directory);
  try {
    await store.check();
  } catch (error) {
    const reason = error instanceof ProblemError ? String(error.cause) : String(error);
    throw new Error(`Files cannot be written in ${directory}; set DATA_DIR or S3_BUCKET. (${reason})`, {
      cause: error,
    });
  }
  return { store, description: `files in ${directory}` };
}
