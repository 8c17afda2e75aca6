import { changeTime, requireMatch, type Precondition } from '../base/editing/edits.ts';
import type { Categories } from './catalog/categories/categories.ts';
import type { Location } from './catalog/locations/location.ts';
import type { Products } from './catalog/products/products.ts';
import { requireLocation, type Locations } from './catalog/locations/locations.ts';
import { ProblemError } from '../base/errors/problem-error.ts';
import { orderEnded, orderPlaced, type EndedStatus } from '../webhooks/events/announcements.ts';
import type { OutboxEntry } from '../webhooks/events/event.ts';
import type { Relay } from '../webhooks/events/outbox.ts';
import { idempotencyKeyReused } from '../http/idempotency/idempotency.ts';
import { createEditQueue } from '../base/editing/edit-queue.ts';
import { mayReachLocation, type Reach } from '../base/limits/reach.ts';
import type { Listing } from '../base/lists/listing.ts';
import { asPlaced, type NewOrder, type Order, type OrderSummary, type pricedFields } from './order.ts';
import { priceOrder, type OrderTotals } from './pricing.ts';
import { snapshotOrder, type RequestedItem, type UnpricedItem } from './snapshot.ts';
import type { OrderFilter, OrderStore } from './order-store.ts';
import type { Clock } from '../base/runtime/clock.ts';
import type { Random } from '../base/runtime/random.ts';

/** An order as a caller asks for it. */
export interface RequestedOrder {
  readonly given: NewOrder;
  readonly items: readonly RequestedItem[];
  readonly spotId: string | undefined;
  /** Hash of the whole request. */
  readonly fingerprint: string;
  /** W3C trace context of the request. */
  readonly traceparent?: string | undefined;
}

/** What an order has as soon as it is priced. */
export type CalculatedOrder = Pick<Order, keyof typeof pricedFields.table> & Pick<OrderTotals, 'taxLines'>;

/** The id under which an order is created. */
export interface Reservation {
  readonly id: string;
  /** Whether the id follows from an idempotency key. Then an earlier request may have created the order. */
  readonly repeatable: boolean;
}

/** Orders. Every method that takes an id throws `order-not-found`, also for one beyond the reach of the caller. */
export interface Orders {
  /**
   * Prices an order from the catalog and stores it with its event in one write. If an order with the id exists, it is
   * returned as it was placed.
   * @throws {ProblemError} unknown-location, unknown-spot, unknown-product, archived, product-not-active, product-unavailable,
   *   unknown-modifier, modifier-group-not-satisfied, order-total-too-large,
   *   idempotency-key-reused when another request created the order of this id
   */
  create(request: RequestedOrder, reservation: Reservation): Promise<{ order: Order; replayed: boolean }>;
  /** The order as {@link create} would place it. Nothing is stored. @throws {ProblemError} as there */
  calculate(request: Pick<RequestedOrder, 'given' | 'items' | 'spotId'>): Promise<CalculatedOrder>;
  get(id: string, reach?: Reach): Promise<Order>;
  /** The newest first. */
  list(filter: OrderFilter): Listing<OrderSummary>;
  /**
   * Completes an order, and announces it in the same write. A completed order does not change. @throws {ProblemError}
   * order-not-open, precondition-failed
   */
  complete(id: string, precondition: Precondition<Order>, traceparent?: string): Promise<Order>;
  /**
   * Cancels an order, like {@link complete}. A fiscal day does not count orders that were canceled before its close.
   */
  cancel(id: string, precondition: Precondition<Order>, traceparent?: string): Promise<Order>;
}

export interface OrdersOptions {
  readonly store: OrderStore;
  readonly locations: Pick<Locations, 'find'>;
  readonly products: Pick<Products, 'findAll'>;
  readonly categories: Pick<Categories, 'findAll'>;
  readonly relay: Relay;
  readonly clock: Clock;
  readonly random: Random;
}

/** The largest total of an order, in minor units. */
const largestTotal = 1_000_000_000_000;

export function createOrders({ store, locations, products, categories, relay, clock, random }: OrdersOptions): Orders {
  const editQueue = createEditQueue();
  const get = async (id: string, reach?: Reach): Promise<Order> => {
    const order = await store.find(id);
    if (order !== undefined && mayReachLocation(reach, order.locationId)) return order;
    throw new ProblemError('order-not-found', { detail: `No order has the id ${id}.` });
  };

  const findPlaced = async (id: string, fingerprint: string): Promise<Order | undefined> => {
    const order = await store.find(id);
    if (order === undefined) return undefined;
    if (order.fingerprint !== fingerprint) throw idempotencyKeyReused();
    return asPlaced(order);
  };

  const calculate = async (
    request: Pick<RequestedOrder, 'given' | 'items' | 'spotId'>,
  ): Promise<{ location: Location; priced: CalculatedOrder; at: Date; categoryNames: string[] }> => {
    const { locationId, service } = request.given;
    const [location, sold] = await Promise.all([
      requireLocation(locations, locationId),
      products.findAll(request.items.map(({ productId }) => productId)),
    ]);
    const grouped = await categories.findAll([...sold.values()].map(({ categoryId }) => categoryId));
    const at = clock.now();
    const wanted = { items: request.items, spotId: request.spotId, service, at };
    const { items, spot } = snapshotOrder(wanted, location, { products: sold, categories: grouped });
    const { lines, ...totals } = price(items, location);
    const { currency, pricesIncludeTax } = location;
    const priced = {
      ...{ locationId, currency, service, spot, pricesIncludeTax },
      ...totals,
      items: items.map((item, index) => ({ ...item, total: lines[index] ?? 0 })),
    };
    const categoryNames = request.items.flatMap(({ productId }) => {
      return grouped.get(sold.get(productId)?.categoryId ?? '')?.name ?? [];
    });
    return { location, priced, at, categoryNames };
  };

  const end = (
    id: string,
    status: EndedStatus,
    precondition: Precondition<Order>,
    traceparent: string | undefined,
  ): Promise<Order> =>
    editQueue.contend(id, async () => {
      const order = await get(id);
      // A repeated request has nothing to do, whatever its precondition is.
      if (order.status === status) return order;
      requireMatch(order, precondition);
      if (order.status !== 'open') throw notOpen(order);
      const at = changeTime(order.updatedAt, clock.now());
      const { locationId } = order;
      const location = await locations.find(locationId);
      const occasion = { eventId: random.uuid(), locationId, locationName: location?.name, at, traceparent };
      const stored = await store.end(order, status, at, [orderEnded(status, order, occasion)]);
      if (stored !== undefined) relay.nudge('orders', id);
      return stored;
    });

  return {
    get,
    list: (filter) => store.list(filter),
    calculate: async (request) => (await calculate(request)).priced,
    complete: (id, precondition, traceparent) => end(id, 'completed', precondition, traceparent),
    cancel: (id, precondition, traceparent) => end(id, 'canceled', precondition, traceparent),

    async create(request, { id, repeatable }) {
      const { given, fingerprint } = request;
      // Before the catalog is read, because products that were sold then may no longer exist.
      const earlier = repeatable ? await findPlaced(id, fingerprint) : undefined;
      if (earlier !== undefined) return { order: earlier, replayed: true };

      const { location, priced, at, categoryNames } = await calculate(request);
      const order: Order = {
        id,
        ...given,
        ...priced,
        status: 'open',
        createdAt: at,
        updatedAt: at,
        completedAt: undefined,
        canceledAt: undefined,
        fiscalDay: undefined,
        fingerprint,
        revision: 1,
      };
      const events = [announce(order, categoryNames, location, random.uuid(), request.traceparent)];
      if (await store.insert(order, events)) {
        relay.nudge('orders', id, events);
        return { order, replayed: false };
      }
      const faster = await findPlaced(id, fingerprint);
      if (faster === undefined) throw new Error(`order ${id} exists and cannot be read`);
      return { order: faster, replayed: true };
    },
  };
}

function price(items: readonly UnpricedItem[], charges: Location): OrderTotals {
  const totals = priceOrder(items, charges, largestTotal);
  if (totals !== undefined) return totals;
  const maximum = largestTotal.toLocaleString('en');
  throw new ProblemError('order-total-too-large', {
    detail: `The total of the order is more than the maximum of ${maximum} minor units.`,
    errors: [{ detail: `must have a total of at most ${maximum} minor units`, pointer: '#/items' }],
  });
}

function announce(
  order: Order,
  categoryNames: readonly string[],
  { id: locationId, name: locationName }: Location,
  eventId: string,
  traceparent: string | undefined,
): OutboxEntry {
  const { id, referenceId, items, spot, total, currency, createdAt } = order;
  return orderPlaced(
    {
      orderId: id,
      itemNames: items.map(({ name }) => name),
      itemTags: items.flatMap(({ tags }) => tags),
      categoryNames,
      spotName: spot?.name ?? '',
      zoneName: spot?.zoneName ?? '',
      total,
      currency,
      referenceId,
    },
    { eventId, locationId, locationName, at: createdAt, traceparent },
  );
}

function notOpen({ status }: Order): ProblemError {
  return new ProblemError('order-not-open', {
    detail: `The order is ${status}.`,
    extensions: { order_status: status },
  });
}
