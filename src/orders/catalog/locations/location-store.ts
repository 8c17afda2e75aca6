import { auditIndex, type AuditEntry } from '../../../storage/db/audit.ts';
import type { CollectionIndexes } from '../../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../../storage/db/pages.ts';
import { gatherReadsById } from '../../../storage/db/raw-reads.ts';
import { createResourceStore, type ResourceDocument } from '../../../storage/db/resource-store.ts';
import { read, writeIdempotently } from '../../../storage/db/writes.ts';
import type { Listing } from '../../../base/lists/listing.ts';
import { archivedIn, type ArchivedSelection } from '../archived.ts';
import type { FiscalSpan } from './fiscal-calendar.ts';
import { locationFields, type Location } from './location.ts';

/** Locations in the database. Every method can throw `database-unavailable`. */
export interface LocationStore {
  /** Stores a new location. False when its id already exists. */
  insert(location: Location, entry: AuditEntry): Promise<boolean>;
  find(id: string): Promise<Location | undefined>;
  /** The ids for which a location exists. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** The newest first. */
  list(archived: ArchivedSelection, ids: readonly string[] | undefined): Listing<Location>;
  /**
   * Writes a changed location if the stored one still has this revision and `present` is still its next fiscal day.
   * @returns the location as stored; `undefined` if another writer was first
   */
  replace(location: Location, present: FiscalSpan, entry: AuditEntry): Promise<Location | undefined>;
  /** Locations whose next fiscal day ended before this instant, the longest overdue first. */
  findDue(before: Date, limit: number): Promise<Location[]>;
  /** Sets the next fiscal day if the current one and the fields that decide its end are still those of `location`. */
  advance(location: Location, next: FiscalSpan): Promise<void>;
}

interface SpanFields {
  next_fiscal_day: string;
  next_fiscal_day_begins_at: Date;
  next_fiscal_day_ends_at: Date;
}
type LocationDocument = ResourceDocument<typeof locationFields.table> & SpanFields;

const collectionName = 'locations';

export const locationIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { next_fiscal_day_ends_at: 1 }, name: 'next_fiscal_day_ends_at_1' },
    auditIndex,
  ],
};

export function createLocationStore(database: PagedDatabase): LocationStore {
  const locations = database.db.collection<LocationDocument>(collectionName);
  const resources = createResourceStore(database, collectionName, locationFields);
  const listByTime = database.pages.listsOf(fromDocument);

  return {
    insert: (location, entry) => resources.insert(location, entry, toSpanFields(location.nextFiscalDay)),
    find: gatherReadsById(database.db, collectionName, fromDocument).find,
    existing: (ids) => database.pages.existing(locations, ids),
    list: (archived, ids) =>
      listByTime({
        collection: locations,
        where: {},
        time: 'created_at',
        rest: { ...archivedIn(archived), ...(ids && { _id: { $in: [...ids] } }) },
      }),
    replace: (location, present, entry) =>
      resources.replace(location, entry, {
        where: { next_fiscal_day: present.date },
        $set: toSpanFields(location.nextFiscalDay),
      }),
    async findDue(before, limit) {
      const overdue = { next_fiscal_day_ends_at: { $lt: before } };
      const found = await read(() =>
        locations.find(overdue).sort({ next_fiscal_day_ends_at: 1 }).limit(limit).toArray(),
      );
      return found.map(fromDocument);
    },
    async advance({ id, nextFiscalDay, timeZone, fiscalDayEnd }, next) {
      const same = {
        _id: id,
        next_fiscal_day: nextFiscalDay.date,
        next_fiscal_day_ends_at: nextFiscalDay.endsAt,
        timezone: timeZone,
        fiscal_day_end: fiscalDayEnd,
      };
      const change = { $set: toSpanFields(next) };
      await writeIdempotently(() => locations.updateOne(same, change));
    },
  };
}

function toSpanFields({ date, beginsAt, endsAt }: FiscalSpan): SpanFields {
  return { next_fiscal_day: date, next_fiscal_day_begins_at: beginsAt, next_fiscal_day_ends_at: endsAt };
}

function fromDocument(document: LocationDocument): Location {
  return {
    ...locationFields.fromDocument(document),
    nextFiscalDay: fromSpanFields(document),
    revision: document.revision,
  };
}

function fromSpanFields(document: SpanFields): FiscalSpan {
  return {
    date: document.next_fiscal_day,
    beginsAt: document.next_fiscal_day_begins_at,
    endsAt: document.next_fiscal_day_ends_at,
  };
}
