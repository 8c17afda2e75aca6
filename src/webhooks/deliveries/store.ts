import { Binary, type AnyBulkWriteOperation, type Collection, type Filter } from 'mongodb';
import { insertMissing } from '../../db/bulk-writes.ts';
import type { Database } from '../../db/client.ts';
import type { CollectionIndexes } from '../../db/indexes.ts';
import { timeRange } from '../../db/time-range.ts';
import { read, writeIdempotently } from '../../db/writes.ts';
import type { EventType } from '../../events/event.ts';
import type { Attempt, Delivery, DeliveryStatus, DeliveryWithBody, NewDelivery } from './delivery.ts';
import { deliveryId } from './delivery.ts';
import {
  attemptId,
  firstDue,
  fromAttemptDocument,
  fromDeliveryDocument,
  toPairs,
  type AttemptDocument,
  type DeliveryDocument,
} from './documents.ts';

/** A failed try as it is settled. */
export interface FailureSettlement {
  readonly deliveryId: string;
  /** The stamp that the delivery must still bear, or the failure is void. */
  readonly stamp: number;
  readonly failuresBefore: number;
  /** Undefined after the last try. */
  readonly nextTryAt: Date | undefined;
}

export interface DeliveryFilter {
  readonly integrationId: string;
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: EventType | undefined;
  /** `createdAt` from, inclusive. */
  readonly since?: Date | undefined;
  /** `createdAt` up to, exclusive. */
  readonly until?: Date | undefined;
}

export interface DeliveryStore {
  /**
   * Makes the deliveries that do not exist yet, due at once.
   * @param stamps of those, by id, that are made as being tried already
   * @returns ids of those that existed
   */
  insertMissing(
    deliveries: readonly NewDelivery[],
    createdAt: Date,
    stamps?: ReadonlyMap<string, number>,
  ): Promise<ReadonlySet<string>>;
  /** Deliveries of an integration that are due, the longest due first. */
  due(integrationId: string, now: Date, limit: number, except: readonly string[]): Promise<DeliveryWithBody[]>;
  /**
   * Marks pending deliveries as being tried, and counts the try; over smaller stamps only. A stamp is used once.
   * @returns those that bear the stamp now
   */
  stamp(ids: readonly string[], stamp: number): Promise<ReadonlySet<string>>;
  /** Records tries. Recording one again changes nothing. */
  recordAttempts(attempts: readonly (Attempt & { readonly stamp: number })[], expiresAt: Date): Promise<void>;
  /** Settles deliveries as delivered, whoever else has tried them meanwhile: the receiver has the event. */
  settleDelivered(ids: readonly string[], at: Date, expiresAt: Date): Promise<void>;
  /** Settles failed tries of deliveries that still bear their stamp. */
  settleFailed(failures: readonly FailureSettlement[], at: Date, expiresAt: Date): Promise<void>;

  /** Whether any delivery of an integration is due. */
  anyDue(integrationId: string, now: Date): Promise<boolean>;
  find(id: string): Promise<DeliveryWithBody | undefined>;
  /** Newest first. */
  list(filter: DeliveryFilter, limit: number, offset: number): Promise<{ deliveries: Delivery[]; total: number }>;
  /** All recorded tries of a delivery, the first one first. */
  attempts(delivery: Pick<Delivery, 'id' | 'integrationId'>): Promise<Attempt[]>;
  /** Drops what an integration has been owed since before a time. @returns how many */
  expire(integrationId: string, dueBefore: Date, at: Date, expiresAt: Date): Promise<number>;
  /** Integrations that have any deliveries, in the order of their ids, from after the given one. */
  integrationIds(after: string, limit: number): Promise<string[]>;
  /** Removes some deliveries and attempts of an integration. False when none were left. */
  removeSomeOf(integrationId: string): Promise<boolean>;
}

export const deliveryIndexes: readonly CollectionIndexes[] = [
  {
    collection: 'deliveries',
    indexes: [
      { key: { lane: 1, next_attempt_at: 1 }, name: 'lane_1_next_attempt_at_1', sparse: true },
      { key: { integration_id: 1, created_at: -1, _id: 1 }, name: 'integration_id_1_created_at_-1__id_1' },
      { key: { expires_at: 1 }, name: 'expires_at_1', expireAfterSeconds: 0 },
    ],
  },
  {
    collection: 'attempts',
    indexes: [
      // Their ids begin with the same two, but there are servers that look through all documents for a range of ids.
      { key: { integration_id: 1, delivery_id: 1 }, name: 'integration_id_1_delivery_id_1' },
      { key: { expires_at: 1 }, name: 'expires_at_1', expireAfterSeconds: 0 },
    ],
  },
];

/** Takes a delivery out of the index of what is due. */
const unsetWhenFinished = { lane: '', next_attempt_at: '' } as const;

/** Documents that one command removes, so that none takes long: on some servers the time grows with the square. */
const removedAtOnce = 100;

export function createDeliveryStore(database: Database): DeliveryStore {
  const deliveries: Collection<DeliveryDocument> = database.db.collection('deliveries');
  const attempts: Collection<AttemptDocument> = database.db.collection('attempts');

  return {
    async insertMissing(added, createdAt, stamps) {
      const documents = added.map((delivery): DeliveryDocument => {
        const { replayId, targetUuid } = delivery;
        const id = deliveryId(delivery);
        const stamp = stamps?.get(id);
        return {
          _id: id,
          event_id: delivery.eventId,
          event_type: delivery.eventType,
          integration_id: delivery.integrationId,
          ...(replayId === undefined ? {} : { replay_id: replayId }),
          ...(targetUuid === undefined ? {} : { target_uuid: targetUuid }),
          event_created_at: delivery.eventCreatedAt,
          created_at: createdAt,
          body: new Binary(delivery.body),
          status: 'pending',
          lane: delivery.integrationId,
          next_attempt_at: firstDue(createdAt),
          stamp: stamp ?? 0,
          tries: stamp === undefined ? 0 : 1,
          failures: 0,
        };
      });
      return new Set(await insertMissing(deliveries, documents));
    },
    async due(integrationId, now, limit, except) {
      const filter: Filter<DeliveryDocument> = {
        lane: integrationId,
        next_attempt_at: { $lte: now },
        ...(except.length === 0 ? {} : { _id: { $nin: [...except] } }),
      };
      const found = await read(() => deliveries.find(filter).sort({ next_attempt_at: 1 }).limit(limit).toArray());
      return found.map((document) => ({ ...fromDeliveryDocument(document), body: document.body.buffer }));
    },
    async stamp(ids, stamp) {
      const filter: Filter<DeliveryDocument> = { _id: { $in: [...ids] }, status: 'pending', stamp: { $lt: stamp } };
      const { matchedCount } = await writeIdempotently(() =>
        deliveries.updateMany(filter, { $set: { stamp }, $inc: { tries: 1 } }),
      );
      if (matchedCount === ids.length) return new Set(ids);
      // Others were there, or an own attempt whose answer was lost.
      const bearing: Filter<DeliveryDocument> = { _id: { $in: [...ids] }, status: 'pending', stamp };
      const found = await read(() => deliveries.find(bearing, { projection: { _id: 1 } }).toArray());
      return new Set(found.map(({ _id }) => _id));
    },
    async recordAttempts(records, expiresAt) {
      const documents = records.map((record): AttemptDocument => ({
        _id: attemptId(record.integrationId, record.deliveryId, record.stamp),
        integration_id: record.integrationId,
        delivery_id: record.deliveryId,
        number: record.number,
        at: record.at,
        milliseconds: record.milliseconds,
        ...(record.status === undefined ? {} : { status: record.status }),
        ...(record.error === undefined ? {} : { error: record.error }),
        response_headers: toPairs(record.responseHeaders),
        response: new Binary(record.response),
        response_cut: record.responseCut,
        expires_at: expiresAt,
      }));
      await insertMissing(attempts, documents);
    },
    async settleDelivered(ids, at, expiresAt) {
      await writeIdempotently(() =>
        deliveries.updateMany(
          { _id: { $in: [...ids] } },
          {
            $set: { status: 'delivered', finished_at: at, expires_at: expiresAt },
            $unset: unsetWhenFinished,
          },
        ),
      );
    },
    async settleFailed(failures, at, expiresAt) {
      const operations = [...groupAlike(failures).values()].map((alike): AnyBulkWriteOperation<DeliveryDocument> => {
        const [{ stamp, failuresBefore, nextTryAt }] = alike;
        return {
          updateMany: {
            filter: {
              _id: { $in: alike.map(({ deliveryId: id }) => id) },
              status: 'pending',
              stamp,
              // So that a repetition changes nothing.
              failures: failuresBefore,
            },
            update: {
              $inc: { failures: 1 },
              ...(nextTryAt === undefined
                ? {
                    $set: { status: 'failed', finished_at: at, expires_at: expiresAt },
                    $unset: unsetWhenFinished,
                  }
                : { $set: { next_attempt_at: nextTryAt } }),
            },
          },
        };
      });
      await writeIdempotently(() => deliveries.bulkWrite(operations, { ordered: false }));
    },

    async anyDue(integrationId, now) {
      const filter: Filter<DeliveryDocument> = { lane: integrationId, next_attempt_at: { $lte: now } };
      return (await read(() => deliveries.findOne(filter, { projection: { _id: 1 } }))) !== null;
    },
    async find(id) {
      const document = await read(() => deliveries.findOne({ _id: id }));
      return document === null ? undefined : { ...fromDeliveryDocument(document), body: document.body.buffer };
    },
    async list({ integrationId, status, eventType, since, until }, limit, offset) {
      const range = timeRange(since, until);
      const filter: Filter<DeliveryDocument> = {
        integration_id: integrationId,
        ...(range === undefined ? {} : { created_at: range }),
        ...(status === undefined ? {} : { status }),
        ...(eventType === undefined ? {} : { event_type: eventType }),
      };
      const [page, total] = await Promise.all([
        read(() =>
          deliveries
            .find(filter, { projection: { body: 0 } })
            .sort({ created_at: -1, _id: 1 })
            .skip(offset)
            .limit(limit)
            .toArray(),
        ),
        read(() => deliveries.countDocuments(filter)),
      ]);
      return { deliveries: page.map(fromDeliveryDocument), total };
    },
    async attempts({ id, integrationId }) {
      const found = await read(() =>
        attempts.find({ integration_id: integrationId, delivery_id: id }).sort({ _id: 1 }).toArray(),
      );
      return found.map(fromAttemptDocument);
    },
    async expire(integrationId, dueBefore, at, expiresAt) {
      const filter: Filter<DeliveryDocument> = {
        lane: integrationId,
        next_attempt_at: { $lt: dueBefore },
        // A first try is due a day early (see firstDue).
        created_at: { $lt: dueBefore },
      };
      const { modifiedCount } = await writeIdempotently(() =>
        deliveries.updateMany(filter, {
          $set: { status: 'expired', finished_at: at, expires_at: expiresAt },
          $unset: unsetWhenFinished,
        }),
      );
      return modifiedCount;
    },
    async integrationIds(after, limit) {
      const ids: string[] = [];
      for (let last = after; ids.length < limit;) {
        const later: Filter<DeliveryDocument> = { integration_id: { $gt: last } };
        const options = { sort: { integration_id: 1, created_at: -1 }, projection: { integration_id: 1 } } as const;
        const next = await read(() => deliveries.findOne(later, options));
        if (next === null) break;
        last = next.integration_id;
        ids.push(last);
      }
      return ids;
    },
    async removeSomeOf(integrationId) {
      const options = { projection: { _id: 1 }, limit: removedAtOnce };
      const [tries, owed] = await Promise.all([
        read(() => attempts.find({ integration_id: integrationId }, options).toArray()),
        read(() => deliveries.find({ integration_id: integrationId }, options).toArray()),
      ]);
      await writeIdempotently(() => attempts.deleteMany({ _id: { $in: tries.map(({ _id }) => _id) } }));
      await writeIdempotently(() => deliveries.deleteMany({ _id: { $in: owed.map(({ _id }) => _id) } }));
      return tries.length + owed.length > 0;
    },
  };
}

/** Failures that are settled by the same change: one command for each group instead of one for each delivery. */
function groupAlike(failures: readonly FailureSettlement[]): Map<string, [FailureSettlement, ...FailureSettlement[]]> {
  const groups = new Map<string, [FailureSettlement, ...FailureSettlement[]]>();
  for (const failure of failures) {
    const key = `${failure.stamp} ${failure.failuresBefore} ${failure.nextTryAt?.getTime() ?? 'last'}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [failure]);
    else group.push(failure);
  }
  return groups;
}
