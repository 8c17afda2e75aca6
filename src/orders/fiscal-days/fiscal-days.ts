/**
 * The end of fiscal days.
 *
 * Exactly one day counts each order, however many processes close days and whatever their clocks show. A clock only
 * decides which orders a close reads: those created before its cut that are not marked as counted. The close is a
 * single insert with location and date as its id, so only one of two succeeds. It contains the list of the orders that
 * it counts. Then these orders are marked, and after that the location moves to the next day. So at the close of the
 * next day, every order that an earlier day counted is marked. An order that reached the database after the list was
 * made is not marked, whatever its time is, and the next day counts it.
 */
import { doForEach } from '../../base/errors/outage.ts';
import { beginOfFiscalDay } from '../catalog/locations/fiscal-calendar.ts';
import type { Location } from '../catalog/locations/location.ts';
import type { Locations } from '../catalog/locations/locations.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { fiscalDayEnded } from '../../webhooks/events/announcements.ts';
import type { Relay } from '../../webhooks/events/outbox.ts';
import type { Listing } from '../../base/lists/listing.ts';
import type { OrderStore } from '../order-store.ts';
import { countOrders } from './count-orders.ts';
import type { FiscalDay } from './fiscal-day.ts';
import { fiscalDayId, type FiscalDayStore } from './fiscal-day-store.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';

/** Fiscal days. Every method that takes a location's id throws `location-not-found`. */
export interface FiscalDays {
  /**
   * Closes the fiscal day of a date if it is open, after closing earlier days that have ended. A day that has not ended
   * is closed early; orders placed from now on belong to the next day.
   * @returns the day, also if another request or process closed it
   * @throws {ProblemError} fiscal-day-not-begun, fiscal-day-not-found for a day that ended before the location existed
   */
  close(locationId: string, date: string, traceparent?: string): Promise<FiscalDay>;
  /** @throws {ProblemError} fiscal-day-not-found for a day that is not closed */
  get(locationId: string, date: string): Promise<FiscalDay>;
  /** The latest first. */
  list(locationId: string): Promise<Listing<FiscalDay>>;
  /** Closes the days that have ended in their location's time zone. Any process may call it at any time. */
  tick(): Promise<void>;
}

export interface FiscalDaysOptions {
  readonly store: FiscalDayStore;
  readonly orders: Pick<OrderStore, 'uncounted' | 'markCounted'>;
  readonly locations: Pick<Locations, 'get' | 'findDue' | 'finishFiscalDay'>;
  readonly relay: Relay;
  readonly clock: Clock;
  readonly random: Random;
}

interface Close {
  readonly cutAt: Date;
  readonly closedBy: FiscalDay['closedBy'];
  /** Of the request that closes it. */
  readonly traceparent?: string | undefined;
}

/**
 * How long after its end a day is closed automatically, in milliseconds. The day still counts orders that arrive
 * meanwhile.
 */
const graceMs = 2_000;
/** Locations that are processed together, and the days that one of them can close before the others are next. */
const locationsAtOnce = 100;
const daysAtOnce = 31;

export function createFiscalDays({ store, orders, locations, relay, clock, random }: FiscalDaysOptions): FiscalDays {
  /** Closes the location's next day if it is open. @returns the location with the day after as its next day */
  const closeNext = async (location: Location, close: Close): Promise<Location> => {
    const { id, nextFiscalDay } = location;
    const { date } = nextFiscalDay;
    const stored = (): Promise<readonly string[] | undefined> => store.findCountedIds(id, date);
    // The process that inserted the day may have stopped before it marked the orders, so every process marks them.
    const ids = (await stored()) ?? (await insert(location, close)) ?? (await stored());
    if (ids === undefined) throw new Error(`fiscal day ${id}:${date} exists and cannot be read`);
    await orders.markCounted(ids, date);
    return await locations.finishFiscalDay(id, date);
  };

  /**
   * Inserts the location's next day. @returns the ids of the orders that it counts; `undefined` if another process was
   * faster
   */
  const insert = async (
    location: Location,
    { cutAt, closedBy, traceparent }: Close,
  ): Promise<readonly string[] | undefined> => {
    const { id: locationId, name: locationName, currency, nextFiscalDay } = location;
    const { date } = nextFiscalDay;
    const { ids, total, taxLines } = await countOrders(orders.uncounted(locationId, cutAt));
    const orderCount = ids.length;
    const day = { locationId, date, cutAt, orderCount, total, taxLines, currency, closedBy };
    const event = fiscalDayEnded(
      { fiscalDay: date, orderCount, total, currency },
      { eventId: random.uuid(), locationId, locationName, at: clock.now(), traceparent },
    );
    if (!(await store.insert(day, ids, [event]))) return undefined;
    relay.nudge('fiscal_days', fiscalDayId(locationId, date));
    return ids;
  };

  const find = async (locationId: string, date: string): Promise<FiscalDay> => {
    const day = await store.find(locationId, date);
    if (day !== undefined) return day;
    throw new ProblemError('fiscal-day-not-found', { detail: `The location has no closed fiscal day ${date}.` });
  };

  /** Closes up to 31 days of a location that have ended. */
  const catchUp = async (due: Location): Promise<void> => {
    let location = due;
    for (let day = 0; day < daysAtOnce; day += 1) {
      const { endsAt } = location.nextFiscalDay;
      if (endsAt.getTime() > clock.now().getTime() - graceMs) return;
      location = await closeNext(location, { cutAt: endsAt, closedBy: 'service' });
    }
  };

  return {
    async close(locationId, date, traceparent) {
      let location = await locations.get(locationId);
      while (location.nextFiscalDay.date <= date) {
        const { date: next, beginsAt, endsAt } = location.nextFiscalDay;
        if (next < date && endsAt > clock.now()) throw notBegun(date, beginOfFiscalDay(date, location));
        if (next === date && beginsAt > clock.now()) throw notBegun(date, beginsAt);
        // A day that is closed early counts all orders up to now, including this millisecond.
        const cutAt = new Date(Math.min(endsAt.getTime(), clock.now().getTime() + 1));
        location = await closeNext(location, { cutAt, closedBy: next === date ? 'caller' : 'service', traceparent });
      }
      return await find(locationId, date);
    },
    async get(locationId, date) {
      await locations.get(locationId);
      return await find(locationId, date);
    },
    async list(locationId) {
      await locations.get(locationId);
      return store.list(locationId);
    },
    async tick() {
      for (;;) {
        const due = await locations.findDue(new Date(clock.now().getTime() - graceMs), locationsAtOnce);
        // A location that fails does not delay the others, but it would be first again each time.
        await doForEach(due, catchUp);
        if (due.length < locationsAtOnce) return;
      }
    },
  };
}

function notBegun(date: string, begin: Date): ProblemError {
  return new ProblemError('fiscal-day-not-begun', {
    detail: `The fiscal day ${date} begins at ${begin.toISOString()}.`,
    errors: [{ detail: 'has not begun', parameter: 'date' }],
  });
}
