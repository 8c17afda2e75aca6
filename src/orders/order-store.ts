import type { Collection } from 'mongodb';
import { gatherInserts } from '../storage/db/bulk-writes.ts';
import type { CollectionIndexes } from '../storage/db/indexes.ts';
import type { PagedDatabase, Source } from '../storage/db/pages.ts';
import { compareAndSet, read, writeIdempotently, type StampedDocument } from '../storage/db/writes.ts';
import type { OutboxEntry } from '../webhooks/events/event.ts';
import { outboxIndex, pushEvents, toOutboxDocuments, type WithOutbox } from '../webhooks/events/outbox.ts';
import { defined } from '../base/runtime/objects.ts';
import { atLocations } from './catalog/at-locations.ts';
import { listOrder } from './catalog/list-order.ts';
import type { Document } from '../base/fields/fields.ts';
import type { Listing } from '../base/lists/listing.ts';
import { taxLine } from './tax-line.ts';
import { orderFields, summaryFields, type Order, type OrderStatus, type OrderSummary } from './order.ts';

/** Filters of a list of orders. */
export interface OrderFilter {
  readonly status: OrderStatus | undefined;
  /** Undefined for all. */
  readonly locationIds: readonly string[] | undefined;
  /** Created at this time or later. */
  readonly since: Date | undefined;
  /** Created before this time. */
  readonly until: Date | undefined;
  readonly referenceId?: string | undefined;
  /** Changed at this time or later. Closing the fiscal day is no change. */
  readonly updatedSince?: Date | undefined;
  /** Date of the closed fiscal day that counts the order. */
  readonly fiscalDay?: string | undefined;
  readonly spotId?: string | undefined;
}

/** Orders in the database. Every method can throw `database-unavailable`. */
export interface OrderStore {
  /** Stores a new order and the events that announce it. False when its id already exists. */
  insert(order: Order, events: readonly OutboxEntry[]): Promise<boolean>;
  find(id: string): Promise<Order | undefined>;
  /** The newest first, or the last changed one if the filter is by that. */
  list(filter: OrderFilter): Listing<OrderSummary>;
  /**
   * Ends an order and stores the events that announce it, if the stored order still has this revision.
   * @returns the order as stored; `undefined` if another writer was first
   */
  end(
    order: Order,
    status: 'completed' | 'canceled',
    at: Date,
    events: readonly OutboxEntry[],
  ): Promise<Order | undefined>;

  /**
   * The orders of a location that were created before an instant and that no fiscal day has counted, the oldest first.
   */
  uncounted(locationId: string, before: Date): AsyncIterable<UncountedOrder>;
  /** Marks orders as counted by the fiscal day of this date, permanently. */
  markCounted(ids: readonly string[], date: string): Promise<void>;
}

export interface OrderDocument extends StampedDocument, WithOutbox, Document<typeof orderFields.table> {
  /** Present until a fiscal day has counted the order or the order is canceled. */
  uncounted?: true;
}

export type UncountedOrder = Pick<Order, 'id' | 'total' | 'taxLines'>;

const collectionName = 'orders';

export const orderIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    // One for each combination of equality filters. Each also gives the order of the list and serves ranges of time.
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { status: 1, created_at: -1, _id: 1 }, name: 'status_1_created_at_-1__id_1' },
    { key: { location_id: 1, created_at: -1, _id: 1 }, name: 'location_id_1_created_at_-1__id_1' },
    { key: { location_id: 1, status: 1, created_at: -1, _id: 1 }, name: 'location_id_1_status_1_created_at_-1__id_1' },
    {
      key: { reference_id: 1, created_at: -1, _id: 1 },
      name: 'reference_id_1_created_at_-1__id_1',
      partialFilterExpression: { reference_id: { $gt: '' } },
    },
    // Lists of what changed have no index for further conditions: they search what they read.
    { key: { updated_at: -1, _id: 1 }, name: 'updated_at_-1__id_1' },
    { key: { location_id: 1, updated_at: -1, _id: 1 }, name: 'location_id_1_updated_at_-1__id_1' },
    {
      key: { fiscal_day: 1, created_at: -1, _id: 1 },
      name: 'fiscal_day_1_created_at_-1__id_1',
      partialFilterExpression: { fiscal_day: { $gt: '' } },
    },
    {
      key: { location_id: 1, fiscal_day: 1, created_at: -1, _id: 1 },
      name: 'location_id_1_fiscal_day_1_created_at_-1__id_1',
      partialFilterExpression: { fiscal_day: { $gt: '' } },
    },
    {
      key: { 'spot.id': 1, created_at: -1, _id: 1 },
      name: 'spot.id_1_created_at_-1__id_1',
      partialFilterExpression: { 'spot.id': { $gt: '' } },
    },
    {
      // `uncounted` is in the key, although every document in the index has it, for servers that choose an index by the
      // names of its fields.
      key: { location_id: 1, uncounted: 1, created_at: 1 },
      name: 'uncounted_location_id_1_uncounted_1_created_at_1',
      partialFilterExpression: { uncounted: true },
    },
    outboxIndex,
  ],
};

export function listSource(collection: Collection<OrderDocument>, filter: OrderFilter): Source<OrderDocument> {
  const { status, locationIds, since, until, referenceId, updatedSince, fiscalDay, spotId } = filter;
  const { where, rest } = atLocations(locationIds);
  const ofStatus = defined({ status });
  const ofSpot = defined({ 'spot.id': spotId });
  const ofDay = defined({ fiscal_day: fiscalDay });
  const ofReference = defined({ reference_id: referenceId });
  if (updatedSince !== undefined) {
    const created = defined({ $gte: since, $lt: until });
    const createdIn = Object.keys(created).length > 0 ? { created_at: created } : {};
    const others = { ...rest, ...ofStatus, ...ofReference, ...ofDay, ...ofSpot, ...createdIn };
    return {
      ...{ collection, where, ...listOrder(updatedSince) },
      ...(Object.keys(others).length > 0 && { rest: others }),
    };
  }
  const list = { collection, time: 'created_at', span: { since, until } } as const;
  // Few orders have the same reference, fiscal day or spot, so the rest of the filter reads few.
  if (referenceId !== undefined) {
    return { ...list, where: ofReference, rest: { ...where, ...ofStatus, ...ofDay, ...ofSpot, ...rest } };
  }
  if (fiscalDay !== undefined) {
    return { ...list, where: { ...where, ...ofDay }, rest: { ...ofStatus, ...ofSpot, ...rest } };
  }
  if (spotId !== undefined) return { ...list, where: ofSpot, rest: { ...where, ...ofStatus, ...rest } };
  return { ...list, where: { ...where, ...ofStatus }, rest };
}

/** Orders that one command marks. Few, so that no command takes long on a slow server. */
const markedAtOnce = 200;

export function createOrderStore(database: PagedDatabase): OrderStore {
  const orders: Collection<OrderDocument> = database.db.collection(collectionName);
  const insertOrder = gatherInserts(orders);
  const projection = Object.fromEntries(summaryFields.storedNames.map((name) => [name, 1]));
  const list = database.pages.listsOf<OrderDocument, OrderSummary>(summaryFields.fromDocument, {
    projection,
    isLong: true,
  });

  return {
    async insert(order, events) {
      const document = {
        ...orderFields.toDocument(order),
        uncounted: true as const,
        outbox: toOutboxDocuments(events),
      };
      return (await insertOrder(document)).outcome === 'done';
    },
    async find(id) {
      const document = await read(() => orders.findOne({ _id: id }, { projection: { outbox: 0 } }));
      return document === null ? undefined : { ...orderFields.fromDocument(document), revision: document.revision };
    },
    list: (filter) => list(listSource(orders, filter)),
    async end(order, status, at, events) {
      const { id, revision } = order;
      const ended = { status, updatedAt: at, ...(status === 'completed' ? { completedAt: at } : { canceledAt: at }) };
      // A day does not count orders that were canceled before its close.
      const uncounted = status === 'canceled' ? { $unset: { uncounted: '' as const } } : {};
      const change = { ...orderFields.toUpdate(ended), ...uncounted, $push: pushEvents(events) };
      const result = await compareAndSet(orders, { id, revision, where: { status: 'open' }, change });
      if (result.outcome !== 'done') return undefined;
      return { ...order, ...ended, revision: result.revision };
    },
    async *uncounted(locationId, before) {
      const source: Source<OrderDocument> = {
        collection: orders,
        where: { location_id: locationId, uncounted: true },
        time: 'created_at',
        span: { until: before },
      };
      const projection = { total: 1, tax_lines: 1, created_at: 1 };
      for await (const some of database.pages.walk(source, { projection })) yield* some.map(toUncounted);
    },
    async markCounted(ids, date) {
      const mark = { $set: { fiscal_day: date }, $unset: { uncounted: '' as const } };
      for (let start = 0; start < ids.length; start += markedAtOnce) {
        const some = { _id: { $in: ids.slice(start, start + markedAtOnce) } };
        await writeIdempotently(() => orders.updateMany(some, mark));
      }
    },
  };
}

function toUncounted({ _id, total, tax_lines: lines }: OrderDocument): UncountedOrder {
  return { id: _id, total, taxLines: lines?.map((line) => taxLine.fromStored(line)) };
}
