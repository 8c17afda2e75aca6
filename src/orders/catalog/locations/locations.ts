import { refuseFindings, type Finding } from '../../../base/errors/findings.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import { createEditQueue } from '../../../base/editing/edit-queue.ts';
import { changed, type Precondition } from '../../../base/editing/edits.ts';
import { retryLostRaces } from '../../../base/editing/lost-races.ts';
import { mayReachLocation, type Reach } from '../../../base/limits/reach.ts';
import type { Listing } from '../../../base/lists/listing.ts';
import { auditEntry, type Author } from '../../../access/audit/author.ts';
import type { ArchivedSelection } from '../archived.ts';
import { isCurrency } from './currencies.ts';
import { changedFiscalSpan, fiscalDateAt, fiscalSpan, nextFiscalSpan } from './fiscal-calendar.ts';
import { timeZoneNamed } from '../../../base/runtime/time-zones.ts';
import { locationFields, type Location, type LocationChange, type NewLocation } from './location.ts';
import { withKeptSpots, type SentZone } from './zones.ts';
import type { LocationStore } from './location-store.ts';
import type { Clock } from '../../../base/runtime/clock.ts';

type SentChange = Omit<LocationChange, 'zones'> & { readonly zones?: readonly SentZone[] | undefined };

/** Locations. Every method that takes an id throws `location-not-found`, also for one beyond the reach of the caller. */
export interface Locations {
  /**
   * Stores a location, or finds the one that an earlier attempt stored under the same id.
   * @throws {ProblemError} unknown-currency, unknown-time-zone
   */
  create(content: NewLocation, id: string, author: Author): Promise<Location>;
  get(id: string, reach?: Reach): Promise<Location>;
  find(id: string): Promise<Location | undefined>;
  /** The ids for which a location exists. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** The newest first. @param ids only these; undefined for all */
  list(archived: ArchivedSelection, ids?: readonly string[]): Listing<Location>;
  /**
   * If nothing changes, it writes nothing. Another time zone or end of the fiscal day moves the end of the day in
   * progress.
   * @throws {ProblemError} precondition-failed, unknown-time-zone, edit-conflict
   */
  update(id: string, change: SentChange, precondition: Precondition<Location>, author: Author): Promise<Location>;

  /** Locations whose next fiscal day ended before this instant, the longest overdue first. */
  findDue(before: Date, limit: number): Promise<Location[]>;
  /**
   * Moves a location to the fiscal day after `date`, if this has not happened yet. Call it after the close of `date` is
   * stored and the orders that it counted are marked.
   */
  finishFiscalDay(id: string, date: string): Promise<Location>;
}

export interface LocationsOptions {
  readonly store: LocationStore;
  readonly clock: Clock;
}

const audited = { type: 'location', show: locationFields.show } as const;

export function createLocations({ store, clock }: LocationsOptions): Locations {
  const editQueue = createEditQueue();
  const get = async (id: string, reach?: Reach): Promise<Location> => {
    const location = await store.find(id);
    if (location === undefined || !mayReachLocation(reach, id))
      throw new ProblemError('location-not-found', { detail: `No location has the id ${id}.` });
    return location;
  };

  return {
    get,
    find: (id) => store.find(id),
    existing: (ids) => store.existing(ids),
    list: (archived, ids) => store.list(archived, ids),
    findDue: (before, limit) => store.findDue(before, limit),

    async create(sent, id, author) {
      refuseFindings(unknownTimeZone(sent.timeZone), unknownCurrency(sent.currency));
      const content = { ...sent, timeZone: timeZoneNamed(sent.timeZone) ?? sent.timeZone };
      const at = clock.now();
      const location: Location = {
        id,
        ...content,
        createdAt: at,
        updatedAt: at,
        nextFiscalDay: fiscalSpan(fiscalDateAt(at, content), content),
        revision: 1,
      };
      const entry = auditEntry(author, audited, { at, after: location });
      return (await store.insert(location, entry)) ? location : await get(id);
    },

    update: (id, change, precondition, author) =>
      editQueue.edit(id, {
        get: () => get(id),
        precondition,
        change: (present) => applyChange(present, change, clock.now()),
        write: (next, present) => {
          const entry = auditEntry(author, audited, { at: next.updatedAt, before: present, after: next });
          return store.replace(next, present.nextFiscalDay, entry);
        },
      }),

    finishFiscalDay: (id, date) =>
      retryLostRaces(async () => {
        const location = await get(id);
        if (location.nextFiscalDay.date !== date) return location;
        await store.advance(location, nextFiscalSpan(location.nextFiscalDay, location));
        const advanced = await get(id);
        return advanced.nextFiscalDay.date === date ? undefined : advanced;
      }),
  };
}

/**
 * The location that a request body names as `location_id`.
 * @param reach of the caller
 * @throws ProblemError `unknown-location`
 */
export async function requireLocation(
  locations: Pick<Locations, 'find'>,
  id: string,
  reach?: Reach,
): Promise<Location> {
  const location = await locations.find(id);
  if (location !== undefined && mayReachLocation(reach, id)) return location;
  throw new ProblemError('unknown-location', {
    detail: `No location has the id ${id}.`,
    errors: [{ detail: 'is not the id of a location', pointer: '#/location_id' }],
  });
}

/** The location after a change; the same object if nothing changes. */
function applyChange(present: Location, { zones, ...change }: SentChange, at: Date): Location {
  // The location can keep a time zone that the database no longer has.
  const sent = change.timeZone ?? present.timeZone;
  const timeZone = sent === present.timeZone ? sent : timeZoneNamed(sent);
  refuseFindings(...(timeZone === undefined ? [unknownTimeZone(sent)] : []));
  const next = changed(
    present,
    {
      ...change,
      timeZone: timeZone ?? sent,
      ...(zones === undefined ? {} : { zones: withKeptSpots(zones, present.zones) }),
    },
    at,
  );
  const isSameClock = next.timeZone === present.timeZone && next.fiscalDayEnd === present.fiscalDayEnd;
  return isSameClock ? next : { ...next, nextFiscalDay: changedFiscalSpan(present.nextFiscalDay, next, at) };
}

function unknownCurrency(code: string): Finding {
  return {
    type: 'unknown-currency',
    detail: `${code} is not an ISO 4217 code of a currency in use.`,
    errors: isCurrency(code) ? [] : [{ detail: 'is not an ISO 4217 code of a currency in use', pointer: '#/currency' }],
  };
}

function unknownTimeZone(name: string): Finding {
  return {
    type: 'unknown-time-zone',
    detail: `${name} is not the name of a time zone in the IANA database.`,
    errors:
      timeZoneNamed(name) === undefined ? [{ detail: 'is not the name of a time zone', pointer: '#/time_zone' }] : [],
  };
}
