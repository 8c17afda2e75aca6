import type { Collection, Filter } from 'mongodb';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase, Source } from '../../storage/db/pages.ts';
import { compareAndSet, insertOnce, read, writeIdempotently, type StampedDocument } from '../../storage/db/writes.ts';
import type { Document } from '../../base/fields/fields.ts';
import type { Listing } from '../../base/lists/listing.ts';
import { defined } from '../../base/runtime/objects.ts';
import { testRunFields, type EndStatus, type NewTestRun, type TestRun } from './test-run.ts';

/** The number of heartbeats of the process that works on a run. */
export interface Heartbeat {
  readonly id: string;
  readonly beat: number;
}

export interface RunEnd {
  readonly status: EndStatus;
  readonly at: Date;
  readonly answeredCount?: number;
  readonly cost?: NonNullable<TestRun['cost']>;
  readonly answerBytes?: number;
  /** Id of this write; a repetition with the same id counts as done. */
  readonly writeId: string;
  /** The heartbeat that the run must still have. */
  readonly beat?: number;
}

export type EndResult =
  | { readonly outcome: 'ended' }
  /** The current run, if another writer was first or there was a heartbeat. */
  | { readonly outcome: 'lost'; readonly run: TestRun }
  | { readonly outcome: 'gone' };

export interface TestRunStore {
  /** Inserts a run as running. False if its id already exists. */
  insert(run: NewTestRun): Promise<boolean>;
  find(id: string): Promise<TestRun | undefined>;
  /** Newest first. @param status only those that have it */
  list(promptId: string, status: TestRun['status'] | undefined): Listing<TestRun>;
  /** Ends a running run once; the first writer decides its status. */
  end(id: string, end: RunEnd): Promise<EndResult>;
  /** Increments the heartbeat of running runs. @returns the ids that are no longer running */
  beat(ids: readonly string[], beat: number): Promise<readonly string[]>;
  /** All running runs, of all processes. */
  heartbeats(): Promise<Heartbeat[]>;
  /** Some runs of a prompt; empty only if it has none. */
  someOf(promptId: string, limit: number): Promise<TestRun[]>;
  /** Deletes all of interrupted runs except their ids, which `tombstones` lists. */
  leaveTombstones(ids: readonly string[], at: Date): Promise<void>;
  /** Ids of some tombstones from before a time. */
  tombstones(before: Date, limit: number): Promise<string[]>;
  remove(ids: readonly string[]): Promise<void>;
  /** Ids of runs that ended before a time, from one id, inclusive, to before another. */
  endedBefore(time: Date, from: string, to: string): Promise<string[]>;
  /** Prompts that have runs, in the order of their ids, from after the given one. */
  promptIds(after: string, limit: number): Promise<string[]>;
}

interface TestRunDocument extends StampedDocument, Omit<Document<typeof testRunFields.table>, 'status'> {
  /** `buried`: a tombstone. Its prompt was deleted; only its id and `buried_at` remain. */
  status: TestRun['status'] | 'buried';
  /** Incremented by the process that works on the run, without a new revision. */
  heartbeat: number;
  buried_at?: Date;
}

const collectionName = 'test_runs';

export const testRunIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { prompt_id: 1, created_at: -1, _id: 1 }, name: 'prompt_id_1_created_at_-1__id_1' },
    { key: { status: 1 }, name: 'running', partialFilterExpression: { status: 'running' } },
    { key: { buried_at: 1 }, name: 'buried_at_1', sparse: true },
    { key: { finished_at: 1 }, name: 'finished_at_1', sparse: true },
  ],
};

/** The fields that a tombstone does not have. */
const forgottenFields = [
  ...['prompt_id', 'prompt_version', 'providers', 'unknown_variables', 'created_at', 'finished_at', 'heartbeat'],
  ...['answer_bytes', 'has_present_names', 'answered_count', 'cost'],
];

export function createTestRunStore(database: PagedDatabase): TestRunStore {
  const runs: Collection<TestRunDocument> = database.db.collection(collectionName);
  const listByTime = database.pages.listsOf<TestRunDocument, TestRun>(fromDocument);
  const runsOf = (promptId: string): Source<TestRunDocument> => ({
    collection: runs,
    where: { prompt_id: promptId },
    time: 'created_at',
  });

  return {
    async insert(run) {
      const unknown = { answeredCount: undefined, cost: undefined, finishedAt: undefined };
      const unstored = { answerBytes: undefined, hasPresentNames: undefined };
      const begun = { ...run, ...unknown, ...unstored, status: 'running' } as const;
      const inserted = await insertOnce(runs, { ...testRunFields.toDocument(begun), heartbeat: 0 });
      return inserted.outcome === 'done';
    },
    async find(id) {
      return fromDocument(await read(() => runs.findOne({ _id: id })));
    },
    list: (promptId, status) =>
      listByTime({ ...runsOf(promptId), ...(status === undefined ? {} : { rest: { status } }) }),
    async end(id, { status, at, answeredCount, cost, answerBytes, writeId, beat }) {
      const ended = await compareAndSet(
        runs,
        {
          id,
          revision: 1,
          where: { status: 'running', ...(beat === undefined ? {} : { heartbeat: beat }) },
          change: {
            $set: defined({
              status,
              finished_at: at,
              answered_count: answeredCount,
              cost: cost === undefined ? undefined : testRunFields.table.cost.kind.toStored(cost),
              answer_bytes: answerBytes,
              has_present_names: answerBytes === undefined ? undefined : true,
            }),
          },
        },
        { writeId },
      );
      if (ended.outcome === 'done') return { outcome: 'ended' };
      const run = ended.outcome === 'lost' ? fromDocument(ended.document) : undefined;
      return run === undefined ? { outcome: 'gone' } : { outcome: 'lost', run };
    },
    async beat(ids, beat) {
      const running: Filter<TestRunDocument> = { _id: { $in: [...ids] }, status: 'running' };
      await writeIdempotently(() => runs.updateMany(running, { $max: { heartbeat: beat } }));
      const found = await read(() => runs.find(running, { projection: { _id: 1 } }).toArray());
      const alive = new Set(found.map(({ _id }) => _id));
      return ids.filter((id) => !alive.has(id));
    },
    async heartbeats() {
      const projection = { heartbeat: 1 };
      const found = await read(() => runs.find({ status: 'running' }, { projection }).toArray());
      return found.map(({ _id, heartbeat }) => ({ id: _id, beat: heartbeat }));
    },
    async someOf(promptId, limit) {
      for await (const some of database.pages.walk(runsOf(promptId), { limit })) {
        return some.flatMap((document) => fromDocument(document) ?? []);
      }
      return [];
    },
    async leaveTombstones(ids, at) {
      const interrupted: Filter<TestRunDocument> = { _id: { $in: [...ids] }, status: 'interrupted' };
      const rest = Object.fromEntries(forgottenFields.map((name) => [name, '']));
      await writeIdempotently(() =>
        runs.updateMany(interrupted, { $set: { status: 'buried', buried_at: at }, $unset: rest as never }),
      );
    },
    async tombstones(before, limit) {
      const projection = { _id: 1 };
      const found = await read(() =>
        runs
          .find({ buried_at: { $lt: before } }, { projection })
          .limit(limit)
          .toArray(),
      );
      return found.map(({ _id }) => _id);
    },
    async remove(ids) {
      await writeIdempotently(() => runs.deleteMany({ _id: { $in: [...ids] } }));
    },
    async endedBefore(time, from, to) {
      // The time comes first: it has an index, and some servers use only the first field.
      const filter: Filter<TestRunDocument> = { finished_at: { $lt: time }, _id: { $gte: from, $lt: to } };
      const found = await read(() => runs.find(filter, { projection: { _id: 1 } }).toArray());
      return found.map(({ _id }) => _id);
    },
    async promptIds(after, limit) {
      const ids: string[] = [];
      for await (const some of database.pages.values(runs, 'prompt_id', after)) {
        ids.push(...some.toSorted());
        if (ids.length >= limit) break;
      }
      return ids.slice(0, limit);
    },
  };
}

/** Undefined also for a tombstone. */
function fromDocument(document: TestRunDocument | null): TestRun | undefined {
  if (document === null || document.status === 'buried') return undefined;
  const run = testRunFields.fromDocument({ ...document, status: document.status });
  return { ...run, revision: document.revision };
}
