import type { Collection } from 'mongodb';
import type { Database } from '../db/client.ts';
import type { CollectionIndexes } from '../db/indexes.ts';
import { compareAndSet, insertOnce, read, writeIdempotently, type StampedDocument } from '../db/writes.ts';

/** Milliseconds that a write is tried for at least, however little is left of the lease. */
const leastBudgetMs = 6_000;

/** What is known about an idempotency key. Times are in milliseconds since the epoch. */
export interface IdempotencyRecord {
  /** Hash of scope and key. */
  readonly id: string;
  /** Hash of the canonical body. */
  readonly fingerprint: string;
  /** Names the try that does the work; only it may store the answer. */
  readonly owner: string;
  /** The id that the work creates its resource under, the same for every try. */
  readonly resourceId: string;
  readonly leaseUntil: number;
  readonly expiresAt: number;
  /** Set once the work is done. A `null` body was too large to keep. */
  readonly answer: { status: number; headers: Record<string, string>; body: string | null } | undefined;
}

export interface IdempotencyStore {
  /** Inserts the record, or returns the one that is there. An expired one is replaced first. */
  insert(record: IdempotencyRecord): Promise<IdempotencyRecord>;
  /** Replaces a record whose lease ran out. False when someone else was first. */
  takeOver(record: IdempotencyRecord, formerOwner: string): Promise<boolean>;
  /** Keeps the answer. This and the two below go on trying until the lease ends, and change nothing once it was taken over. */
  finish(record: IdempotencyRecord, answer: NonNullable<IdempotencyRecord['answer']>): Promise<void>;
  /** Frees the key. */
  release(record: IdempotencyRecord): Promise<void>;
  /** Ends the lease now, so that the next try takes over under the same resource id. */
  yieldLease(record: IdempotencyRecord): Promise<void>;
}

interface IdempotencyDocument extends StampedDocument {
  fingerprint: string;
  owner: string;
  resource_id: string;
  lease_until: Date;
  expires_at: Date;
  answer?: { status: number; headers: [string, string][]; body: string | null };
}

const collectionName = 'idempotency_keys';

export const idempotencyIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [{ key: { expires_at: 1 }, name: 'expires_at_1', expireAfterSeconds: 0 }],
};

export function createIdempotencyStore(database: Database, now: () => number = Date.now): IdempotencyStore {
  const records: Collection<IdempotencyDocument> = database.db.collection(collectionName);
  const owned = (record: IdempotencyRecord): { _id: string; owner: string } => ({
    _id: record.id,
    owner: record.owner,
  });
  const untilLeaseEnds = (record: IdempotencyRecord): { budgetMs: number } => ({
    budgetMs: Math.max(leastBudgetMs, record.leaseUntil - now()),
  });

  return {
    async insert(record) {
      for (;;) {
        const inserted = await insertOnce(records, toDocument(record), { writeId: record.owner });
        if (inserted.outcome === 'done') return record;
        const found = await read(() => records.findOne({ _id: record.id }));
        if (found !== null && found.expires_at.getTime() > now()) return fromDocument(found);
        // Expired, and the TTL index has not come round yet (or just has).
        if (found !== null) await writeIdempotently(() => records.deleteOne({ _id: record.id, owner: found.owner }));
      }
    },
    async takeOver(record, formerOwner) {
      const found = await read(() => records.findOne({ _id: record.id, owner: formerOwner }));
      if (found === null) return false;
      const { owner, lease_until, expires_at } = toDocument(record);
      const taken = await compareAndSet(records, {
        id: record.id,
        revision: found.revision,
        // The former owner may have finished since its lease was seen to have run out.
        where: { answer: { $exists: false } },
        change: { $set: { owner, lease_until, expires_at } },
      });
      return taken.outcome === 'done';
    },
    async finish(record, { status, headers, body }) {
      const answer = { status, headers: Object.entries(headers), body };
      await writeIdempotently(() => records.updateOne(owned(record), { $set: { answer } }), untilLeaseEnds(record));
    },
    async release(record) {
      await writeIdempotently(() => records.deleteOne(owned(record)), untilLeaseEnds(record));
    },
    async yieldLease(record) {
      const ended = { $set: { lease_until: new Date(0) } };
      await writeIdempotently(() => records.updateOne(owned(record), ended), untilLeaseEnds(record));
    },
  };
}

function toDocument(record: IdempotencyRecord): Omit<IdempotencyDocument, 'revision' | 'writes'> & { _id: string } {
  return {
    _id: record.id,
    fingerprint: record.fingerprint,
    owner: record.owner,
    resource_id: record.resourceId,
    lease_until: new Date(record.leaseUntil),
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
    leaseUntil: document.lease_until.getTime(),
    expiresAt: document.expires_at.getTime(),
    answer: answer === undefined ? undefined : { ...answer, headers: Object.fromEntries(answer.headers) },
  };
}
