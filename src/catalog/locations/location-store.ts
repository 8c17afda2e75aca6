import type { Collection } from 'mongodb';
import type { Database } from '../../db/client.ts';
import type { CollectionIndexes } from '../../db/indexes.ts';
import {
  compareAndSet,
  insertOnce,
  read,
  writeIdempotently,
  type StampedDocument,
  type Unstamped,
} from '../../db/writes.ts';
import { beginOfFiscalDay, type FiscalSpan } from './fiscal-calendar.ts';
import type { Location, Zone } from './location.ts';

/** Locations in the database. Every method throws `database-unavailable` when it must. */
export interface LocationStore {
  /** Stores a new location. False when its id exists already. */
  insert(location: Location): Promise<boolean>;
  find(id: string): Promise<Location | undefined>;
  /** The newest first, and how many there are in all. */
  list(limit: number, offset: number): Promise<{ locations: Location[]; total: number }>;
  /**
   * Writes a changed location if the stored one still has its revision, and `present` is still its next fiscal day.
   * @returns the location as stored; `undefined` when someone else was first
   */
  replace(location: Location, present: FiscalSpan): Promise<Location | undefined>;
  /** Locations whose next fiscal day ended before this instant, the longest overdue first. */
  findDue(before: Date, limit: number): Promise<Location[]>;
  /** Sets the next fiscal day if the present one and what decides when it ends are still those of `location`. */
  advance(location: Location, next: FiscalSpan): Promise<void>;
}

interface LocationDocument extends StampedDocument {
  name: string;
  currency: string;
  timezone: string;
  fiscal_day_end: string;
  tax_rate: number;
  fee_rate: number;
  zones: { id: string; name: string; spots: { id: string; name: string }[] }[];
  created_at: Date;
  updated_at: Date;
  next_fiscal_day: string;
  /** Absent in documents of earlier versions. */
  next_fiscal_day_begins_at?: Date;
  next_fiscal_day_ends_at: Date;
}

const collectionName = 'locations';

export const locationIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { next_fiscal_day_ends_at: 1 }, name: 'next_fiscal_day_ends_at_1' },
  ],
};

export function createLocationStore(database: Database): LocationStore {
  const locations: Collection<LocationDocument> = database.db.collection(collectionName);

  return {
    async insert(location) {
      const document = { _id: location.id, ...toFields(location), created_at: location.createdAt };
      return (await insertOnce(locations, document)).outcome === 'done';
    },
    async find(id) {
      const document = await read(() => locations.findOne({ _id: id }));
      return document === null ? undefined : fromDocument(document);
    },
    async list(limit, offset) {
      const [documents, total] = await Promise.all([
        read(() => locations.find().sort({ created_at: -1, _id: 1 }).skip(offset).limit(limit).toArray()),
        read(() => locations.countDocuments()),
      ]);
      return { locations: documents.map(fromDocument), total };
    },
    async replace(location, present) {
      const result = await compareAndSet(locations, {
        id: location.id,
        revision: location.revision,
        where: { next_fiscal_day: present.date },
        change: { $set: toFields(location) },
      });
      return result.outcome === 'done' ? { ...location, revision: result.revision } : undefined;
    },
    async findDue(before, limit) {
      const overdue = { next_fiscal_day_ends_at: { $lt: before } };
      const found = await read(() =>
        locations.find(overdue).sort({ next_fiscal_day_ends_at: 1 }).limit(limit).toArray(),
      );
      return found.map(fromDocument);
    },
    async advance({ id, nextFiscalDay, timezone, fiscalDayEnd }, next) {
      const same = {
        _id: id,
        next_fiscal_day: nextFiscalDay.date,
        next_fiscal_day_ends_at: nextFiscalDay.endsAt,
        timezone,
        fiscal_day_end: fiscalDayEnd,
      };
      const change = { $set: toSpanFields(next) };
      await writeIdempotently(() => locations.updateOne(same, change));
    },
  };
}

function toFields(location: Location): Omit<Unstamped<LocationDocument>, '_id' | 'created_at'> {
  return {
    name: location.name,
    currency: location.currency,
    timezone: location.timezone,
    fiscal_day_end: location.fiscalDayEnd,
    tax_rate: location.taxRate,
    fee_rate: location.feeRate,
    zones: copyZones(location.zones),
    updated_at: location.updatedAt,
    ...toSpanFields(location.nextFiscalDay),
  };
}

type SpanField = 'next_fiscal_day' | 'next_fiscal_day_begins_at' | 'next_fiscal_day_ends_at';

function toSpanFields({ date, beginsAt, endsAt }: FiscalSpan): Required<Pick<LocationDocument, SpanField>> {
  return { next_fiscal_day: date, next_fiscal_day_begins_at: beginsAt, next_fiscal_day_ends_at: endsAt };
}

function fromDocument(document: LocationDocument): Location {
  return {
    id: document._id,
    name: document.name,
    currency: document.currency,
    timezone: document.timezone,
    fiscalDayEnd: document.fiscal_day_end,
    taxRate: document.tax_rate,
    feeRate: document.fee_rate,
    zones: copyZones(document.zones),
    createdAt: document.created_at,
    updatedAt: document.updated_at,
    nextFiscalDay: fromSpanFields(document),
    revision: document.revision,
  };
}

function fromSpanFields(document: LocationDocument): FiscalSpan {
  const { next_fiscal_day: date, next_fiscal_day_ends_at: endsAt, timezone, fiscal_day_end: fiscalDayEnd } = document;
  return {
    date,
    beginsAt: document.next_fiscal_day_begins_at ?? beginOfFiscalDay(date, { timezone, fiscalDayEnd }),
    endsAt,
  };
}

/** Copies member by member, so that nothing else gets into storage or answers. */
function copyZones(zones: readonly Zone[]): LocationDocument['zones'] {
  return zones.map((zone) => ({
    id: zone.id,
    name: zone.name,
    spots: zone.spots.map((spot) => ({ id: spot.id, name: spot.name })),
  }));
}
