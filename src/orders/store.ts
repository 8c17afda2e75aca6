import type { Collection, Document, Filter } from 'mongodb';
import type { Database } from '../db/client.ts';
import type { CollectionIndexes } from '../db/indexes.ts';
import { timeRange } from '../db/time-range.ts';
import { compareAndSet, insertOnce, read, writeIdempotently } from '../db/writes.ts';
import type { OutboxEntry } from '../events/event.ts';
import { outboxIndex, toOutboxDocuments } from '../events/outbox.ts';
import { fromOrderDocument, toOrderFields, type OrderDocument } from './documents.ts';
import type { Order, OrderStatus, OrderSummary } from './order.ts';

/** Which orders are wanted. */
export interface OrderFilter {
  readonly status: OrderStatus | undefined;
  readonly locationId: string | undefined;
  /** Created then or later. */
  readonly since: Date | undefined;
  /** Created before. */
  readonly until: Date | undefined;
}

/** Orders in the database. Every method throws `database-unavailable` when it must. */
export interface OrderStore {
  /** Stores a new order and the events that announce it. False when its id exists already. */
  insert(order: Order, events: readonly OutboxEntry[]): Promise<boolean>;
  find(id: string): Promise<Order | undefined>;
  /** The newest first, and how many there are in all. */
  list(filter: OrderFilter, limit: number, offset: number): Promise<{ orders: OrderSummary[]; total: number }>;
  /**
   * Ends an order if the stored one still has its revision.
   * @returns the order as stored; `undefined` when someone else was first
   */
  end(order: Order, status: 'completed' | 'canceled', at: Date): Promise<Order | undefined>;

  /**
   * Reads the orders of a location that were created before an instant and that no fiscal day has counted, the oldest
   * first, as far as `collect` wants them. Should the connection fail, it starts again.
   */
  readUncounted<Result>(
    locationId: string,
    before: Date,
    collect: (orders: AsyncIterable<UncountedOrder>) => Promise<Result>,
  ): Promise<Result>;
  /** Marks orders as counted by the fiscal day of this date, for good. */
  markCounted(ids: readonly string[], date: string): Promise<void>;
}

export type UncountedOrder = Pick<Order, 'id' | 'total'>;

const collectionName = 'orders';

export const orderIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    // One for each set of equality filters. Each gives the order of the list too, and serves the range of time.
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { status: 1, created_at: -1, _id: 1 }, name: 'status_1_created_at_-1__id_1' },
    { key: { location_id: 1, created_at: -1, _id: 1 }, name: 'location_id_1_created_at_-1__id_1' },
    { key: { location_id: 1, status: 1, created_at: -1, _id: 1 }, name: 'location_id_1_status_1_created_at_-1__id_1' },
    {
      key: { location_id: 1, created_at: 1 },
      name: 'uncounted_location_id_1_created_at_1',
      partialFilterExpression: { uncounted: true },
    },
    outboxIndex,
  ],
};

/** The newest first. */
export const listOrder = { created_at: -1, _id: 1 } as const;

/** What the orders of a list match. */
export function listFilter({ status, locationId, since, until }: OrderFilter): Filter<OrderDocument> {
  const range = timeRange(since, until);
  return {
    ...(locationId === undefined ? {} : { location_id: locationId }),
    ...(status === undefined ? {} : { status }),
    ...(range === undefined ? {} : { created_at: range }),
  };
}

/**
 * The command that counts a list. Unlike an aggregation, `count` is served by the index alone. Without any filter servers
 * count by metadata, which a crash makes inexact: a range that every order is in has them count the index instead.
 */
export function countCommand(filter: Filter<OrderDocument>): Document {
  const query = Object.keys(filter).length === 0 ? { created_at: { $gte: new Date(0) } } : filter;
  return { count: collectionName, query, readConcern: { level: 'majority' } };
}

/** Orders that one command marks, so that none takes long on a slow server. */
const markedAtOnce = 200;
/** Milliseconds to read the uncounted orders of a day. */
const uncountedBudgetMs = 60_000;

export function createOrderStore(database: Database): OrderStore {
  const orders: Collection<OrderDocument> = database.db.collection(collectionName);

  return {
    async insert(order, events) {
      const document = {
        _id: order.id,
        ...toOrderFields(order),
        status: order.status,
        uncounted: true as const,
        outbox: toOutboxDocuments(events),
      };
      return (await insertOnce(orders, document)).outcome === 'done';
    },
    async find(id) {
      const document = await read(() => orders.findOne({ _id: id }, { projection: { outbox: 0 } }));
      return document === null ? undefined : fromOrderDocument(document);
    },
    async list(filter, limit, offset) {
      const matching = listFilter(filter);
      const projection = { status: 1, total: 1, currency: 1, created_at: 1 };
      const [documents, { n: total }] = await Promise.all([
        read(() => orders.find(matching, { projection }).sort(listOrder).skip(offset).limit(limit).toArray()),
        read(() => database.db.command(countCommand(matching))) as Promise<{ n: number }>,
      ]);
      return { orders: documents.map(toSummary), total };
    },
    async end(order, status, at) {
      const { id, revision } = order;
      const change =
        status === 'completed'
          ? { $set: { status, completed_at: at } }
          : // What was canceled before its fiscal day was closed is not part of it.
            { $set: { status, canceled_at: at }, $unset: { uncounted: '' as const } };
      const result = await compareAndSet(orders, { id, revision, where: { status: 'open' }, change });
      if (result.outcome !== 'done') return undefined;
      const ended = status === 'completed' ? { completedAt: at } : { canceledAt: at };
      return { ...order, status, ...ended, revision: result.revision };
    },
    readUncounted(locationId, before, collect) {
      const filter: Filter<OrderDocument> = { location_id: locationId, uncounted: true, created_at: { $lt: before } };
      const projection = { total: 1 };
      return read(() => collect(mapped(orders.find(filter, { projection }).sort({ created_at: 1 }), toUncounted)), {
        budgetMs: uncountedBudgetMs,
      });
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

function toSummary({ _id, status, total, currency, created_at }: OrderDocument): OrderSummary {
  return { id: _id, status, total, currency, createdAt: created_at };
}

function toUncounted({ _id, total }: OrderDocument): UncountedOrder {
  return { id: _id, total };
}

async function* mapped<Item, Result>(items: AsyncIterable<Item>, map: (item: Item) => Result): AsyncGenerator<Result> {
  for await (const item of items) yield map(item);
}
