import type { Collection, Filter, UpdateFilter } from 'mongodb';
import { insertMissing } from '../../db/bulk-writes.ts';
import type { Database } from '../../db/client.ts';
import { read, writeIdempotently } from '../../db/writes.ts';
import type { SendError } from '../sending/send-error.ts';
import type { Failure, LaneHealth } from './health.ts';
import type { SeenLane } from './lane-lease.ts';

/** The right to send to one integration. */
export interface Lane extends SeenLane {
  /** Undefined before the first failure. */
  readonly health: LaneHealth | undefined;
  readonly activity: LaneActivity;
}

/** When attempts ended last, under whatever settings. */
export interface LaneActivity {
  readonly lastAttemptAt: Date | undefined;
  readonly lastSuccessAt: Date | undefined;
}

/** What a holder stores with its lane. */
export interface LaneState {
  readonly health: LaneHealth | undefined;
  readonly activity: LaneActivity;
}

export interface LaneStore {
  find(integrationIds: readonly string[]): Promise<Map<string, Lane>>;
  /**
   * Takes a lane if it has not changed since it was read; creates a missing lane.
   * @param holder unique to the process that takes it
   * @returns the lane with its fencing token, larger than all before; undefined if another process was first
   */
  acquire(integrationId: string, seen: Lane | undefined, holder: string): Promise<Lane | undefined>;
  /** Increments the counters. @returns the integrations whose lanes the holder still has */
  renew(integrationIds: readonly string[], holder: string): Promise<ReadonlySet<string>>;
  /** What is undefined does not change. */
  save(integrationId: string, token: number, state: LaneState): Promise<void>;
  /** Releases a lane, so that any process can take it immediately. @param state stored as by `save` */
  release(integrationId: string, token: number, state?: LaneState): Promise<void>;
  /** Lanes in the order of their ids, from after the given one. */
  ids(after: string, limit: number): Promise<string[]>;
  remove(integrationIds: readonly string[]): Promise<void>;
}

/** A document of the collection `lanes`, under the id of its integration. */
interface LaneDocument {
  _id: string;
  holder?: string;
  token: number;
  beat: number;
  health?: HealthDocument;
  last_attempt_at?: Date;
  last_success_at?: Date;
}

interface HealthDocument {
  settings_revision: number;
  failing_since?: Date;
  warned_at?: Date;
  failures_in_a_row: number;
  last_failure?: { at: Date; status?: number; error?: SendError };
  open_until?: Date;
  open_milliseconds?: number;
}

export function createLaneStore(database: Database): LaneStore {
  const lanes: Collection<LaneDocument> = database.db.collection('lanes');

  /** The lane after a take, if it was neither renewed nor released since. */
  const findTaken = async (id: string, holder: string, token: number, beat: number): Promise<Lane | undefined> => {
    const document = await read(() => lanes.findOne({ _id: id, holder, token, beat }));
    return document === null ? undefined : fromDocument(document);
  };

  return {
    async find(integrationIds) {
      const found = await read(() => lanes.find({ _id: { $in: [...integrationIds] } }).toArray());
      return new Map(found.map((document) => [document._id, fromDocument(document)]));
    },
    async acquire(integrationId, seen, holder) {
      if (seen === undefined) {
        await insertMissing(lanes, [{ _id: integrationId, holder, token: 1, beat: 1 }]);
        return findTaken(integrationId, holder, 1, 1);
      }
      const token = seen.token + 1;
      const filter: Filter<LaneDocument> = { _id: integrationId, token: seen.token, beat: seen.beat };
      const { matchedCount } = await writeIdempotently(() =>
        lanes.updateOne(filter, { $set: { holder, token, beat: seen.beat + 1 } }),
      );
      if (matchedCount === 1) return { ...seen, holder, token, beat: seen.beat + 1 };
      // Another process was first, or an earlier attempt of this call whose answer was lost.
      return findTaken(integrationId, holder, token, seen.beat + 1);
    },
    async renew(integrationIds, holder) {
      const own: Filter<LaneDocument> = { _id: { $in: [...integrationIds] }, holder };
      const { matchedCount } = await writeIdempotently(() => lanes.updateMany(own, { $inc: { beat: 1 } }));
      if (matchedCount === integrationIds.length) return new Set(integrationIds);
      const found = await read(() => lanes.find(own, { projection: { _id: 1 } }).toArray());
      return new Set(found.map(({ _id }) => _id));
    },
    async save(integrationId, token, state) {
      const own: Filter<LaneDocument> = { _id: integrationId, token };
      await writeIdempotently(() => lanes.updateOne(own, { $set: toStateFields(state) }));
    },
    async release(integrationId, token, state) {
      const fields = state === undefined ? {} : toStateFields(state);
      const change: UpdateFilter<LaneDocument> = {
        $unset: { holder: '' },
        $inc: { beat: 1 },
        ...(Object.keys(fields).length === 0 ? {} : { $set: fields }),
      };
      const own: Filter<LaneDocument> = { _id: integrationId, token };
      await writeIdempotently(() => lanes.updateOne(own, change));
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

function toStateFields({
  health,
  activity: { lastAttemptAt, lastSuccessAt },
}: LaneState): Pick<LaneDocument, 'health' | 'last_attempt_at' | 'last_success_at'> {
  return {
    ...(health === undefined ? {} : { health: toHealthDocument(health) }),
    ...(lastAttemptAt === undefined ? {} : { last_attempt_at: lastAttemptAt }),
    ...(lastSuccessAt === undefined ? {} : { last_success_at: lastSuccessAt }),
  };
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
    ...(failingSince === undefined ? {} : { failing_since: failingSince }),
    ...(warnedAt === undefined ? {} : { warned_at: warnedAt }),
    failures_in_a_row: failuresInARow,
    ...(lastFailure === undefined ? {} : { last_failure: toFailureDocument(lastFailure) }),
    ...(open === undefined ? {} : { open_until: open.until, open_milliseconds: open.milliseconds }),
  };
}

function toFailureDocument({ at, status, error }: Failure): NonNullable<HealthDocument['last_failure']> {
  return { at, ...(status === undefined ? {} : { status }), ...(error === undefined ? {} : { error }) };
}

function fromDocument({ _id, holder, token, beat, health, last_attempt_at, last_success_at }: LaneDocument): Lane {
  return {
    integrationId: _id,
    holder,
    token,
    beat,
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
