import { Binary, type Collection } from 'mongodb';
import { retryLostRaces } from '../../base/editing/lost-races.ts';
import type { Database } from '../../storage/db/client.ts';
import { isDuplicateKey } from '../../storage/db/database-errors.ts';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import { compareAndSet, insertOnce, read, writeIdempotently, type StampedDocument } from '../../storage/db/writes.ts';

/**
 * How long attempts to store an answer or to free a key are repeated during an outage of the database, in milliseconds.
 */
const persistMs = 10 * 60_000;

/** A stored answer: text, or its compressed bytes. Null if it was too large. */
export type StoredBody = string | Uint8Array | null;

/** A finished answer without its body. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Of the body before it was compressed. */
  readonly bytes: number;
}

export interface IdempotencyRecord {
  /** Hash of scope and key. */
  readonly id: string;
  /** Hash of the canonical body. */
  readonly fingerprint: string;
  /** Identifies the attempt that does the work; only this attempt can store the answer. */
  readonly owner: string;
  /** The id of the resource that the work creates; the same for every attempt. */
  readonly resourceId: string;
  /** Incremented by the owner while it works. */
  readonly beat: number;
  /** Milliseconds without a beat after which another process can take the record over. */
  readonly termMs: number;
  /** The owner no longer works on it. */
  readonly isGivenUp: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Set after the work is done. */
  readonly answer: AnswerHead | undefined;
}

export interface IdempotencyStore {
  /** Inserts the record, or returns the existing one. */
  insert(record: IdempotencyRecord): Promise<IdempotencyRecord>;
  find(id: string): Promise<IdempotencyRecord | undefined>;
  /** The body of a stored answer; undefined after the record has expired. */
  body(id: string): Promise<StoredBody | undefined>;
  /** Takes the record over, if it has not changed since it was read. */
  takeOver(record: IdempotencyRecord, found: IdempotencyRecord): Promise<boolean>;
  beat(records: readonly IdempotencyRecord[]): Promise<void>;
  /** Stores the answer. This and the two below change nothing after another process has taken the record over. */
  finish(record: IdempotencyRecord, head: AnswerHead, body: StoredBody): Promise<void>;
  /** Frees the key. */
  release(record: IdempotencyRecord): Promise<void>;
  /**
   * Lets the next attempt take over immediately, with the same resource id. If there is no record, it stores one that
   * is given up, so that a delayed insert fails.
   */
  giveUp(record: IdempotencyRecord): Promise<void>;
}

interface IdempotencyDocument extends StampedDocument {
  fingerprint: string;
  owner: string;
  resource_id: string;
  beat: number;
  term_ms: number;
  given_up: boolean;
  expires_at: Date;
  answer?: { status: number; headers: [string, string][]; bytes: number; body: string | Binary | null };
}

const collectionName = 'idempotency_keys';

export const idempotencyIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [expiryIndex],
};

/** Records whose beats one command increments. */
const beatenAtOnce = 500;

export function createIdempotencyStore(database: Database): IdempotencyStore {
  const records: Collection<IdempotencyDocument> = database.db.collection(collectionName);
  const owned = ({ id, owner }: IdempotencyRecord): { _id: string; owner: string } => ({ _id: id, owner });
  const find = async (id: string): Promise<IdempotencyRecord | undefined> => {
    const found = await read(() => records.findOne({ _id: id }, { projection: { 'answer.body': 0 } }));
    return found === null ? undefined : fromDocument(found);
  };

  return {
    find,
    insert: (record) =>
      retryLostRaces(async () => {
        const inserted = await insertOnce(records, toDocument(record), { writeId: record.owner });
        return inserted.outcome === 'done' ? record : await find(record.id);
      }),
    async body(id) {
      const found = await read(() => records.findOne({ _id: id }, { projection: { 'answer.body': 1 } }));
      const body = found?.answer?.body;
      return body instanceof Binary ? body.buffer : body;
    },
    async takeOver(record, found) {
      const document = await read(() => records.findOne({ _id: record.id, owner: found.owner }));
      if (document === null) return false;
      const { owner, beat, term_ms, given_up, expires_at } = toDocument(record);
      const taken = await compareAndSet(records, {
        id: record.id,
        revision: document.revision,
        where: {
          // The former owner may have finished, or incremented the beat.
          answer: { $exists: false },
          beat: found.beat,
        },
        change: { $set: { owner, beat, term_ms, given_up, expires_at } },
      });
      return taken.outcome === 'done';
    },
    async beat(held) {
      for (let start = 0; start < held.length; start += beatenAtOnce) {
        const some = held.slice(start, start + beatenAtOnce);
        const filter = { _id: { $in: some.map(({ id }) => id) }, owner: { $in: some.map(({ owner }) => owner) } };
        await writeIdempotently(() => records.updateMany(filter, { $inc: { beat: 1 } }), { attempts: 1 });
      }
    },
    async finish(record, { status, headers, bytes }, body) {
      const answer = {
        status,
        headers: Object.entries(headers),
        bytes,
        body: body instanceof Uint8Array ? new Binary(body) : body,
      };
      await writeIdempotently(() => records.updateOne(owned(record), { $set: { answer } }), { budgetMs: persistMs });
    },
    async release(record) {
      await writeIdempotently(() => records.deleteOne(owned(record)), { budgetMs: persistMs });
    },
    async giveUp(record) {
      const { _id, owner, given_up: _given_up, ...rest } = toDocument(record);
      const change = { $set: { given_up: true }, $setOnInsert: { ...rest, revision: 1, writes: [] } };
      try {
        await writeIdempotently(() => records.updateOne({ _id, owner }, change, { upsert: true }));
      } catch (error) {
        // The record belongs to another process now.
        if (!isDuplicateKey(error)) throw error;
      }
    },
  };
}

function toDocument(
  record: IdempotencyRecord,
): Omit<IdempotencyDocument, 'revision' | 'writes' | 'answer'> & { _id: string } {
  return {
    _id: record.id,
    fingerprint: record.fingerprint,
    owner: record.owner,
    resource_id: record.resourceId,
    beat: record.beat,
    term_ms: record.termMs,
    given_up: record.isGivenUp,
    expires_at: new Date(record.expiresAt),
  };
}

function fromDocument(document: IdempotencyDocument): IdempotencyRecord {
  const { answer } = document;
  return {
    id: document._id,
    fingerprint: document.fingerprint,
    owner: document.owner,
    resourceId: document.resource_id,
    beat: document.beat,
    termMs: document.term_ms,
    isGivenUp: document.given_up,
    expiresAt: document.expires_at.getTime(),
    answer:
      answer === undefined
        ? undefined
        : { status: answer.status, headers: Object.fromEntries(answer.headers), bytes: answer.bytes },
  };
}
