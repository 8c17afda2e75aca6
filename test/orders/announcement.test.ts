import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { locationFields, type Location } from '../../src/orders/catalog/locations/location.ts';
import { categoryFields, type Category } from '../../src/orders/catalog/categories/category.ts';
import { productFields, type Product } from '../../src/orders/catalog/products/product.ts';
import type { OutboxEntry } from '../../src/webhooks/events/event.ts';
import { fromOutboxDocuments, type WithOutbox } from '../../src/webhooks/events/outbox.ts';
import { InvalidEventError, serialiseEvent, toPayload } from '../../src/webhooks/events/serialise.ts';
import { orderFields } from '../../src/orders/order.ts';
import { createOrders, type Orders, type RequestedOrder } from '../../src/orders/orders.ts';
import { createOrderStore } from '../../src/orders/order-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { systemClock } from '../../src/base/runtime/clock.ts';
import { system } from '../../src/base/runtime/system.ts';

const at = new Date('2026-11-06T12:31:08.214Z');
const spot = { id: randomUUID(), name: 'Table 4' };
const location: Location = {
  ...locationFields.readNew({
    name: 'Canal Café',
    currency: 'EUR',
    time_zone: 'Europe/Amsterdam',
    fiscal_day_end: '04:00',
    tax_rate_ppm: 90_000,
    fee_rate_ppm: 25_000,
    zones: [{ id: randomUUID(), name: 'Terrace', spots: [spot] }],
  }),
  id: randomUUID(),
  createdAt: at,
  updatedAt: at,
  nextFiscalDay: {
    date: '2026-11-06',
    beginsAt: new Date('2026-11-06T03:00:00Z'),
    endsAt: new Date('2026-11-07T03:00:00Z'),
  },
  revision: 1,
};
const product = (name: string, price: number, tags: readonly string[]): Product => ({
  ...productFields.readNew({ location_id: location.id, category_id: 'cat_0', name, price, tags }),
  id: randomUUID(),
  currency: 'EUR',
  createdAt: at,
  updatedAt: at,
  revision: 1,
  waiting: 0,
});
const drinks: Category = {
  ...categoryFields.readNew({ location_id: location.id, name: 'Hot drinks' }),
  id: 'cat_0',
  createdAt: at,
  updatedAt: at,
  revision: 1,
  waiting: 0,
};
const coffee = product('Flat white', 420, ['coffee', 'hot']);
const pie = product('Apple pie', 365, ['pastry', 'hot']);
const nudged: string[] = [];

let database: TestDatabase;
let orders: Orders;
beforeAll(async () => {
  database = await createTestDatabase();
  orders = createOrders({
    ...system,
    store: createOrderStore(database),
    locations: { find: (id) => Promise.resolve(id === location.id ? location : undefined) },
    products: { findAll: () => Promise.resolve(new Map([coffee, pie].map((one) => [one.id, one]))) },
    categories: { findAll: () => Promise.resolve(new Map([['cat_0', drinks]])) },
    relay: { nudge: (collection, id) => nudged.push(`${collection} ${id}`), relayNow: () => Promise.resolve() },
    clock: { ...systemClock, now: () => at },
  });
});
afterAll(() => database.drop());

const request = (members: Partial<RequestedOrder> = {}): RequestedOrder => ({
  given: orderFields.readNew({ location_id: location.id }),
  items: [coffee, pie, coffee].map(({ id }) => ({ productId: id, quantity: 2, modifiers: [] })),
  spotId: spot.id,
  fingerprint: 'fingerprint',
  ...members,
});
const outboxOf = async (id: string): Promise<OutboxEntry[]> => {
  const document = await database.db.collection<WithOutbox & { _id: string }>('orders').findOne({ _id: id });
  return fromOutboxDocuments(document?.outbox ?? []);
};

/** What every event of a location has. */
const place = () => ({ locationUuid: location.id, locationId: location.id, locationName: location.name });

it('is stored with the order from the start, and is complete', async () => {
  const { order } = await orders.create(request(), { id: randomUUID(), repeatable: false });
  const [entry, ...others] = await outboxOf(order.id);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ locationId: location.id, createdAt: at });
  expect(nudged).toContain(`orders ${order.id}`);
  expect(entry === undefined ? undefined : JSON.parse(Buffer.from(serialiseEvent(entry)).toString())).toEqual({
    type: 'ORDER_PLACED',
    targetUuid: order.id,
    targetId: order.id,
    createdAt: '2026-11-06T12:31:08.214Z',
    data: {
      itemNames: ['Flat white', 'Apple pie', 'Flat white'],
      itemTags: ['coffee', 'hot', 'pastry'],
      spotName: 'Table 4',
      total: 2410 + 217 + 60,
      currency: 'EUR',
      zoneName: 'Terrace',
      locationId: location.id,
      created: '2026-11-06T12:31:08.214Z',
      categoryNames: ['Hot drinks'],
    },
    id: entry?.id,
    ...place(),
  });
});

it('has empty names of spot and zone for an order without a spot', async () => {
  const { order } = await orders.create(request({ spotId: undefined }), { id: randomUUID(), repeatable: false });
  const [payload] = (await outboxOf(order.id)).map(toPayload);
  expect(payload?.data).toMatchObject({ spotName: '', zoneName: '' });
});

it('is created once for an order that a hundred requests place at the same time', async () => {
  const reservation = { id: randomUUID(), repeatable: true };
  const results = await Promise.all(Array.from({ length: 100 }, () => orders.create(request(), reservation)));
  expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(new Set(results.map(({ order }) => JSON.stringify(orderFields.show(order)))).size).toBe(1);
  expect(await outboxOf(reservation.id)).toHaveLength(1);
  expect(await database.db.collection<{ _id: string }>('orders').countDocuments({ _id: reservation.id })).toBe(1);
});

it.each([
  ['complete', 'ORDER_COMPLETED'],
  ['cancel', 'ORDER_CANCELED'],
] as const)('follows once when somebody sends %s, in the same write', async (move, type) => {
  const given = orderFields.readNew({ location_id: location.id, reference_id: 'till-3-0042' });
  const { order } = await orders.create(request({ given }), { id: randomUUID(), repeatable: false });
  const [placed] = await outboxOf(order.id);
  const ended = await orders[move](order.id, () => true);
  await orders[move](order.id, () => true);
  const [first, second, ...others] = await outboxOf(order.id);
  expect([first, others]).toEqual([placed, []]);
  expect(second === undefined ? undefined : JSON.parse(Buffer.from(serialiseEvent(second)).toString())).toEqual({
    type,
    targetUuid: order.id,
    targetId: order.id,
    createdAt: ended.updatedAt.toISOString(),
    data: { total: order.total, currency: 'EUR', locationId: location.id, referenceId: 'till-3-0042' },
    id: second?.id,
    ...place(),
  });
  expect(ended.updatedAt.getTime()).toBeGreaterThan(order.updatedAt.getTime());
});

it('is not sent if it does not match its published schema', async () => {
  const { order } = await orders.create(request(), { id: randomUUID(), repeatable: false });
  const [entry] = await outboxOf(order.id);
  const broken = { ...entry, data: { ...entry?.data, total: 'much' } } as OutboxEntry;
  expect(() => serialiseEvent(broken)).toThrow(InvalidEventError);
  expect(() => serialiseEvent(broken)).toThrow('/data/total must be integer');
});
