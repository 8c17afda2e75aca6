import { Binary, type AnyBulkWriteOperation, type Collection, type Document, type Filter } from 'mongodb';
import { insertMissing } from '../../storage/db/bulk-writes.ts';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase, Source, ValueSpan } from '../../storage/db/pages.ts';
import { read, writeIdempotently } from '../../storage/db/writes.ts';
import type { Listing } from '../../base/lists/listing.ts';
import type { Attempt, Delivery, DeliveryStatus, DeliveryWithBody, Outcome, StampedAttempt } from './delivery.ts';
import {
  attemptId,
  firstDue,
  fromAttemptDocument,
  fromDeliveryDocument,
  toPairs,
  type DeliveryAttemptDocument,
  type DeliveryDocument,
} from './delivery-documents.ts';
import { deliverySource, listIndexes, type DeliveryFilter } from './delivery-lists.ts';

/** A failed attempt for its settlement. */
export interface FailureSettlement {
  readonly deliveryId: string;
  /** The stamp that the delivery must still have. Otherwise the failure is ignored. */
  readonly stamp: number;
  readonly failuresBefore: number;
  /** False if it was not the receiver's. */
  readonly isCounted?: boolean;
  readonly outcome: Outcome;
  /** Undefined after the last attempt. */
  readonly nextAttemptAt: Date | undefined;
}

/** How new deliveries are created. */
export interface Creation {
  /** The deliveries that are created with an attempt begun, and their stamp. */
  readonly begun?: { readonly ids: ReadonlySet<string>; readonly stamp: number } | undefined;
  /** The deliveries that the holder of their partition must find, because it is another process. */
  readonly isFresh?: (delivery: DeliveryWithBody) => boolean;
  /** Whether they are attempted even while the circuit breaker is open. */
  readonly isUrgent?: boolean;
}

/** A delivery that a process has created for the holder of its partition. */
export interface FreshDelivery {
  readonly id: string;
  readonly integrationId: string;
  readonly isUrgent: boolean;
}

export interface DeliveryStore {
  /**
   * Creates the deliveries that do not exist yet. They are due immediately.
   * @returns ids of deliveries that already existed
   */
  insertMissing(deliveries: readonly DeliveryWithBody[], creation?: Creation): Promise<ReadonlySet<string>>;
  /** Marks pending deliveries as fresh. */
  markFresh(ids: readonly string[]): Promise<void>;
  /** Fresh deliveries of integrations with these ids. */
  fresh(span: ValueSpan, limit: number): Promise<FreshDelivery[]>;
  /** Removes the mark of deliveries that their holder knows. */
  unmark(ids: readonly string[]): Promise<void>;
  /** The integrations with pending deliveries, and when the first of them is due. */
  firstDue(span: ValueSpan): AsyncIterable<readonly { readonly integrationId: string; readonly at: Date }[]>;
  /**
   * Deliveries of an integration that are due at a time, the longest due first.
   * @param onUnreadable called for each document that is no delivery
   */
  due(
    integrationId: string,
    at: Date,
    limit: number,
    except: ReadonlySet<string>,
    onUnreadable: (id: string, error: unknown) => void,
  ): Promise<DeliveryWithBody[]>;
  findMany(ids: readonly string[]): Promise<DeliveryWithBody[]>;
  /**
   * Marks pending deliveries as in progress and counts the attempt, if their stamps are smaller. A stamp is used once.
   * @returns the deliveries that have the stamp now
   */
  stamp(ids: readonly string[], stamp: number): Promise<ReadonlySet<string>>;
  /** Undoes `stamp` for deliveries that were not attempted. */
  unstamp(ids: readonly string[], stamp: number): Promise<void>;
  /**
   * Settles deliveries as delivered, even if another process has attempted them in the meantime, because the receiver
   * has the event.
   */
  settleDelivered(ids: readonly string[], at: Date, expiresAt: Date): Promise<void>;
  /** Records attempts. A repetition changes nothing. */
  recordAttempts(attempts: readonly StampedAttempt[], expiresAt: Date): Promise<void>;
  /** Settles failed attempts of deliveries that still have their stamp. */
  settleFailed(failures: readonly FailureSettlement[], at: Date, expiresAt: Date): Promise<void>;

  find(id: string): Promise<DeliveryWithBody | undefined>;
  /** The status of deliveries, and the last replay of those that are not replays. */
  ends(
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly status: DeliveryStatus; readonly replayId: string | undefined }>>;
  /** Notes which replay sent the events of deliveries again. */
  markReplayed(ids: readonly string[], replayId: string): Promise<void>;
  /** Newest first. */
  list(filter: DeliveryFilter): Listing<Delivery>;
  /** All recorded attempts of a delivery, the first one first. */
  attempts(delivery: Pick<Delivery, 'id' | 'integrationId'>): Promise<Attempt[]>;
  /**
   * Expires deliveries of an integration that were due before a time, some hundred at a time.
   * @param end returns when they end and when they can be removed. It is called for each hundred, so that they are not
   *   all removed at the same time
   * @param pause called between commands
   * @returns the number of expired deliveries
   */
  expire(
    integrationId: string,
    dueBefore: Date,
    end: () => { readonly at: Date; readonly expiresAt: Date },
    pause: () => Promise<void>,
  ): Promise<number>;
  /** Some integrations with deliveries, of those whose ids are between two others; empty only if there are none. */
  integrationsBetween(after: string, before: string | undefined): Promise<string[]>;
  /**
   * Removes the deliveries and attempts of an integration, some hundred at a time.
   * @param pause called between commands
   */
  removeAllOf(integrationId: string, pause: () => Promise<void>): Promise<void>;
}

export const deliveryIndexes: readonly CollectionIndexes[] = [
  {
    collection: 'deliveries',
    indexes: [
      { key: { lane: 1, next_attempt_at: 1 }, name: 'lane_1_next_attempt_at_1', sparse: true },
      // Only what another process has created and its holder has not begun.
      { key: { fresh: 1 }, name: 'fresh_1', partialFilterExpression: { fresh: { $gt: '' } } },
      ...listIndexes.indexes,
      expiryIndex,
    ],
    inOrder: listIndexes.inOrder,
  },
  {
    collection: 'attempts',
    indexes: [
      // Their ids begin with the same two, but some servers read all documents for a range of ids.
      { key: { integration_id: 1, delivery_id: 1 }, name: 'integration_id_1_delivery_id_1' },
      expiryIndex,
    ],
  },
];

const unmarked = { fresh: '', urgent: '' } as const;
/** Removes a delivery from the index of pending deliveries. */
const unsetWhenFinished = { lane: '', next_attempt_at: '', ...unmarked } as const;

/** Deliveries that one command expires. */
const expiredAtOnce = 100;

export function createDeliveryStore(database: PagedDatabase): DeliveryStore {
  const { pages } = database;
  const deliveries: Collection<DeliveryDocument> = database.db.collection('deliveries');
  const attempts: Collection<DeliveryAttemptDocument> = database.db.collection('attempts');
  const listByTime = pages.listsOf<DeliveryDocument, Delivery>(fromDeliveryDocument, {
    projection: { body: 0 },
    isLong: true,
  });

  /** The deliveries that are due before a time, as a source. */
  const owed = (integrationId: string, until: Date, rest?: Document): Source<DeliveryDocument> => ({
    collection: deliveries,
    where: { lane: integrationId },
    time: 'next_attempt_at',
    span: { until },
    rest,
  });

  return {
    async insertMissing(added, { begun, isFresh, isUrgent = false } = {}) {
      const documents = added.map((delivery): DeliveryDocument => {
        const { id, replayId, targetId, locationId, isTest, traceparent, createdAt } = delivery;
        const isBegun = begun?.ids.has(id) === true;
        return {
          _id: id,
          event_id: delivery.eventId,
          event_type: delivery.eventType,
          integration_id: delivery.integrationId,
          ...(replayId === undefined ? {} : { replay_id: replayId }),
          target_id: targetId,
          ...(locationId === undefined ? {} : { location_id: locationId }),
          ...(isTest === true && { test: true as const }),
          event_created_at: delivery.eventCreatedAt,
          ...(traceparent === undefined ? {} : { traceparent }),
          created_at: createdAt,
          body: new Binary(delivery.body),
          status: 'pending',
          lane: delivery.integrationId,
          next_attempt_at: firstDue(createdAt),
          ...(isFresh?.(delivery) === true && { fresh: delivery.integrationId, ...(isUrgent && { urgent: true }) }),
          stamp: isBegun ? begun.stamp : 0,
          tries: isBegun ? 1 : 0,
          failures: 0,
        };
      });
      return new Set(await insertMissing(deliveries, documents));
    },
    async markFresh(ids) {
      const pending: Filter<DeliveryDocument> = { _id: { $in: [...ids] }, status: 'pending' };
      await writeIdempotently(() => deliveries.updateMany(pending, [{ $set: { fresh: '$lane' } }]));
    },
    async fresh({ from, before }, limit) {
      const filter = { fresh: { $gte: from, ...(before !== undefined && { $lt: before }) } };
      const options = { projection: { fresh: 1, urgent: 1 }, limit };
      const found = await read(() => deliveries.find(filter, options).toArray());
      return found.map(({ _id, fresh = '', urgent }) => ({ id: _id, integrationId: fresh, isUrgent: urgent === true }));
    },
    async unmark(ids) {
      await writeIdempotently(() => deliveries.updateMany({ _id: { $in: [...ids] } }, { $unset: unmarked }));
    },
    async *firstDue(span) {
      for await (const found of pages.firsts(
        { collection: deliveries, field: 'lane', time: 'next_attempt_at' },
        span,
      )) {
        yield found.map(({ value, at }) => ({ integrationId: value, at }));
      }
    },
    async due(integrationId, at, limit, except, onUnreadable) {
      const found: DeliveryWithBody[] = [];
      // Those that wait or are in progress are left out here: with a condition on their ids, some servers would read
      // everything that is due.
      const due = pages.walk(owed(integrationId, after(at)), { limit: limit + except.size });
      for await (const some of due) {
        for (const document of some) {
          if (except.has(document._id)) continue;
          try {
            found.push(withBody(document));
          } catch (error) {
            onUnreadable(document._id, error);
          }
        }
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    async findMany(ids) {
      if (ids.length === 0) return [];
      return (await read(() => deliveries.find({ _id: { $in: [...ids] } }).toArray())).map(withBody);
    },
    async stamp(ids, stamp) {
      if (ids.length === 0) return new Set();
      const filter: Filter<DeliveryDocument> = { _id: { $in: [...ids] }, status: 'pending', stamp: { $lt: stamp } };
      const { matchedCount } = await writeIdempotently(() =>
        deliveries.updateMany(filter, { $set: { stamp }, $inc: { tries: 1 }, $unset: unmarked }),
      );
      if (matchedCount === ids.length) return new Set(ids);
      // Deliveries of another process, or of an earlier attempt of this call whose answer was lost.
      const bearing: Filter<DeliveryDocument> = { _id: { $in: [...ids] }, status: 'pending', stamp };
      const found = await read(() => deliveries.find(bearing, { projection: { _id: 1 } }).toArray());
      return new Set(found.map(({ _id }) => _id));
    },
    async unstamp(ids, stamp) {
      const bearing: Filter<DeliveryDocument> = { _id: { $in: [...ids] }, status: 'pending', stamp };
      // Smaller by one, so that a repetition finds none. No other batch has used that stamp for them.
      const change = { $set: { stamp: stamp - 1 }, $inc: { tries: -1 } };
      await writeIdempotently(() => deliveries.updateMany(bearing, change));
    },
    async settleDelivered(ids, at, expiresAt) {
      // One command with the same change: on some servers one for each delivery takes ten times as long.
      await writeIdempotently(() =>
        deliveries.updateMany(
          { _id: { $in: [...ids] } },
          {
            $set: { status: 'delivered', last_outcome: '2xx', finished_at: at, expires_at: expiresAt },
            $unset: unsetWhenFinished,
          },
        ),
      );
    },
    async recordAttempts(records, expiresAt) {
      const documents = records.map((record): DeliveryAttemptDocument => ({
        _id: attemptId(record.integrationId, record.deliveryId, record.stamp),
        integration_id: record.integrationId,
        delivery_id: record.deliveryId,
        number: record.number,
        at: record.at,
        milliseconds: record.milliseconds,
        ...(record.status === undefined ? {} : { status: record.status }),
        ...(record.error === undefined ? {} : { error: record.error }),
        ...(record.certificateNames.length > 0 && { certificate_names: [...record.certificateNames] }),
        ...(record.requestHeaders !== undefined && { request_headers: [...record.requestHeaders] }),
        response_headers: toPairs(record.responseHeaders),
        response: new Binary(record.response),
        response_cut: record.responseCut,
        expires_at: expiresAt,
      }));
      await insertMissing(attempts, documents);
    },
    async settleFailed(failures, at, expiresAt) {
      // Those that are settled by the same change need one command.
      const groups = Map.groupBy(failures, ({ stamp, failuresBefore, isCounted, nextAttemptAt, outcome }) =>
        [stamp, failuresBefore, isCounted, nextAttemptAt?.getTime(), outcome].join(' '),
      );
      const operations = [...groups.values()].flatMap((alike): AnyBulkWriteOperation<DeliveryDocument> | [] => {
        const [first] = alike;
        if (first === undefined) return [];
        const { stamp, failuresBefore, isCounted = true, nextAttemptAt, outcome } = first;
        return {
          updateMany: {
            filter: {
              _id: { $in: alike.map(({ deliveryId: id }) => id) },
              status: 'pending',
              stamp,
              // With this condition a repetition changes nothing.
              failures: failuresBefore,
            },
            update: {
              ...(isCounted && { $inc: { failures: 1 } }),
              ...(nextAttemptAt === undefined
                ? {
                    $set: { status: 'failed', last_outcome: outcome, finished_at: at, expires_at: expiresAt },
                    $unset: unsetWhenFinished,
                  }
                : { $set: { last_outcome: outcome, next_attempt_at: nextAttemptAt } }),
            },
          },
        };
      });
      await writeIdempotently(() => deliveries.bulkWrite(operations, { ordered: false }));
    },

    async find(id) {
      const document = await read(() => deliveries.findOne({ _id: id }));
      return document === null ? undefined : withBody(document);
    },
    async ends(ids) {
      const found = pages.fetch(deliveries, ids, { projection: { status: 1, replayed_by: 1 } });
      const ends = new Map<string, { status: DeliveryStatus; replayId: string | undefined }>();
      for await (const [id, document] of found) {
        if (document !== undefined) ends.set(id, { status: document.status, replayId: document.replayed_by });
      }
      return ends;
    },
    async markReplayed(ids, replayId) {
      if (ids.length === 0) return;
      await writeIdempotently(() =>
        deliveries.updateMany({ _id: { $in: [...ids] } }, { $set: { replayed_by: replayId } }),
      );
    },
    list: (filter) => listByTime(deliverySource(deliveries, filter)),
    async attempts({ id, integrationId }) {
      const found = await read(() =>
        attempts.find({ integration_id: integrationId, delivery_id: id }).sort({ _id: 1 }).toArray(),
      );
      return found.map(fromAttemptDocument);
    },
    async expire(integrationId, dueBefore, end, pause) {
      let expired = 0;
      // A first attempt is due a day early (see firstDue).
      const source = owed(integrationId, dueBefore, { created_at: { $lt: dueBefore } });
      for await (const some of pages.walk(source, { projection: { next_attempt_at: 1 } })) {
        const ids = some.map(({ _id }) => _id);
        for (let start = 0; start < ids.length; start += expiredAtOnce) {
          const filter: Filter<DeliveryDocument> = {
            _id: { $in: ids.slice(start, start + expiredAtOnce) },
            lane: integrationId,
            next_attempt_at: { $lt: dueBefore },
          };
          const { at, expiresAt } = end();
          const { modifiedCount } = await writeIdempotently(() =>
            deliveries.updateMany(filter, {
              $set: { status: 'expired', finished_at: at, expires_at: expiresAt },
              $unset: unsetWhenFinished,
            }),
          );
          expired += modifiedCount;
          await pause();
        }
      }
      return expired;
    },
    integrationsBetween: (after, before) => pages.someValues(deliveries, 'integration_id', { after, before }),
    async removeAllOf(integrationId, pause) {
      const where = { integration_id: integrationId };
      await pages.remove({ collection: deliveries, where, along: { time: 'created_at' } }, pause);
      await pages.remove({ collection: attempts, where, along: { id: 'delivery_id' } }, pause);
    },
  };
}

function withBody(document: DeliveryDocument): DeliveryWithBody {
  return { ...fromDeliveryDocument(document), body: document.body.buffer };
}

/** The first instant after a time. */
function after(time: Date): Date {
  return new Date(time.getTime() + 1);
}
