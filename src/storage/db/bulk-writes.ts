import { randomUUID } from 'node:crypto';
import {
  MongoBulkWriteError,
  type AnyBulkWriteOperation,
  type Collection,
  type Document,
  type Filter,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import { gatherReads } from '../../base/runtime/gathered-reads.ts';
import { withRetry, type RetryOptions } from './retry.ts';
import { isDuplicateKey } from './database-errors.ts';
import { read, writeIdempotently, type InsertResult, type StampedDocument, type Unstamped } from './writes.ts';

/** Documents that one command inserts. */
const insertedAtOnce = 1_000;
const duplicateKey = 11_000;

/**
 * Inserts the documents whose ids are not taken; existing documents do not change. One command with many documents
 * costs little more than one with a single document. For documents whose ids follow from their content, in collections
 * without another unique index. Running it again changes nothing.
 *
 * @returns ids that were taken, by others or by an earlier attempt of this call whose answer was lost
 * @throws ProblemError `database-unavailable`; some of the documents may already be inserted
 */
export async function insertMissing<T extends Document & { _id: string }>(
  collection: Collection<T>,
  documents: readonly T[],
  retry: RetryOptions = {},
): Promise<string[]> {
  const taken: string[] = [];
  for (let start = 0; start < documents.length; start += insertedAtOnce) {
    const chunk = documents.slice(start, start + insertedAtOnce);
    taken.push(...(await withRetry(() => insertChunk(collection, chunk), retry)));
  }
  return taken;
}

async function insertChunk<T extends Document & { _id: string }>(
  collection: Collection<T>,
  chunk: readonly T[],
): Promise<string[]> {
  try {
    await collection.insertMany(chunk as readonly OptionalUnlessRequiredId<T>[], { ordered: false });
    return [];
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    // A write that no majority confirmed is not done. Any other error is a mistake in the program.
    if (error.result.getWriteConcernError() !== undefined || failures.length === 0) throw error;
    if (failures.some(({ code }) => code !== duplicateKey)) throw error;
    return failures.flatMap(({ index }) => chunk[index]?._id ?? []);
  }
}

/**
 * Runs upserts that can be repeated, in any order.
 *
 * @throws ProblemError `database-unavailable`; some of them may already be applied
 */
export async function upsertAll<T extends Document & { _id: string }>(
  collection: Collection<T>,
  writes: readonly AnyBulkWriteOperation<T>[],
  retry: RetryOptions = {},
): Promise<void> {
  const writeAll = (): Promise<unknown> => collection.bulkWrite(writes, { ordered: false });
  await writeIdempotently(async () => {
    try {
      await writeAll();
    } catch (error) {
      // Another process has begun one of the documents at the same time, so it is there now.
      if (!isDuplicateKey(error)) throw error;
      await writeAll();
    }
  }, retry);
}

/** Documents of several callers that one command inserts. */
const gatheredAtOnce = 100;

/**
 * Creates an `insertOnce` for a collection into which many callers insert at the same time: what is to be inserted
 * during a write is written together by the next command. Only for collections without another unique index.
 */
export function gatherInserts<T extends StampedDocument>(
  collection: Collection<T>,
): (document: Unstamped<T>) => Promise<InsertResult> {
  /** By write id, because two callers may insert under the same id. */
  const given = new Map<string, T>();
  const insert = gatherReads<InsertResult, InsertResult>(
    async (writeIds) => {
      const documents = writeIds.flatMap((writeId) => given.get(writeId) ?? []);
      const taken = new Set(await insertMissing(collection, documents));
      const repeated = { _id: { $in: [...taken] }, writes: { $in: [...writeIds] } } as unknown as Filter<T>;
      const found =
        taken.size === 0 ? [] : await read(() => collection.find(repeated, { projection: { writes: 1 } }).toArray());
      const own = new Set(found.flatMap(({ writes }) => writes as string[]));
      return new Map(
        documents.map(({ _id, writes: [writeId = ''] }): [string, InsertResult] => [
          writeId,
          { outcome: !taken.has(_id) || own.has(writeId) ? 'done' : 'duplicate' },
        ]),
      );
    },
    (result) => result,
    { largest: gatheredAtOnce },
  );
  return async (document) => {
    const writeId = randomUUID();
    given.set(writeId, { ...document, revision: 1, writes: [writeId] } as unknown as T);
    try {
      return (await insert(writeId)) ?? { outcome: 'duplicate' };
    } finally {
      given.delete(writeId);
    }
  };
}
