import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLocations, type LocationContent, type Locations } from '../../src/catalog/locations/locations.ts';
import { createLocationStore, type LocationStore } from '../../src/catalog/locations/store.ts';
import { fromOutboxDocuments, type WithOutbox } from '../../src/events/outbox.ts';
import { toPayload } from '../../src/events/serialise.ts';
import { countOrders } from '../../src/orders/fiscal-days/count-orders.ts';
import { createFiscalDays, type FiscalDays } from '../../src/orders/fiscal-days/fiscal-days.ts';
import { createFiscalDayStore, type FiscalDayStore } from '../../src/orders/fiscal-days/store.ts';
import type { Order } from '../../src/orders/order.ts';
import { createOrderStore, type OrderStore } from '../../src/orders/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const hour = 3_600_000;
const always = (): boolean => true;
let database: TestDatabase;
let locationStore: LocationStore;
let orderStore: OrderStore;
let dayStore: FiscalDayStore;
let clock = new Date('2026-03-27T12:00:00Z');
const now = (): Date => clock;
const nudged: string[] = [];

/** The rules as one process runs them. @param offBy how far its clock is ahead, in milliseconds */
const process = (
  offBy = 0,
  parts: Partial<{ store: FiscalDayStore; orders: OrderStore }> = {},
): { locations: Locations; days: FiscalDays } => {
  const own = (): Date => new Date(clock.getTime() + offBy);
  const locations = createLocations({ store: locationStore, now: own });
  const relay = {
    nudge: (collection: string, id: string) => void nudged.push(`${collection} ${id}`),
    relayNow: () => Promise.resolve(),
  };
  const days = createFiscalDays({ store: dayStore, orders: orderStore, ...parts, locations, relay, now: own });
  return { locations, days };
};

beforeAll(async () => {
  database = await createTestDatabase();
  locationStore = createLocationStore(database);
  orderStore = createOrderStore(database);
  dayStore = createFiscalDayStore(database);
});
afterAll(() => database.drop());

const open = async (at: string, members: Partial<LocationContent> = {}): Promise<string> => {
  clock = new Date(at);
  // Locations of other tests are none of this test's clock.
  await database.db.collection('locations').deleteMany({});
  const content = { name: 'Café', currency: 'EUR', timezone: 'Europe/Berlin', fiscalDayEnd: '04:00' };
  const location = { ...content, taxRate: 0, feeRate: 0, zones: [], ...members };
  return (await process().locations.create(location, randomUUID())).id;
};
const order = (locationId: string, createdAt: Date, total: number): Order => ({
  id: randomUUID(),
  locationId,
  status: 'open',
  currency: 'EUR',
  items: [],
  ...{ subtotal: total, taxes: 0, fees: 0, total },
  spot: undefined,
  note: undefined,
  createdAt,
  completedAt: undefined,
  canceledAt: undefined,
  fiscalDay: undefined,
  fingerprint: '',
  revision: 1,
});
const place = async (locationId: string, createdAt: Date | string, total = 100): Promise<Order> => {
  const placed = order(locationId, new Date(createdAt), total);
  await orderStore.insert(placed, []);
  return placed;
};
/** Each closed day, the first one first. */
const closed = async (locationId: string): Promise<[date: string, cutAt: string, orders: number, total: number][]> => {
  const { days } = await dayStore.list(locationId, 100, 0);
  return days.reverse().map(({ date, cutAt, orderCount, total }) => [date, cutAt.toISOString(), orderCount, total]);
};
const dayOf = async ({ id }: Order): Promise<string | undefined> => (await orderStore.find(id))?.fiscalDay;

describe('the clock of a location', () => {
  it('closes a day once it has ended, and announces it', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    await place(id, '2026-06-01T23:00:00Z', 420);
    await place(id, '2026-06-02T01:59:59.999Z', 80);
    await place(id, '2026-06-02T02:00:00Z', 7);
    clock = new Date('2026-06-02T02:00:01Z');
    await process().days.tick();
    expect(await closed(id)).toEqual([]);
    clock = new Date('2026-06-02T02:00:05Z');
    await process().days.tick();
    await process().days.tick();
    expect(await closed(id)).toEqual([['2026-06-01', '2026-06-02T02:00:00.000Z', 2, 500]]);
    expect(nudged.filter((one) => one.includes(id))).toEqual([`fiscal_days ${id}:2026-06-01`]);
    const day = await database.db
      .collection<WithOutbox & { _id: string }>('fiscal_days')
      .findOne({ _id: `${id}:2026-06-01` });
    expect(fromOutboxDocuments(day?.outbox ?? []).map(toPayload)).toEqual([
      {
        type: 'FISCAL_DAY_END',
        targetUuid: id,
        createdAt: '2026-06-02T02:00:05.000Z',
        data: { fiscalDay: '2026-06-01', orderCount: 2, total: 500, currency: 'EUR', locationName: 'Café' },
      },
    ]);
  });

  it('catches up after downtime, a day after the other', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    await place(id, '2026-06-02T12:00:00Z', 1);
    await place(id, '2026-06-04T12:00:00Z', 10);
    clock = new Date('2026-06-05T12:00:00Z');
    await process().days.tick();
    expect(await closed(id)).toEqual([
      ['2026-06-01', '2026-06-02T02:00:00.000Z', 0, 0],
      ['2026-06-02', '2026-06-03T02:00:00.000Z', 1, 1],
      ['2026-06-03', '2026-06-04T02:00:00.000Z', 0, 0],
      ['2026-06-04', '2026-06-05T02:00:00.000Z', 1, 10],
    ]);
  });

  it('catches up with more days than it closes at once', async () => {
    const id = await open('2026-01-01T12:00:00Z');
    clock = new Date('2026-02-20T12:00:00Z');
    await process().days.tick();
    expect(await closed(id)).toHaveLength(31);
    await process().days.tick();
    expect(await closed(id)).toHaveLength(50);
  });

  it.each([
    ['skips the end of a day', '2026-03-28', '2026-03-29T01:30:00.000Z'],
    ['repeats the end of a day', '2026-10-24', '2026-10-25T00:30:00.000Z'],
  ])('%s, and the day is closed once', async (_name, date, cutAt) => {
    const id = await open(`${date}T12:00:00Z`, { fiscalDayEnd: '02:30' });
    const end = Date.parse(cutAt);
    await place(id, new Date(end - 1), 1);
    await place(id, new Date(end), 10);
    await place(id, new Date(end + hour), 10);
    for (let step = -3; step <= 8; step += 1) {
      clock = new Date(end + (step * hour) / 2 + 3_000);
      await process().days.tick();
    }
    expect(await closed(id)).toEqual([[date, cutAt, 1, 1]]);
    clock = new Date(end + 30 * hour);
    await process().days.tick();
    expect((await closed(id))[1]?.slice(2)).toEqual([2, 20]);
  });

  it('goes by another time zone from the next close on', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    clock = new Date('2026-06-02T12:00:00Z');
    await process().days.tick();
    await process().locations.update(id, { timezone: 'America/New_York', fiscalDayEnd: '00:00' }, always);
    clock = new Date('2026-06-03T12:00:00Z');
    await process().days.tick();
    expect((await closed(id)).map(([date, cutAt]) => [date, cutAt])).toEqual([
      ['2026-06-01', '2026-06-02T02:00:00.000Z'],
      ['2026-06-02', '2026-06-03T04:00:00.000Z'],
    ]);
  });

  it('is read by many processes at once, and each day is closed by one', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    for (let index = 0; index < 10; index += 1) await place(id, '2026-06-01T13:00:00Z', 1);
    clock = new Date('2026-06-04T12:00:00Z');
    const processes = [0, 60_000, -60_000, 1_000].map((offBy) => process(offBy));
    await Promise.all(processes.map(({ days }) => days.tick()));
    expect((await closed(id)).map(([date, , orders]) => [date, orders])).toEqual([
      ['2026-06-01', 10],
      ['2026-06-02', 0],
      ['2026-06-03', 0],
    ]);
    expect(nudged.filter((one) => one.includes(id))).toHaveLength(3);
  });

  it('goes on with the others when one location fails', async () => {
    await open('2026-06-01T12:00:00Z');
    const content = { name: 'Bar', currency: 'EUR', timezone: 'UTC', fiscalDayEnd: '04:00' };
    const second = await process().locations.create({ ...content, taxRate: 0, feeRate: 0, zones: [] }, randomUUID());
    clock = new Date('2026-06-02T12:00:00Z');
    let calls = 0;
    const failing: OrderStore = {
      ...orderStore,
      readUncounted: (...options) => {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error('cannot be read')) : orderStore.readUncounted(...options);
      },
    };
    await expect(process(0, { orders: failing }).days.tick()).rejects.toThrow('cannot be read');
    expect(await closed(second.id)).toHaveLength(1);
  });
});

describe('a day closed by call', () => {
  it('ends then, and what is placed later belongs to the next', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    const early = await place(id, now());
    const { days } = process();
    const day = await days.close(id, '2026-06-01');
    expect(day).toMatchObject({ orderCount: 1, cause: 'call', cutAt: new Date('2026-06-01T12:00:00.001Z') });
    const late = await place(id, '2026-06-01T12:00:00.001Z');
    await expect(days.close(id, '2026-06-02')).rejects.toMatchObject({ type: 'fiscal-day-not-begun' });
    clock = new Date('2026-06-02T12:00:00Z');
    expect((await days.close(id, '2026-06-02')).orderCount).toBe(1);
    expect([await dayOf(early), await dayOf(late)]).toEqual(['2026-06-01', '2026-06-02']);
    await days.tick();
    expect(await closed(id)).toHaveLength(2);
  });

  it('is closed at its end when that is over, after the days before it', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    clock = new Date('2026-06-04T12:00:00Z');
    const day = await process().days.close(id, '2026-06-03');
    expect(day).toMatchObject({ cutAt: new Date('2026-06-04T02:00:00Z'), cause: 'call' });
    const { days } = await dayStore.list(id, 10, 0);
    expect(days.map(({ date, cause }) => [date, cause])).toEqual([
      ['2026-06-03', 'call'],
      ['2026-06-02', 'clock'],
      ['2026-06-01', 'clock'],
    ]);
  });
});

describe('an order', () => {
  it('that an earlier list did not count goes into the next day, however old it is', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    clock = new Date('2026-06-02T12:00:00Z');
    await process().days.tick();
    // Its process was stopped for a day between taking the time and writing.
    const late = await place(id, '2026-06-01T12:00:00Z', 5);
    clock = new Date('2026-06-03T12:00:00Z');
    await process().days.tick();
    expect(await closed(id)).toMatchObject([
      ['2026-06-01', expect.anything(), 0, 0],
      ['2026-06-02', expect.anything(), 1, 5],
    ]);
    expect(await dayOf(late)).toBe('2026-06-02');
  });

  it('is counted once when whoever closed the day stopped before marking it', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    await place(id, '2026-06-01T13:00:00Z', 5);
    clock = new Date('2026-06-02T12:00:00Z');
    const stopping: OrderStore = { ...orderStore, markCounted: () => Promise.reject(new Error('killed')) };
    await expect(process(0, { orders: stopping }).days.tick()).rejects.toThrow('killed');
    expect(await closed(id)).toHaveLength(1);
    clock = new Date('2026-06-03T12:00:00Z');
    await process().days.tick();
    expect((await closed(id)).map(([date, , orders]) => [date, orders])).toEqual([
      ['2026-06-01', 1],
      ['2026-06-02', 0],
    ]);
  });

  it('is counted once when a process closes a day from what it read before another did', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    await place(id, '2026-06-01T13:00:00Z', 5);
    clock = new Date('2026-06-02T12:00:00Z');
    const slow: FiscalDayStore = {
      ...dayStore,
      // Between its list and its insert, others close this day and the next.
      insert: async (...options) => {
        await process().days.tick();
        await place(id, '2026-06-01T13:00:00Z', 7);
        clock = new Date('2026-06-03T12:00:00Z');
        await process().days.tick();
        return await dayStore.insert(...options);
      },
    };
    await process(0, { store: slow }).days.tick();
    expect((await closed(id)).map(([date, , orders, total]) => [date, orders, total])).toEqual([
      ['2026-06-01', 1, 5],
      ['2026-06-02', 1, 7],
    ]);
  });

  it('that is canceled before the close is in no day', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    const canceled = await place(id, now(), 5);
    await orderStore.end(canceled, 'canceled', now());
    await orderStore.end(await place(id, now(), 3), 'completed', now());
    expect((await process().days.close(id, '2026-06-01')).total).toBe(3);
    expect(await dayOf(canceled)).toBeUndefined();
  });

  it('is in exactly one day while orders come in and processes with wrong clocks close days', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    const processes = [0, 60_000, -60_000].map((offBy) => process(offBy));
    const placed: Order[] = [];
    let stopped = false;
    const placing = async (offBy: number): Promise<void> => {
      while (!stopped) placed.push(await place(id, new Date(clock.getTime() + offBy), 1));
    };
    const closing = async (): Promise<void> => {
      for (let step = 0; step < 6; step += 1) {
        clock = new Date(clock.getTime() + 12 * hour);
        await Promise.all(processes.map(({ days }) => days.tick()));
      }
      stopped = true;
    };
    await Promise.all([placing(60_000), placing(-60_000), placing(0), closing()]);
    clock = new Date(clock.getTime() + 48 * hour);
    await process().days.tick();
    const days = await closed(id);
    const dates = await Promise.all(placed.map(dayOf));
    expect(days.reduce((sum, [, , orders]) => sum + orders, 0)).toBe(placed.length);
    for (const [date, , orders] of days) expect(dates.filter((one) => one === date)).toHaveLength(orders);
  });
});

describe('a list that would get too long or too large', () => {
  async function* some(...totals: number[]): AsyncGenerator<{ id: string; total: number }> {
    for (const [index, total] of totals.entries()) yield await Promise.resolve({ id: String(index), total });
  }

  it('ends there, and the next day has the rest', async () => {
    expect(await countOrders(some(1, 2, 3), 2)).toEqual({ ids: ['0', '1'], total: 3 });
    expect(await countOrders(some(Number.MAX_SAFE_INTEGER - 1, 1, 1))).toMatchObject({ ids: ['0', '1'] });
  });
});
