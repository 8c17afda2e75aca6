import type { AuthorRef } from '../../base/limits/principal.ts';
import type { Collection } from 'mongodb';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { insertOnce, read, writeIdempotently, type StampedDocument } from '../../storage/db/writes.ts';

/** Feedback on an invocation. */
export interface Feedback {
  readonly id: string;
  readonly invocationId: string;
  readonly author: AuthorRef;
  /** From -1 to 1. */
  readonly score: number;
  readonly name: string | undefined;
  readonly comment: string | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Every method can throw `database-unavailable`. */
export interface FeedbackStore {
  /** False if there is feedback with this id. */
  insert(feedback: Feedback): Promise<boolean>;
  find(id: string): Promise<Feedback | undefined>;
  /** The latest first, at most 100. */
  of(invocationId: string): Promise<Feedback[]>;
  /** Removes the comments on an invocation. */
  eraseComments(invocationId: string): Promise<void>;
}

interface FeedbackDocument extends StampedDocument {
  invocation_id: string;
  author: AuthorRef;
  score: number;
  name?: string;
  comment?: string;
  created_at: Date;
  expires_at: Date;
}

const collectionName = 'feedback';
const mostShown = 100;

export const feedbackIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { invocation_id: 1, created_at: -1, _id: 1 }, name: 'invocation_id_1_created_at_-1__id_1' },
    expiryIndex,
  ],
};

export function createFeedbackStore({ db }: PagedDatabase): FeedbackStore {
  const collection: Collection<FeedbackDocument> = db.collection(collectionName);
  return {
    async insert({ id, invocationId, author, score, name, comment, createdAt, expiresAt }) {
      const { outcome } = await insertOnce(collection, {
        _id: id,
        invocation_id: invocationId,
        author,
        score,
        ...(name !== undefined && { name }),
        ...(comment !== undefined && { comment }),
        created_at: createdAt,
        expires_at: expiresAt,
      });
      return outcome === 'done';
    },
    async find(id) {
      const found = await read(() => collection.findOne({ _id: id }));
      return found === null ? undefined : toFeedback(found);
    },
    async of(invocationId) {
      const found = await read(() =>
        collection.find({ invocation_id: invocationId }).sort({ created_at: -1, _id: 1 }).limit(mostShown).toArray(),
      );
      return found.map(toFeedback);
    },
    async eraseComments(invocationId) {
      await writeIdempotently(() =>
        collection.updateMany({ invocation_id: invocationId }, { $unset: { comment: true } }),
      );
    },
  };
}

function toFeedback(document: FeedbackDocument): Feedback {
  return {
    id: document._id,
    invocationId: document.invocation_id,
    author: document.author,
    score: document.score,
    name: document.name,
    comment: document.comment,
    createdAt: document.created_at,
    expiresAt: document.expires_at,
  };
}
