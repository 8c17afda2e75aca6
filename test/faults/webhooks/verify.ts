import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection } from 'mongodb';
import { compareReaders, type FeedFindings } from './feed-readers.ts';
import type { Ledger } from './ledger.ts';
import type { OrderStream } from './order-stream.ts';
import { percentile } from './percentile.ts';
import type { World } from './faults-world.ts';

/** The results of a burst of orders. */
export interface Findings {
  /** Each of these must be 0. */
  readonly violations: FeedFindings & {
    /** Acknowledged orders that are not in the database. */
    readonly ordersLost: number;
    /** Orders in addition to one for each idempotency key. */
    readonly ordersDuplicated: number;
    /** Keys that now return another order than the acknowledged one. */
    readonly ordersMoved: number;
    /** Events of acknowledged orders and changes that a receiver did not accept, counted for each receiver. */
    readonly eventsLost: number;
    /** Additional events of the same order or change. A redelivery has the id of the event, so it does not count. */
    readonly eventsDoubled: number;
    /** Redeliveries with another body than the first delivery. */
    readonly bodiesChanged: number;
    readonly badSignatures: number;
    /** Deliveries that the database has as delivered and the receiver does not, or the reverse. */
    readonly settledWrongly: number;
    /** Events in an outbox, and pending deliveries, one minute after the last order. */
    readonly leftOver: number;
  };
  readonly orders: number;
  readonly changes: number;
  /** Requests to the service that were sent again. */
  readonly repeated: number;
  readonly ordersPerSecond: number;
  readonly deliveries: number;
  /** Arrivals in addition to the first one of each event. */
  readonly redeliveries: number;
  /** Failed attempts that do not count, because another process owned the delivery by then. */
  readonly voidFailures: number;
  /** Failures that count but are not recorded, because the process was killed between the two writes. */
  readonly unrecordedFailures: number;
  /** From the acknowledgment of an order to the first arrival of its event, in milliseconds. */
  readonly delay: Delays;
  /** From the acknowledgment of an order to the first reader of a stream of the feed. */
  readonly feedDelay: Delays;
}

/** In milliseconds. */
interface Delays {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly longest: number;
}

const drainMs = 60_000;
const repeatedKeys = 20;

/** Waits until everything is delivered, and compares the records of callers, database and receivers. */
export async function verify(world: World, stream: OrderStream): Promise<Findings> {
  await stream.stop();
  const { database, ledgers } = world;
  const leftOver = await drain(world);
  const sum = (count: (ledger: Ledger) => number): number => ledgers.reduce((total, each) => total + count(each), 0);

  const stored = await ids(database.db.collection<{ _id: string }>('orders'));
  const acknowledged = new Set(stream.acknowledged.values());
  const ordersLost = [...acknowledged].filter((id) => !stored.has(id)).length;
  let ordersMoved = 0;
  for (const [key, id] of [...stream.acknowledged].slice(0, repeatedKeys)) {
    if ((await stream.repeat(key)) !== id) ordersMoved += 1;
  }

  const { settledWrongly, voidFailures, unrecordedFailures } = await checkSettlements(world);
  const changes = await countChanges(world);
  const accounts = ledgers.map((ledger) => lostAndDoubled(ledger, acknowledged, changes));
  const delays = ledgers.flatMap(({ events }) =>
    [...events.values()].flatMap(({ targetUuid = '', firstAt }) => {
      const acknowledgedAt = stream.acknowledgedAt.get(targetUuid);
      return acknowledgedAt === undefined ? [] : Math.max(0, firstAt - acknowledgedAt);
    }),
  );
  const feed = await compareReaders(world.readers, database);
  const feedDelays = [...(world.readers[0]?.seenAt ?? [])].flatMap(([target, seenAt]) => {
    const acknowledgedAt = stream.acknowledgedAt.get(target);
    return acknowledgedAt === undefined ? [] : Math.max(0, seenAt - acknowledgedAt);
  });
  return {
    violations: {
      ...feed,
      ordersLost,
      ordersDuplicated: stored.size - stream.acknowledged.size,
      ordersMoved,
      eventsLost: accounts.reduce((total, { lost }) => total + lost, 0) + Math.max(0, 2 * (stream.changes - changes)),
      eventsDoubled: accounts.reduce((total, { doubled }) => total + doubled, 0),
      bodiesChanged: sum(({ events }) => [...events.values()].filter(({ changed }) => changed).length),
      badSignatures: sum((ledger) => ledger.badSignatures),
      settledWrongly,
      leftOver,
    },
    orders: acknowledged.size,
    changes: stream.changes,
    repeated: stream.repeated,
    ordersPerSecond: Math.round(stream.rate),
    deliveries: sum(({ events }) => events.size),
    redeliveries: sum(({ events, arrivals }) => arrivals - events.size),
    voidFailures,
    unrecordedFailures,
    delay: delaysOf(delays),
    feedDelay: delaysOf(feedDelays),
  };
}

function delaysOf(milliseconds: readonly number[]): Delays {
  const at = (share: number): number => Math.round(percentile(milliseconds, share));
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), longest: at(1) };
}

/** @returns the number that is left after a minute */
async function drain({ database: { db } }: World): Promise<number> {
  const end = performance.now() + drainMs;
  for (;;) {
    // In the order of processing: an event that leaves an outbox before it is counted is a delivery by then.
    const waiting = await Promise.all(
      ['orders', 'products', 'categories'].map((name) =>
        db.collection(name).countDocuments({ 'outbox.id': { $gt: '' } }),
      ),
    );
    const pending = await db.collection('deliveries').countDocuments({ status: 'pending' });
    const left = waiting.reduce((total, count) => total + count, pending);
    if (left === 0 || performance.now() > end) return left;
    await sleep(500);
  }
}

/**
 * The number of changes of products. It can be higher than the number of acknowledged changes: a stopped process may
 * continue a request that was sent again to another process, and so change the product after later changes.
 */
async function countChanges({ database: { db } }: World): Promise<number> {
  const products = await db.collection<{ revision: number }>('products').find().toArray();
  return products.reduce((total, { revision }) => total + revision - 1, 0);
}

/** Every order has one event. Every change of a product has one event of the product and one of its category. */
function lostAndDoubled(
  { events }: Ledger,
  orders: ReadonlySet<string>,
  changes: number,
): { lost: number; doubled: number } {
  const accepted = [...events.values()].filter((event) => event.accepted > 0);
  const placed = accepted.filter(({ type }) => type === 'ORDER_PLACED');
  const announced = new Set(placed.map(({ targetUuid }) => targetUuid));
  const counts = ['PRODUCT_UPDATED', 'CATEGORY_UPDATED'].map((type) => accepted.filter((event) => event.type === type));
  return {
    lost:
      [...orders].filter((id) => !announced.has(id)).length +
      counts.reduce((total, { length }) => total + Math.max(0, changes - length), 0),
    doubled:
      placed.length - announced.size + counts.reduce((total, { length }) => total + Math.max(0, length - changes), 0),
  };
}

interface StoredDelivery {
  _id: string;
  event_id: string;
  integration_id: string;
  status: string;
  failures: number;
}

interface StoredAttempt {
  _id: string;
  status?: number;
}

/** Compares each delivery with the records of its receiver, and its failures with the recorded attempts. */
async function checkSettlements({
  database: { db },
  ledgers,
}: World): Promise<{ settledWrongly: number; voidFailures: number; unrecordedFailures: number }> {
  const byIntegration = new Map(ledgers.map((ledger) => [ledger.integrationId, ledger]));
  const failedAttempts = new Map<string, number>();
  for await (const { _id, status } of db
    .collection<StoredAttempt>('attempts')
    .find({}, { projection: { status: 1 } })) {
    // `<integration id>/<delivery id>/<stamp>`
    const [, delivery = ''] = _id.split('/');
    if (status === undefined || status >= 300) failedAttempts.set(delivery, (failedAttempts.get(delivery) ?? 0) + 1);
  }
  let settledWrongly = 0;
  let voidFailures = 0;
  let unrecordedFailures = 0;
  const projection = { event_id: 1, integration_id: 1, status: 1, failures: 1 };
  for await (const delivery of db.collection<StoredDelivery>('deliveries').find({}, { projection })) {
    const ledger = byIntegration.get(delivery.integration_id);
    if (ledger === undefined) continue;
    const isAccepted = (ledger.events.get(delivery.event_id)?.accepted ?? 0) > 0;
    const failed = failedAttempts.get(delivery._id) ?? 0;
    if ((delivery.status === 'delivered') !== isAccepted) settledWrongly += 1;
    voidFailures += Math.max(0, failed - delivery.failures);
    unrecordedFailures += Math.max(0, delivery.failures - failed);
  }
  return { settledWrongly, voidFailures, unrecordedFailures };
}

async function ids(collection: Collection<{ _id: string }>): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const { _id } of collection.find({}, { projection: { _id: 1 } })) found.add(_id);
  return found;
}

/** Whether nothing was lost, duplicated or settled wrongly. */
export function isSound({ violations }: Findings): boolean {
  return Object.values(violations).every((count) => count === 0);
}
