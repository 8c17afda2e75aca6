import type { Collection } from 'mongodb';
import type { AuthorRef } from '../../../base/limits/principal.ts';
import { expiryIndex, type CollectionIndexes } from '../../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../../storage/db/pages.ts';
import { read, writeIdempotently } from '../../../storage/db/writes.ts';
import type { Agreement } from './calibration.ts';

/** What a person says about an answer, beside what its judge said. */
export interface Mark {
  /** Of the evaluation and the answer. */
  readonly id: string;
  readonly judgeKey: string;
  /** Whether the answer is as the rubric wants. */
  readonly pass: boolean;
  readonly judgePasses: boolean;
  readonly author: AuthorRef;
  readonly markedAt: Date;
}

/** Every method can throw `database-unavailable`. */
export interface MarkStore {
  /** Replaces an earlier one of the same answer. */
  set(mark: Mark): Promise<void>;
  find(ids: readonly string[]): Promise<ReadonlyMap<string, Mark>>;
  agreement(judgeKey: string): Promise<Agreement>;
}

interface MarkDocument {
  _id: string;
  judge_key: string;
  pass: boolean;
  judge_passes: boolean;
  author: AuthorRef;
  marked_at: Date;
  expires_at: Date;
}

const collectionName = 'judge_marks';
/** The contract has the same number. */
const keptMs = 400 * 24 * 3_600_000;

export const markIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { judge_key: 1, pass: 1, judge_passes: 1 }, name: 'judge_key_1_pass_1_judge_passes_1' },
    expiryIndex,
  ],
};

export function createMarkStore({ db }: PagedDatabase): MarkStore {
  const marks: Collection<MarkDocument> = db.collection(collectionName);
  return {
    async set({ id, judgeKey, pass, judgePasses, author, markedAt }) {
      const members = { judge_key: judgeKey, pass, judge_passes: judgePasses, author, marked_at: markedAt };
      const $set = { ...members, expires_at: new Date(markedAt.getTime() + keptMs) };
      await writeIdempotently(() => marks.updateOne({ _id: id }, { $set }, { upsert: true }));
    },
    async find(ids) {
      if (ids.length === 0) return new Map();
      const found = await read(() => marks.find({ _id: { $in: [...ids] } }).toArray());
      return new Map(found.map((document) => [document._id, toMark(document)]));
    },
    async agreement(judgeKey) {
      const count = (pass: boolean, judgePasses: boolean): Promise<number> =>
        read(() => marks.countDocuments({ judge_key: judgeKey, pass, judge_passes: judgePasses }));
      const [both, onlyPerson, onlyJudge, none] = await Promise.all([
        count(true, true),
        count(true, false),
        count(false, true),
        count(false, false),
      ]);
      return {
        passed: { marks: both + onlyPerson, judgedPassed: both },
        failed: { marks: onlyJudge + none, judgedPassed: onlyJudge },
      };
    },
  };
}

function toMark(document: MarkDocument): Mark {
  const { _id: id, judge_key: judgeKey, pass, judge_passes: judgePasses, author, marked_at: markedAt } = document;
  return { id, judgeKey, pass, judgePasses, author, markedAt };
}
