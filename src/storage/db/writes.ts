/**
 * The only module that writes business documents.
 *
 * An answer can get lost after the server applied the write, and some MongoDB-compatible servers do not recognise a
 * write that a driver repeats. So each write has a write id, and the document keeps the last 16 of them. A repeated
 * write either changes nothing (its id is taken, or the revision has changed) or finds its own id in the document and
 * is done. So every write here can safely be repeated. While the database is unavailable, writes are repeated for a few
 * seconds. Then they throw the 503 problem `database-unavailable`; the caller then does not know the outcome, as with
 * any lost answer.
 *
 * The look-ups read with majority concern, and the writes before them wait for a majority even when they change
 * nothing, so a write that is reported as done cannot be rolled back.
 */
import { randomUUID } from 'node:crypto';
import type { Collection, Document, Filter, OptionalUnlessRequiredId, UpdateFilter } from 'mongodb';
import { isDuplicateKey } from './database-errors.ts';
import { withRetry, type RetryOptions } from './retry.ts';

/** Write ids that a document keeps: more than the writes that can happen between the attempts of one write. */
const KEPT_WRITE_IDS = 16;

/** What every document has that {@link insertOnce} and {@link compareAndSet} write. */
export interface StampedDocument extends Document {
  _id: string;
  /** Number of writes to this document, from 1. */
  revision: number;
  /** Ids of the last writes to this document, newest last. */
  writes: string[];
}

/** A document without the members that this module maintains. */
export type Unstamped<T> = T extends unknown ? Omit<T, 'revision' | 'writes'> : never;

export interface WriteOptions extends RetryOptions {
  /** Id of this write; created if left out. Pass one to recognise a write across processes or restarts. */
  writeId?: string;
}

export type InsertResult =
  | { outcome: 'done' }
  /** Another document has the same id, or the same value in a unique index. Nothing was written. */
  | { outcome: 'duplicate' };

/**
 * Inserts a document under an id chosen beforehand, with revision 1. It is inserted once, however often the write is
 * repeated.
 *
 * @throws ProblemError `database-unavailable`
 */
export function insertOnce<T extends StampedDocument>(
  collection: Collection<T>,
  document: Unstamped<T>,
  { writeId = randomUUID(), ...retry }: WriteOptions = {},
): Promise<InsertResult> {
  const stamped = { ...document, revision: 1, writes: [writeId] } as unknown as OptionalUnlessRequiredId<T>;
  return withRetry(async (): Promise<InsertResult> => {
    try {
      await collection.insertOne(stamped);
      return { outcome: 'done' };
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // The server may name any index: if our own first attempt was applied, it violates every unique index.
      const own = { _id: document['_id'], writes: writeId } as unknown as Filter<T>;
      const found = await collection.findOne(own, { projection: { _id: 1 } });
      return found === null ? { outcome: 'duplicate' } : { outcome: 'done' };
    }
  }, retry);
}

/** Changes of a document: MongoDB's update operators. `revision` and `writes` are this module's. */
export type Change<T> = Omit<UpdateFilter<T>, '$inc' | '$push'> & {
  $inc?: Record<string, number>;
  $push?: Record<string, unknown>;
};

export interface CompareAndSet<T> {
  id: string;
  /** The revision that the document must still have. */
  revision: number;
  /** Further conditions that must still hold. */
  where?: Filter<T>;
  /**
   * Update operators, or the stages of an update pipeline. In a pipeline a string that starts with `$` is an
   * expression: put values of callers into `$literal`.
   */
  change: Change<T> | readonly Document[];
}

export type CompareAndSetResult<T> =
  /** Written; this is the revision after the write. */
  | { outcome: 'done'; revision: number }
  /** Another writer was first, or `where` does not match: the current document. Nothing was written. */
  | { outcome: 'lost'; document: T }
  | { outcome: 'missing' }
  /** The change would give this document the same value as another in a unique index. Nothing was written. */
  | { outcome: 'duplicate' };

/**
 * Changes a document if it still has the revision that the caller has seen, and increments the revision. The change is
 * applied once, however often the write is repeated.
 *
 * It uses `updateOne` because some compatible servers scan the collection for a `findOneAndUpdate`.
 *
 * @throws ProblemError `database-unavailable`
 */
export function compareAndSet<T extends StampedDocument>(
  collection: Collection<T>,
  { id, revision, where, change }: CompareAndSet<T>,
  { writeId = randomUUID(), ...retry }: WriteOptions = {},
): Promise<CompareAndSetResult<T>> {
  // The id comes first: some servers read everything that matches the first field with an index.
  const filter = { _id: id, ...where, revision } as unknown as Filter<T>;
  const update = isPipeline(change) ? stampPipeline(change, writeId) : stampOperators(change, writeId);
  const done = { outcome: 'done', revision: revision + 1 } as const;
  return withRetry(async (): Promise<CompareAndSetResult<T>> => {
    try {
      const { matchedCount } = await collection.updateOne(filter, update as UpdateFilter<T> | Document[]);
      if (matchedCount === 1) return done;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return { outcome: 'duplicate' };
    }
    const document = (await collection.findOne({ _id: id } as Filter<T>)) as T | null;
    if (document === null) return { outcome: 'missing' };
    return document.writes.includes(writeId) ? done : { outcome: 'lost', document };
  }, retry);
}

/**
 * Makes sure that a document exists under an id that follows from its content, such as one version of one prompt. An
 * existing document does not change.
 *
 * @throws ProblemError `database-unavailable`
 */
export function upsertOnce<T extends Document & { _id: string }>(
  collection: Collection<T>,
  document: T,
): Promise<InsertResult> {
  const { _id, ...content } = document;
  const filter = { _id } as unknown as Filter<T>;
  const update = { $setOnInsert: content } as unknown as UpdateFilter<T>;
  return withRetry(async (): Promise<InsertResult> => {
    try {
      await collection.updateOne(filter, update, { upsert: true });
      return { outcome: 'done' };
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // Of two simultaneous upserts of one id, the second gets the duplicate key error, and the document exists.
      const found = await collection.findOne(filter, { projection: { _id: 1 } });
      return found === null ? { outcome: 'duplicate' } : { outcome: 'done' };
    }
  });
}

/**
 * Runs a write that can always be repeated, such as a delete or a `$set` of a time stamp. Counts in its result can come
 * from a repetition; do not base decisions on them.
 *
 * @throws ProblemError `database-unavailable`
 */
export function writeIdempotently<Result>(write: () => Promise<Result>, retry: RetryOptions = {}): Promise<Result> {
  return withRetry(write, retry);
}

/**
 * Runs reads, and repeats them once if a connection failed.
 *
 * @throws ProblemError `database-unavailable`
 */
export function read<Result>(query: () => Promise<Result>, retry: RetryOptions = {}): Promise<Result> {
  return withRetry(query, { attempts: 2, ...retry });
}

function isPipeline<T>(change: Change<T> | readonly Document[]): change is readonly Document[] {
  return Array.isArray(change);
}

function stampOperators<T>(change: Change<T>, writeId: string): Document {
  return {
    ...change,
    $inc: { ...change.$inc, revision: 1 },
    $push: { ...change.$push, writes: { $each: [writeId], $slice: -KEPT_WRITE_IDS } },
  };
}

function stampPipeline(stages: readonly Document[], writeId: string): Document[] {
  const writes = { $slice: [{ $concatArrays: ['$writes', [writeId]] }, -KEPT_WRITE_IDS] };
  return [...stages, { $set: { revision: { $add: ['$revision', 1] }, writes } }];
}
