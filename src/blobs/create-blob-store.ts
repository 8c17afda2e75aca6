import { ProblemError } from '../errors/problem-error.ts';
import type { BlobStore } from './blob-store.ts';
import { createFsBlobStore } from './fs-blob-store.ts';
import { createS3BlobStore, type S3BlobStoreOptions } from './s3-blob-store.ts';
import { explainS3Error } from './s3-mistakes.ts';

/** Where objects go: a bucket, or files under a folder. */
export type BlobStorage =
  ({ readonly kind: 's3' } & S3BlobStoreOptions) | { readonly kind: 'files'; readonly directory: string };

/** A blob store, and words about it for the operator. */
export interface DescribedBlobStore {
  readonly store: BlobStore;
  readonly description: string;
  /** What is wrong, and what to do about it, from an error of the store. */
  explain(error: unknown): string;
}

/**
 * Makes the blob store that the configuration asks for, with a description of it for the operator. A bucket is not
 * asked for anything yet: the service starts without it.
 *
 * @throws Error when files are to go into a folder that cannot be written
 */
export async function createBlobStore(storage: BlobStorage): Promise<DescribedBlobStore> {
  if (storage.kind === 's3') {
    const { bucket, prefix, endpoint, region } = storage;
    const place = endpoint === undefined ? `Amazon S3 (${region})` : endpoint;
    return {
      store: createS3BlobStore(storage),
      description: `bucket ${bucket}/${prefix} at ${place}`,
      explain: (error) => explainS3Error(error, storage),
    };
  }
  const { directory } = storage;
  const store = createFsBlobStore(directory);
  try {
    await store.check();
  } catch (error) {
    throw new Error(`Files cannot be written in ${directory}; set DATA_DIR or S3_BUCKET. (${reasonOf(error)})`, {
      cause: error,
    });
  }
  return {
    store,
    description: `files in ${directory}`,
    explain: (error) => `Files cannot be written in ${directory} (${reasonOf(error)}).`,
  };
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ProblemError ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

/** The store, with its checks telling when it stops working and when it works again. The first failure is told too. */
export function tellingChecks({ store, explain }: DescribedBlobStore, tell: (message: string) => void): BlobStore {
  let works = true;
  return {
    ...store,
    async check() {
      try {
        await store.check();
      } catch (error) {
        if (works) tell(`Test-run results cannot be stored. ${explain(error)}`);
        works = false;
        throw error;
      }
      if (!works) tell('Test-run results can be stored again.');
      works = true;
    },
  };
}
