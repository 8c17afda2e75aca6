import type { Collection } from 'mongodb';
import { insertMissing } from '../../storage/db/bulk-writes.ts';
import type { Database } from '../../storage/db/client.ts';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import { read, writeIdempotently } from '../../storage/db/writes.ts';
import type { SendError } from '../sending/send-error.ts';
import type { FailedAttempts, LaneHealth } from './health.ts';

/** When attempts ended last, under whatever settings. */
export interface LaneActivity {
  readonly lastAttemptAt: Date | undefined;
  readonly lastSuccessAt: Date | undefined;
}

/** What is stored about a receiver. */
export interface LaneState {
  /** Undefined before the first failure. */
  readonly health: LaneHealth | undefined;
  readonly activity: LaneActivity;
}

/** A receiver that fails. */
export interface FailingLane {
  readonly integrationId: string;
  readonly since: Date;
  readonly health: LaneHealth;
}

/** Stores the condition of receivers. Only the process that holds an integration's partition writes it. */
export interface HealthStore {
  find(integrationIds: readonly string[]): Promise<Map<string, LaneState>>;
  /**
   * Stores the times to the second, so that one command changes all that are alike: on some servers each change of its
   * own takes some milliseconds. What is undefined does not change.
   */
  save(states: readonly (LaneState & { readonly integrationId: string })[]): Promise<void>;
  /** Ends the pause of a receiver that fails, so that it gets a probe. */
  endPause(integrationId: string, at: Date): Promise<void>;
  /** Ids of integrations whose last attempt failed, those with the most failures in a row first. */
  failing(limit: number): Promise<string[]>;
  /**
   * Those that have failed since some time, the latest first, from after the given one. A receiver for which only our
   * proxy fails is not among them.
   */
  failingSince(after: FailingLane | undefined, limit: number): Promise<FailingLane[]>;
  /** When an attempt at any receiver succeeded last. It reads all. */
  lastSuccess(): Promise<Date | undefined>;
  /** Integrations with a stored condition, in the order of their ids, from after the given one. */
  ids(after: string, limit: number): Promise<string[]>;
  remove(integrationIds: readonly string[]): Promise<void>;
}

/** A document of the collection `lanes`, under the id of its integration. */
interface LaneDocument {
  _id: string;
  health?: HealthDocument;
  last_attempt_at?: Date;
  last_success_at?: Date;
}

type StateFields = Omit<LaneDocument, '_id'>;

interface HealthDocument {
  settings_revision: number;
  failing_since?: Date;
  warned_at?: Date;
  failures_in_a_row: number;
  last_failure?: { at: Date; status?: number; error?: SendError };
  open_until?: Date;
  open_milliseconds?: number;
}

const collectionName = 'lanes';
const failing = { 'health.failures_in_a_row': { $gt: 0 } };
const sinceSomeTime = { $gt: new Date(0) };

export const laneIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    {
      key: { 'health.failures_in_a_row': -1 },
      name: 'health.failures_in_a_row_-1',
      partialFilterExpression: failing,
    },
    {
      key: { 'health.failing_since': -1, _id: 1 },
      name: 'health.failing_since_-1__id_1',
      partialFilterExpression: { 'health.failing_since': sinceSomeTime },
    },
  ],
};

/** Ids that one command looks up; on some servers the time grows with their square. */
const idsAtOnce = 100;

export function createHealthStore(database: Database): HealthStore {
  const lanes: Collection<LaneDocument> = database.db.collection(collectionName);
  return {
    async find(integrationIds) {
      const found = new Map<string, LaneState>();
      for (let start = 0; start < integrationIds.length; start += idsAtOnce) {
        const ids = integrationIds.slice(start, start + idsAtOnce);
        const documents = await read(() => lanes.find({ _id: { $in: ids } }).toArray());
        for (const document of documents) found.set(document._id, fromDocument(document));
      }
      return found;
    },
    async save(states) {
      const groups = new Map<string, { readonly fields: StateFields; readonly ids: string[] }>();
      for (const state of states) {
        const fields = toStateFields(state);
        const key = JSON.stringify(fields);
        const group = groups.get(key) ?? { fields, ids: [] };
        groups.set(key, group);
        group.ids.push(state.integrationId);
      }
      const alike = [...groups.values()];
      const operations = alike.map(({ fields, ids }) => ({
        updateMany: { filter: { _id: { $in: ids } }, update: { $set: fields } },
      }));
      const { matchedCount } = await writeIdempotently(() => lanes.bulkWrite(operations, { ordered: false }));
      if (matchedCount === states.length) return;
      const documents = alike.flatMap(({ fields, ids }) => ids.map((_id) => ({ _id, ...fields })));
      await insertMissing(lanes, documents);
    },
    async endPause(integrationId, at) {
      const open = { _id: integrationId, 'health.open_until': { $gt: at } };
      await writeIdempotently(() => lanes.updateOne(open, { $set: { 'health.open_until': at } }));
    },
    async failing(limit) {
      const options = { projection: { _id: 1 }, sort: { 'health.failures_in_a_row': -1 }, limit } as const;
      const found = await read(() => lanes.find(failing, options).toArray());
      return found.map(({ _id }) => _id);
    },
    async failingSince(after, limit) {
      const filter = {
        'health.failing_since': { ...sinceSomeTime, ...(after !== undefined && { $lte: after.since }) },
        // Of those that began in the same second.
        ...(after !== undefined && {
          $nor: [{ 'health.failing_since': after.since, _id: { $lte: after.integrationId } }],
        }),
      };
      const options = { sort: { 'health.failing_since': -1, _id: 1 }, limit } as const;
      const found = await read(() => lanes.find(filter, options).toArray());
      return found.flatMap(({ _id: integrationId, health: stored }): FailingLane | [] => {
        if (stored?.failing_since === undefined) return [];
        return { integrationId, since: stored.failing_since, health: fromHealthDocument(stored) };
      });
    },
    async lastSuccess() {
      const options = { projection: { last_success_at: 1 }, sort: { last_success_at: -1 }, limit: 1 } as const;
      const [newest] = await read(() => lanes.find({ last_success_at: { $exists: true } }, options).toArray());
      return newest?.last_success_at;
    },
    async ids(after, limit) {
      const found = await read(() =>
        lanes
          .find({ _id: { $gt: after } }, { projection: { _id: 1 } })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(({ _id }) => _id);
    },
    async remove(integrationIds) {
      await writeIdempotently(() => lanes.deleteMany({ _id: { $in: [...integrationIds] } }));
    },
  };
}

function toStateFields({ health, activity: { lastAttemptAt, lastSuccessAt } }: LaneState): StateFields {
  return {
    ...(health === undefined ? {} : { health: toHealthDocument(health) }),
    ...(lastAttemptAt === undefined ? {} : { last_attempt_at: toSecond(lastAttemptAt) }),
    ...(lastSuccessAt === undefined ? {} : { last_success_at: toSecond(lastSuccessAt) }),
  };
}

function toSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1_000) * 1_000);
}

function toHealthDocument({
  settingsRevision,
  failingSince,
  warnedAt,
  failuresInARow,
  lastFailure,
  open,
}: LaneHealth): HealthDocument {
  return {
    settings_revision: settingsRevision,
    ...(failingSince === undefined ? {} : { failing_since: toSecond(failingSince) }),
    ...(warnedAt === undefined ? {} : { warned_at: warnedAt }),
    failures_in_a_row: failuresInARow,
    ...(lastFailure === undefined ? {} : { last_failure: toFailureDocument(lastFailure) }),
    ...(open === undefined
      ? {}
      : { open_until: toSecond(new Date(open.until.getTime() + 999)), open_milliseconds: open.milliseconds }),
  };
}

function toFailureDocument({ at, status, error }: FailedAttempts): NonNullable<HealthDocument['last_failure']> {
  return { at: toSecond(at), ...(status === undefined ? {} : { status }), ...(error === undefined ? {} : { error }) };
}

function fromDocument({ health, last_attempt_at, last_success_at }: LaneDocument): LaneState {
  return {
    health: health === undefined ? undefined : fromHealthDocument(health),
    activity: { lastAttemptAt: last_attempt_at, lastSuccessAt: last_success_at },
  };
}

function fromHealthDocument(document: HealthDocument): LaneHealth {
  const { last_failure, open_until, open_milliseconds } = document;
  return {
    settingsRevision: document.settings_revision,
    failingSince: document.failing_since,
    warnedAt: document.warned_at,
    failuresInARow: document.failures_in_a_row,
    lastFailure:
      last_failure === undefined
        ? undefined
        : { at: last_failure.at, status: last_failure.status, error: last_failure.error },
    open: open_until === undefined ? undefined : { until: open_until, milliseconds: open_milliseconds ?? 0 },
  };
}
