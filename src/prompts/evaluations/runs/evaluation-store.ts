import type { Collection, Document as Plain, Filter, UpdateFilter } from 'mongodb';
import { retryLostRaces } from '../../../base/editing/lost-races.ts';
import type { Document } from '../../../base/fields/fields.ts';
import type { Listing } from '../../../base/lists/listing.ts';
import { auditIndex, firstAudit, pushAudit, type AuditEntry, type Audited } from '../../../storage/db/audit.ts';
import { expiryIndex, type CollectionIndexes } from '../../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../../storage/db/pages.ts';
import {
  compareAndSet,
  insertOnce,
  read,
  writeIdempotently,
  type Change,
  type StampedDocument,
} from '../../../storage/db/writes.ts';
import { evaluationFields, type Evaluation, type EvaluationStatus } from './evaluation.ts';

type Fields = typeof evaluationFields.table;
type Values = Partial<Omit<Evaluation, 'revision'>>;

/** An evaluation that has not ended, as all processes see it. */
export interface ActiveEvaluation {
  readonly id: string;
  readonly status: EvaluationStatus;
  readonly family: string;
  readonly createdAt: Date;
  /** Of the process that works on it. */
  readonly lease: string | undefined;
  readonly beat: number;
  readonly slot: string | undefined;
  readonly keySlot: string | undefined;
}

/** Results that count: the name of their object, and how each case went. */
export interface Entry {
  readonly name: string;
  /** A character for each case. */
  readonly outcomes: string;
  /** The group of each case, if one of them has a group. */
  readonly groups?: readonly (string | null)[];
}

/** The place of an evaluation among those that run: no two have the same. */
export interface Place {
  readonly slot: string;
  readonly keySlot: string;
}

/**
 * Evaluations in the database. What the process that works on one changes, it changes only while it has the lease. Every
 * method can throw `database-unavailable`.
 */
export interface EvaluationStore {
  /** False if one with this id, or this try of a gate, already exists. */
  insert(evaluation: Omit<Evaluation, 'revision'>, entry: AuditEntry): Promise<boolean>;
  find(id: string): Promise<Evaluation | undefined>;
  /** Newest first. @param status only those that have it */
  list(promptId: string, status: EvaluationStatus | undefined): Listing<Evaluation>;
  /** Those of a content for a gate, the earliest first. @param start of their `gateTry`, up to the content */
  ofGate(start: string): Promise<Evaluation[]>;
  /** Keeps these as long as their prompt. */
  keep(ids: readonly string[]): Promise<void>;
  /** Those that have not ended, the earliest first. */
  active(): Promise<ActiveEvaluation[]>;
  /** Takes a lease that nobody has. @param place of one that begins to run @returns false if another was first */
  take(id: string, lease: string, begins?: { readonly place: Place; readonly at: Date }): Promise<boolean>;
  /** Takes the lease away from a process that sends no heartbeats. */
  free(stale: ActiveEvaluation): Promise<void>;
  /** Increments heartbeats. @returns the leases that are lost */
  beat(leases: readonly string[], beat: number): Promise<readonly string[]>;
  /** Gives a lease back. @param values that change. @returns false if it is lost */
  release(id: string, lease: string, values?: Values): Promise<boolean>;
  /** Ends an evaluation, whose lease this process has. @returns false if it is lost */
  end(id: string, lease: string, values: Values & End): Promise<boolean>;
  /** Ends an evaluation that a caller cancels. @returns it; undefined if another writer was first */
  cancel(evaluation: Evaluation, values: Values & End, entry: AuditEntry): Promise<Evaluation | undefined>;
  /** The results that count, in their order. */
  entries(id: string): Promise<readonly Entry[]>;
  /** Names an object before it is stored. @param index how many count before @returns false if the lease is lost */
  announce(id: string, lease: string, index: number, pending: Pending): Promise<boolean>;
  /** Lets a stored object count. @returns false if the lease is lost */
  enter(id: string, lease: string, index: number, entry: Entry, values: Values): Promise<boolean>;
  /** Which of these versions of data sets evaluations name. */
  named(datasetVersionIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Some with objects that do not count although they were announced before a time. */
  leftovers(before: Date, limit: number): Promise<{ readonly id: string; readonly names: readonly string[] }[]>;
  forgetPending(id: string, names: readonly string[]): Promise<void>;
  /** Ids of some whose results were kept until before a time. */
  expired(now: Date, limit: number): Promise<string[]>;
  forgetEntries(id: string): Promise<void>;
  /** Ids of some evaluations of a prompt; empty only if it has none. */
  someOf(promptId: string, limit: number): Promise<string[]>;
  /**
   * Leaves nothing of an evaluation but the names of its objects, announced now, so that they are deleted later again.
   * @returns the names
   */
  bury(id: string, at: Date): Promise<readonly string[]>;
}

/** When it ends, and until when its results, and it itself, are kept. */
export interface End {
  readonly status: EvaluationStatus;
  readonly finishedAt: Date;
}

export interface Pending {
  readonly name: string;
  readonly at: Date;
}

type EvaluationDocument = StampedDocument &
  Audited &
  Omit<Document<Fields>, 'status'> & {
    /** `buried`: its prompt was deleted. */
    status: EvaluationStatus | 'buried';
    /** Until it has ended. */
    active?: true;
    lease?: string;
    /** Incremented by the process that has the lease, without a new revision. */
    heartbeat?: number;
    slot?: string;
    key_slot?: string;
    /** How many objects count. */
    next: number;
    entries: Entry[];
    pending: Pending[];
    results_until?: Date;
    expires_at?: Date;
  };

const collectionName = 'evaluations';
const day = 24 * 3_600_000;
/** The contract has the same numbers. */
const resultsKeptMs = 30 * day;
const keptMs = 400 * day;

export const evaluationIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { prompt_id: 1, created_at: -1, _id: 1 }, name: 'prompt_id_1_created_at_-1__id_1' },
    { key: { active: 1 }, name: 'active_1', sparse: true },
    { key: { lease: 1 }, name: 'lease_1', sparse: true },
    { key: { slot: 1 }, name: 'slot_1', unique: true, partialFilterExpression: { slot: { $gt: '' } } },
    { key: { key_slot: 1 }, name: 'key_slot_1', unique: true, partialFilterExpression: { key_slot: { $gt: '' } } },
    { key: { gate_try: 1 }, name: 'gate_try_1', unique: true, partialFilterExpression: { gate_try: { $gt: '' } } },
    { key: { dataset_version_id: 1 }, name: 'dataset_version_id_1' },
    { key: { 'pending.at': 1 }, name: 'pending.at_1', sparse: true },
    { key: { results_until: 1 }, name: 'results_until_1', sparse: true },
    expiryIndex,
    auditIndex,
  ],
};

/** What is left of an evaluation whose prompt was deleted is kept until no process can store results of it. */
const buriedMs = 2 * day;
const forgotten = evaluationFields.storedNames.filter((name) => name !== '_id' && name !== 'status');
/** What one has only while it has not ended. */
const ofActive = { active: '', lease: '', heartbeat: '', slot: '', key_slot: '' } as const;

export function createEvaluationStore(database: PagedDatabase): EvaluationStore {
  const evaluations: Collection<EvaluationDocument> = database.db.collection(collectionName);
  const projection = { entries: 0, pending: 0, writes: 0 };
  const listByTime = database.pages.listsOf<EvaluationDocument, Evaluation>(fromDocument, { projection });

  /** Changes one of which this process has the lease. @returns false if it is lost */
  const asHolder = async (
    id: string,
    lease: string,
    where: Filter<EvaluationDocument>,
    change: Change<EvaluationDocument>,
  ): Promise<boolean> =>
    retryLostRaces(async () => {
      const found = await read(() => evaluations.findOne({ _id: id }, { projection: { revision: 1, lease: 1 } }));
      if (found?.lease !== lease) return false;
      const { revision } = found;
      const written = await compareAndSet(evaluations, { id, revision, where: { ...where, lease }, change });
      if (written.outcome === 'done') return true;
      // Another change of it, such as a record that was handed over to the audit log, was first.
      return written.outcome === 'lost' && written.document.revision !== revision ? undefined : false;
    });
  const entriesOf = async (id: string): Promise<readonly Entry[]> => {
    const found = await read(() => evaluations.findOne({ _id: id }, { projection: { entries: 1 } }));
    return found?.entries ?? [];
  };
  const ended = (values: Values & End): Change<EvaluationDocument> => {
    const { $set, $unset } = evaluationFields.toUpdate(values);
    const at = values.finishedAt.getTime();
    const kept = { results_until: new Date(at + resultsKeptMs), expires_at: new Date(at + keptMs) };
    return { $set: { ...$set, ...kept }, $unset: { ...$unset, ...ofActive } } as Change<EvaluationDocument>;
  };

  return {
    async insert(evaluation, entry) {
      const rest = { active: true, next: 0, entries: [], pending: [] } as const;
      const document = { ...evaluationFields.toDocument(evaluation), ...rest, ...firstAudit(entry) };
      return (await insertOnce(evaluations, document as never)).outcome === 'done';
    },
    async find(id) {
      return fromDocument(await read(() => evaluations.findOne({ _id: id }, { projection })));
    },
    list: (promptId, status) =>
      listByTime({
        collection: evaluations,
        where: { prompt_id: promptId },
        time: 'created_at',
        ...(status !== undefined && { rest: { status } }),
      }),
    async ofGate(start) {
      // `;` is the character behind `:`.
      const filter = { gate_try: { $gt: `${start}:`, $lt: `${start};` } };
      const found = await read(() => evaluations.find(filter, { projection }).toArray());
      return found
        .flatMap((document) => fromDocument(document) ?? [])
        .sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1));
    },
    async keep(ids) {
      const ended = { _id: { $in: [...ids] }, status: 'ended' as const };
      await writeIdempotently(() => evaluations.updateMany(ended, { $unset: { expires_at: '' } }));
    },
    async active() {
      const shown = { status: 1, family: 1, created_at: 1, lease: 1, heartbeat: 1, slot: 1, key_slot: 1 };
      const found = await read(() => evaluations.find({ active: true }, { projection: shown }).toArray());
      return found
        .flatMap((document): ActiveEvaluation[] => {
          const { _id: id, status, family, created_at: createdAt, lease, heartbeat: beat = 0 } = document;
          if (status === 'buried') return [];
          return [{ id, status, family, createdAt, lease, beat, slot: document.slot, keySlot: document.key_slot }];
        })
        .sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1));
    },
    async take(id, lease, begins) {
      const found = await read(() => evaluations.findOne({ _id: id }, { projection: { revision: 1, status: 1 } }));
      if (found === null) return false;
      const { revision, status } = found;
      const begun = begins && {
        ...evaluationFields.toUpdate({ status: 'running', startedAt: begins.at }).$set,
        slot: begins.place.slot,
        key_slot: begins.place.keySlot,
      };
      const change = { $set: { lease, heartbeat: 0, ...begun } };
      // `null` matches a document without the field.
      const where = { active: true, status, lease: null } as unknown as Filter<EvaluationDocument>;
      return (await compareAndSet(evaluations, { id, revision, where, change })).outcome === 'done';
    },
    async free({ id, lease, beat }) {
      const held = { _id: id, lease, heartbeat: beat } as Filter<EvaluationDocument>;
      await writeIdempotently(() => evaluations.updateOne(held, { $unset: { lease: '', heartbeat: '' } }));
    },
    async beat(leases, beat) {
      const held: Filter<EvaluationDocument> = { lease: { $in: [...leases] } };
      await writeIdempotently(() => evaluations.updateMany(held, { $max: { heartbeat: beat } }));
      const found = await read(() => evaluations.find(held, { projection: { lease: 1 } }).toArray());
      const alive = new Set(found.map(({ lease }) => lease));
      return leases.filter((lease) => !alive.has(lease));
    },
    async release(id, lease, values = {}) {
      const { $set, $unset } = evaluationFields.toUpdate(values);
      const change = { ...(Object.keys($set).length > 0 && { $set }), $unset: { ...$unset, lease: '', heartbeat: '' } };
      return await asHolder(id, lease, {}, change as Change<EvaluationDocument>);
    },
    end: (id, lease, values) => asHolder(id, lease, {}, ended(values)),
    async cancel(evaluation, values, entry) {
      const { id, revision, status } = evaluation;
      const change = { ...ended(values), $push: pushAudit(entry) };
      const written = await compareAndSet(evaluations, { id, revision, where: { status }, change });
      return written.outcome === 'done' ? { ...evaluation, ...values, revision: written.revision } : undefined;
    },
    entries: entriesOf,
    announce: (id, lease, index, pending) => asHolder(id, lease, { next: index }, { $push: { pending } }),
    async enter(id, lease, index, entry, values) {
      const entered = await asHolder(id, lease, { next: index }, {
        ...evaluationFields.toUpdate(values),
        $inc: { next: 1 },
        $push: { entries: entry },
        $pull: { pending: { name: entry.name } },
      } as Change<EvaluationDocument>);
      // An earlier attempt, whose answer was lost, may have entered it.
      return entered || (await entriesOf(id)).some(({ name }) => name === entry.name);
    },
    async named(ids) {
      const filter = { dataset_version_id: { $in: [...ids] } };
      const found = await read(() => evaluations.find(filter, { projection: { dataset_version_id: 1 } }).toArray());
      return new Set(found.map(({ dataset_version_id: id }) => id));
    },
    async leftovers(before, limit) {
      const filter = { 'pending.at': { $lt: before } } as Filter<EvaluationDocument>;
      const found = await read(() => evaluations.find(filter, { projection: { pending: 1 }, limit }).toArray());
      return found.map(({ _id: id, pending }) => ({
        id,
        names: pending.filter(({ at }) => at < before).map(({ name }) => name),
      }));
    },
    async forgetPending(id, names) {
      const pull = { $pull: { pending: { name: { $in: [...names] } } } } as Plain;
      await writeIdempotently(() => evaluations.updateOne({ _id: id }, pull));
    },
    async expired(now, limit) {
      const filter = { results_until: { $lt: now } };
      const found = await read(() => evaluations.find(filter, { projection: { _id: 1 }, limit }).toArray());
      return found.map(({ _id }) => _id);
    },
    async forgetEntries(id) {
      const change: UpdateFilter<EvaluationDocument> = { $set: { entries: [] }, $unset: { results_until: '' } };
      await writeIdempotently(() => evaluations.updateOne({ _id: id }, change));
    },
    async someOf(promptId, limit) {
      const source = { collection: evaluations, where: { prompt_id: promptId }, time: 'created_at' } as const;
      for await (const some of database.pages.walk(source, { limit, projection: { created_at: 1 } })) {
        return some.map(({ _id }) => _id);
      }
      return [];
    },
    bury: (id, at) =>
      retryLostRaces(async () => {
        const found = await read(() => evaluations.findOne({ _id: id }));
        if (found === null) return [];
        const names = [...found.entries, ...found.pending].map(({ name }) => name);
        const pending = names.map((name) => ({ name, at }));
        const $set = { status: 'buried', entries: [], pending, expires_at: new Date(at.getTime() + buriedMs) } as const;
        const $unset = { ...Object.fromEntries(forgotten.map((name) => [name, ''])), ...ofActive, results_until: '' };
        const change = { $set, $unset } as Change<EvaluationDocument>;
        const written = await compareAndSet(evaluations, { id, revision: found.revision, change });
        return written.outcome === 'done' ? names : undefined;
      }),
  };
}

/** Undefined also for one whose prompt was deleted. */
function fromDocument(document: EvaluationDocument | null): Evaluation | undefined {
  if (document === null || document.status === 'buried') return undefined;
  const evaluation = evaluationFields.fromDocument({ ...document, status: document.status });
  return { ...evaluation, revision: document.revision };
}
