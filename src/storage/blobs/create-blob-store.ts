import { isOutage } from '../../base/errors/outage.ts';
import { ProblemError, reasonOf } from '../../base/errors/problem-error.ts';
import { readOnly } from '../../base/errors/read-only.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { BlobStore } from './blob-store.ts';
import { createFsBlobStore } from './fs-blob-store.ts';
import { createS3BlobStore, type S3BlobStoreOptions } from './s3-blob-store.ts';
import { explainS3Error } from './s3-mistakes.ts';

/** Where objects are stored: a bucket, or files under a folder. */
export type BlobStorage =
  | ({ readonly kind: 's3' } & S3BlobStoreOptions)
  | { readonly kind: 'files'; readonly directory: string };

/** A blob store, and its description for the operator. */
export interface DescribedBlobStore {
  readonly store: BlobStore;
  readonly description: string;
  /** Describes an error of the store, and what to do about it. */
  explain(error: unknown): string;
}

/**
 * Creates the configured blob store, with a description for the operator. It does not connect to a bucket yet: the
 * service starts without it.
 *
 * @param isReadOnly for a process that changes nothing: its checks only read
 * @throws Error if the folder for files cannot be written
 */
export async function createBlobStore(storage: BlobStorage, isReadOnly = false): Promise<DescribedBlobStore> {
  const limited = isReadOnly ? withoutWrites : withTellingDeletes;
  if (storage.kind === 's3') {
    const { bucket, prefix, endpoint, region } = storage;
    const place = endpoint === undefined ? `Amazon S3 (${region})` : endpoint;
    return {
      store: limited(createS3BlobStore(storage)),
      description: `bucket ${bucket}/${prefix} at ${place}`,
      explain: (error) => explainS3Error(error, storage),
    };
  }
  const { directory } = storage;
  const store = limited(createFsBlobStore(directory));
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

/** What a blob store does. */
export type BlobOperation = 'put' | 'open' | 'delete' | 'check';

/** The store, which reports each operation that fails because of the storage. */
export function watchedBlobStore(store: BlobStore, onFailure: (operation: BlobOperation) => void): BlobStore {
  const watched = async <Result>(operation: BlobOperation, work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof ProblemError) onFailure(operation);
      throw error;
    }
  };
  return {
    ...store,
    put: (...put) => watched('put', store.put(...put)),
    open: (...open) => watched('open', store.open(...open)),
    delete: (key) => watched('delete', store.delete(key)),
    check: () => watched('check', store.check()),
  };
}

/** The store, whose `delete` says whether the storage is away, or only this object cannot be removed. */
export function withTellingDeletes(store: BlobStore): BlobStore {
  return {
    ...store,
    async delete(key) {
      try {
        await store.delete(key);
      } catch (error) {
        if (!isOutage(error)) throw error;
        await store.check();
        const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
        throw new Error(`The object ${key} cannot be removed: ${reasonOf(reason)}`, { cause: error });
      }
    },
  };
}

function withoutWrites(store: BlobStore): BlobStore {
  const refuse = (): Promise<never> => Promise.reject(readOnly());
  return {
    ...store,
    put: refuse,
    delete: refuse,
    async check() {
      (await store.open('check'))?.content.destroy();
    },
  };
}

/** Since when a storage does not work, as far as its checks know. */
export interface StorageFailure {
  readonly since: Date;
  /** For the operator: why, and what to do about it. */
  readonly detail: string;
}

export interface CheckedBlobStore extends BlobStore {
  /** Undefined if the last check succeeded. */
  failure(): StorageFailure | undefined;
}

/** The store, whose checks report when it stops working and when it works again. They also report the first failure. */
export function tellingChecks(
  { store, explain }: DescribedBlobStore,
  clock: Pick<Clock, 'now'>,
  tell: (message: string) => void,
): CheckedBlobStore {
  let failure: StorageFailure | undefined;
  return {
    ...store,
    async check() {
      try {
        await store.check();
      } catch (error) {
        const detail = explain(error);
        if (failure === undefined) tell(`Test results and data sets cannot be stored. ${detail}`);
        failure = { since: failure?.since ?? clock.now(), detail };
        throw error;
      }
      if (failure !== undefined) tell('Test results and data sets can be stored again.');
      failure = undefined;
    },
    failure: () => failure,
  };
}
