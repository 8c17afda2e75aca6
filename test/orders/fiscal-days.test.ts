import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { nextFiscalSpan } from '../../src/orders/catalog/locations/fiscal-calendar.ts';
import { locationFields, type NewLocation } from '../../src/orders/catalog/locations/location.ts';
import { createLocations, type Locations } from '../../src/orders/catalog/locations/locations.ts';
import { createLocationStore, type LocationStore } from '../../src/orders/catalog/locations/location-store.ts';
import { fromOutboxDocuments, type WithOutbox } from '../../src/webhooks/events/outbox.ts';
import { toPayload } from '../../src/webhooks/events/serialise.ts';
import { countOrders, maxOrders } from '../../src/orders/fiscal-days/count-orders.ts';
import { createFiscalDays, type FiscalDays } from '../../src/orders/fiscal-days/fiscal-days.ts';
import { createFiscalDayStore, type FiscalDayStore } from '../../src/orders/fiscal-days/fiscal-day-store.ts';
import { orderFields, type Order } from '../../src/orders/order.ts';
import { createOrderStore, type OrderStore, type UncountedOrder } from '../../src/orders/order-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runSettings } from '../support/run-settings.ts';
import { readList } from '../support/read-list.ts';
import { systemClock, type Clock } from '../../src/base/runtime/clock.ts';
import { system } from '../../src/base/runtime/system.ts';
import { someone } from '../support/author.ts';

const hour = 3_600_000;
const always = (): boolean => true;
let database: TestDatabase;
let locationStore: LocationStore;
let orderStore: OrderStore;
let dayStore: FiscalDayStore;
let clock = new Date('2026-03-27T12:00:00Z');
const now = (): Date => clock;
const nudged: string[] = [];

/** The rules in one process. @param offBy how far its clock is ahead, in milliseconds */
const process = (
  offBy = 0,
  parts: Partial<{ store: FiscalDayStore; orders: OrderStore }> = {},
): { locations: Locations; days: FiscalDays } => {
  const own: Clock = { ...systemClock, now: () => new Date(clock.getTime() + offBy) };
  const locations = createLocations({ store: locationStore, clock: own });
  const relay = {
    nudge: (collection: string, id: string) => void nudged.push(`${collection} ${id}`),
    relayNow: () => Promise.resolve(),
  };
  const days = createFiscalDays({
    ...system,
    store: dayStore,
    orders: orderStore,
    ...parts,
    locations,
    relay,
    clock: own,
  });
  return { locations, days };
};

beforeAll(async () => {
  database = await createTestDatabase();
  locationStore = createLocationStore(database);
  orderStore = createOrderStore(database);
  dayStore = createFiscalDayStore(database);
});
afterAll(() => database.drop());

const open = async (at: string, members: Partial<NewLocation> = {}): Promise<string> => {
  clock = new Date(at);
  // Locations of other tests do not use the clock of this test.
  await database.db.collection('locations').deleteMany({});
  const body = { name: 'Café', currency: 'EUR', time_zone: 'Europe/Berlin', fiscal_day_end: '04:00' };
  const location = { ...locationFields.readNew(body), ...members };
  return (await process().locations.create(location, randomUUID(), someone)).id;
};
const order = (locationId: string, createdAt: Date, total: number): Order => ({
  id: randomUUID(),
  ...orderFields.readNew({ location_id: locationId }),
  status: 'open',
  currency: 'EUR',
  items: [],
  subtotal: total,
  pricesIncludeTax: false,
  taxLines: [{ ratePpm: 0, base: total, amount: 0 }],
  taxes: 0,
  fees: 0,
  total,
  spot: undefined,
  createdAt,
  updatedAt: createdAt,
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
/** Each closed day, the earliest first. */
const closed = async (locationId: string): Promise<[date: string, cutAt: string, orders: number, total: number][]> => {
  const { items } = await readList(dayStore.list(locationId));
  return items.reverse().map(({ date, cutAt, orderCount, total }) => [date, cutAt.toISOString(), orderCount, total]);
};
const dayOf = async ({ id }: Order): Promise<string | undefined> => (await orderStore.find(id))?.fiscalDay;

describe('the clock of a location', () => {
  it('closes a day when it has ended, and announces it', async () => {
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
        targetId: id,
        createdAt: '2026-06-02T02:00:05.000Z',
        data: {
          fiscalDay: '2026-06-01',
          orderCount: 2,
          total: 500,
          currency: 'EUR',
          locationName: 'Café',
          locationId: id,
        },
        id: expect.any(String),
        locationUuid: id,
        locationId: id,
        locationName: 'Café',
      },
    ]);
  });

  it('closes all missed days after a downtime, one after the other', async () => {
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

  it('catches up even if there are more days than it closes at once', async () => {
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

  it('uses another time zone from the next close', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    clock = new Date('2026-06-02T12:00:00Z');
    await process().days.tick();
    await process().locations.update(id, { timeZone: 'America/New_York', fiscalDayEnd: '00:00' }, always, someone);
    clock = new Date('2026-06-03T12:00:00Z');
    await process().days.tick();
    expect((await closed(id)).map(([date, cutAt]) => [date, cutAt])).toEqual([
      ['2026-06-01', '2026-06-02T02:00:00.000Z'],
      ['2026-06-02', '2026-06-03T04:00:00.000Z'],
    ]);
  });

  it('is read by many processes at the same time, and each day is closed by one', async () => {
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

  it('continues with the other locations when one fails', async () => {
    await open('2026-06-01T12:00:00Z');
    const body = { name: 'Bar', currency: 'EUR', time_zone: 'UTC', fiscal_day_end: '04:00' };
    const second = await process().locations.create(locationFields.readNew(body), randomUUID(), someone);
    clock = new Date('2026-06-02T12:00:00Z');
    let calls = 0;
    const failing: OrderStore = {
      ...orderStore,
      uncounted: (...options) => {
        calls += 1;
        if (calls === 1) throw new Error('cannot be read');
        return orderStore.uncounted(...options);
      },
    };
    await expect(process(0, { orders: failing }).days.tick()).rejects.toThrow('cannot be read');
    expect(await closed(second.id)).toHaveLength(1);
  });
});

describe('a day closed by call', () => {
  it('ends at that time, and later orders belong to the next day', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    const early = await place(id, now());
    const { days } = process();
    const day = await days.close(id, '2026-06-01');
    expect(day).toMatchObject({ orderCount: 1, closedBy: 'caller', cutAt: new Date('2026-06-01T12:00:00.001Z') });
    const late = await place(id, '2026-06-01T12:00:00.001Z');
    await expect(days.close(id, '2026-06-02')).rejects.toMatchObject({ type: 'fiscal-day-not-begun' });
    clock = new Date('2026-06-02T12:00:00Z');
    expect((await days.close(id, '2026-06-02')).orderCount).toBe(1);
    expect([await dayOf(early), await dayOf(late)]).toEqual(['2026-06-01', '2026-06-02']);
    await days.tick();
    expect(await closed(id)).toHaveLength(2);
  });

  it('is closed at its own end if that has passed, after the days before it', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    clock = new Date('2026-06-04T12:00:00Z');
    const day = await process().days.close(id, '2026-06-03');
    expect(day).toMatchObject({ cutAt: new Date('2026-06-04T02:00:00Z'), closedBy: 'caller' });
    const { items } = await readList(dayStore.list(id));
    expect(items.map(({ date, closedBy }) => [date, closedBy])).toEqual([
      ['2026-06-03', 'caller'],
      ['2026-06-02', 'service'],
      ['2026-06-01', 'service'],
    ]);
  });
});

describe('a change of the day end or the time zone', () => {
  const change = async (id: string, members: Partial<NewLocation>): Promise<void> => {
    await process().locations.update(id, members, always, someone);
  };
  const noonOfJune = '2026-06-01T12:00:00Z';

  it.each([
    ['a day end in the future', { fiscalDayEnd: '23:00' }],
    ['a time zone where the date is in the future', { timeZone: 'Pacific/Pago_Pago', fiscalDayEnd: '12:00' }],
    ['a day end in the past', { fiscalDayEnd: '01:00' }],
  ])('leaves the day under way to be closed: %s', async (_name, members) => {
    const id = await open(noonOfJune);
    await place(id, '2026-06-01T11:00:00Z');
    await change(id, members);
    const day = await process().days.close(id, '2026-06-01');
    expect(day).toMatchObject({ orderCount: 1, closedBy: 'caller', cutAt: new Date('2026-06-01T12:00:00.001Z') });
    await expect(process().days.close(id, '2026-06-02')).rejects.toMatchObject({ type: 'fiscal-day-not-begun' });
  });

  it('ends the day in progress immediately if the new clock says that it has ended', async () => {
    const id = await open(noonOfJune);
    await place(id, noonOfJune, 1);
    // The time in the new zone is two o'clock on the 2nd.
    await change(id, { timeZone: 'Pacific/Kiritimati', fiscalDayEnd: '00:00' });
    await place(id, '2026-06-01T12:00:00.001Z', 10);
    clock = new Date('2026-06-02T12:00:00Z');
    await process().days.tick();
    expect(await closed(id)).toEqual([
      ['2026-06-01', '2026-06-01T12:00:00.001Z', 1, 1],
      ['2026-06-02', '2026-06-02T10:00:00.000Z', 1, 10],
    ]);
  });

  it('never ends a day before the previous one, however far it moves the date', async () => {
    const id = await open('2026-06-01T12:00:00Z', { timeZone: 'Pacific/Pago_Pago', fiscalDayEnd: '23:59' });
    clock = new Date('2026-06-04T10:59:30Z');
    await process().days.tick();
    await place(id, clock, 1);
    // From 23:59:30 on the 3rd to one o'clock on the 5th.
    await change(id, { timeZone: 'Pacific/Kiritimati', fiscalDayEnd: '00:00' });
    await place(id, '2026-06-04T11:00:00Z', 10);
    clock = new Date('2026-06-05T12:00:00Z');
    await process().days.tick();
    expect((await closed(id)).slice(-4)).toEqual([
      ['2026-06-02', '2026-06-04T10:59:00.000Z', 0, 0],
      ['2026-06-03', '2026-06-04T10:59:30.001Z', 1, 1],
      ['2026-06-04', '2026-06-04T10:59:30.001Z', 0, 0],
      ['2026-06-05', '2026-06-05T10:00:00.000Z', 1, 10],
    ]);
  });

  it('does not change the end of a day that has passed but is not closed', async () => {
    const id = await open(noonOfJune);
    await place(id, '2026-06-02T01:00:00Z', 1);
    clock = new Date('2026-06-02T02:00:01Z');
    await place(id, clock, 10);
    await change(id, { timeZone: 'America/Los_Angeles' });
    // With the new clock the next day begins at 11:00 UTC. It began when the previous day ended.
    expect((await process().days.close(id, '2026-06-02')).total).toBe(10);
    expect((await closed(id))[0]).toEqual(['2026-06-01', '2026-06-02T02:00:00.000Z', 1, 1]);
  });

  it('moves the beginning of a day that has not begun', async () => {
    const id = await open(noonOfJune);
    await process().days.close(id, '2026-06-01');
    await change(id, { fiscalDayEnd: '14:00' });
    clock = new Date('2026-06-02T11:59:59Z');
    await expect(process().days.close(id, '2026-06-02')).rejects.toThrow('begins at 2026-06-02T12:00:00.000Z');
    clock = new Date('2026-06-02T12:00:00Z');
    expect((await process().days.close(id, '2026-06-02')).cutAt).toEqual(new Date('2026-06-02T12:00:00.001Z'));
  });

  it('counts each order in the day in which it is placed', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ wait: fc.constantFrom(1_000, hour, 7 * hour, 30 * hour) }),
        fc.record({
          timeZone: fc.constantFrom('UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Berlin'),
          fiscalDayEnd: fc.constantFrom('00:00', '04:00', '12:00', '23:59'),
        }),
        fc.record({ close: fc.integer({ min: -1, max: 1 }) }),
        fc.constant({ tick: true }),
      ),
      { minLength: 6, maxLength: 14 },
    );
    const perform = async (id: string, step: object): Promise<void> => {
      if ('wait' in step) clock = new Date(clock.getTime() + Number(step.wait));
      else if ('timeZone' in step) {
        // The service does this each second.
        clock = new Date(clock.getTime() + 3_000);
        await process().days.tick();
        await change(id, step as Partial<NewLocation>);
      } else if ('tick' in step) await process().days.tick();
      else if ('close' in step) {
        const date = new Date(clock.getTime() + Number(step.close) * 24 * hour).toISOString().slice(0, 10);
        await process()
          .days.close(id, date)
          .catch((error: unknown) => {
            expect(['fiscal-day-not-begun', 'fiscal-day-not-found']).toContain((error as { type?: string }).type);
          });
      }
    };
    const dayUnderWay = async (id: string): Promise<string> => {
      const location = await process().locations.get(id);
      let span = location.nextFiscalDay;
      while (span.endsAt <= clock) span = nextFiscalSpan(span, location);
      return span.date;
    };
    const run = async (sequence: readonly object[]): Promise<void> => {
      const id = await open(noonOfJune);
      const placed: { order: Order; underWay: string }[] = [];
      for (const step of sequence) {
        placed.push({ order: await place(id, clock, 1), underWay: await dayUnderWay(id) });
        await perform(id, step);
        clock = new Date(clock.getTime() + 1);
      }
      clock = new Date(clock.getTime() + 200 * hour);
      await process().days.tick();
      const days = await closed(id);
      const dates = days.map(([date]) => date);
      const cuts = days.map(([, cutAt]) => cutAt);
      expect(cuts).toEqual([...cuts].sort());
      expect(dates).toEqual(dates.map((_date, index) => inDays(dates[0] ?? '', index)));
      for (const { order, underWay } of placed) expect(await dayOf(order)).toBe(underWay);
    };
    await fc.assert(fc.asyncProperty(steps, run), runSettings(100));
  }, 300_000);
});

/** The date `days` days after a date. */
function inDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 24 * hour).toISOString().slice(0, 10);
}

describe('an order', () => {
  it('that an earlier list did not count belongs to the next day, however old it is', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    clock = new Date('2026-06-02T12:00:00Z');
    await process().days.tick();
    // Its process was suspended for a day between reading the clock and writing.
    const late = await place(id, '2026-06-01T12:00:00Z', 5);
    clock = new Date('2026-06-03T12:00:00Z');
    await process().days.tick();
    expect(await closed(id)).toMatchObject([
      ['2026-06-01', expect.anything(), 0, 0],
      ['2026-06-02', expect.anything(), 1, 5],
    ]);
    expect(await dayOf(late)).toBe('2026-06-02');
  });

  it('is counted once when the process that closes the day stops before it marks the order', async () => {
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

  it('is counted once when a process closes a day from data that it read before another process did', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    await place(id, '2026-06-01T13:00:00Z', 5);
    clock = new Date('2026-06-02T12:00:00Z');
    const slow: FiscalDayStore = {
      ...dayStore,
      // Between its list and its insert, other processes close this day and the next.
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

  it('that is canceled before the close belongs to no day', async () => {
    const id = await open('2026-06-01T12:00:00Z');
    const canceled = await place(id, now(), 5);
    await orderStore.end(canceled, 'canceled', now(), []);
    await orderStore.end(await place(id, now(), 3), 'completed', now(), []);
    expect((await process().days.close(id, '2026-06-01')).total).toBe(3);
    expect(await dayOf(canceled)).toBeUndefined();
  });

  it('belongs to exactly one day while orders arrive and processes with wrong clocks close days', async () => {
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

describe('a list that would become too long or too large', () => {
  it('is as long as the contract allows', () => {
    const { description } = contract.paths['/v1/locations/{id}/fiscal-days/{date}/close'].post;
    expect(description).toContain(`at most ${maxOrders.toLocaleString('en')} orders`);
    expect(description).toContain(`a total of at most ${Number.MAX_SAFE_INTEGER.toLocaleString('en')},`);
  });

  async function* some(...totals: number[]): AsyncGenerator<UncountedOrder> {
    for (const [index, total] of totals.entries()) {
      yield await Promise.resolve({ id: String(index), total, taxLines: [{ ratePpm: index, base: total, amount: 0 }] });
    }
  }

  it('ends there, and the next day has the remaining orders', async () => {
    expect(await countOrders(some(1, 2, 3), 2)).toMatchObject({ ids: ['0', '1'], total: 3 });
    expect(await countOrders(some(Number.MAX_SAFE_INTEGER - 1, 1, 1))).toMatchObject({ ids: ['0', '1'] });
    // Of rates, 1,000.
    const { ids, taxLines } = await countOrders(some(...Array.from({ length: 1_002 }, () => 1)));
    expect([ids.length, taxLines?.length, taxLines?.at(-1)]).toEqual([
      1_000,
      1_000,
      { ratePpm: 999, base: 1, amount: 0 },
    ]);
  });
});
