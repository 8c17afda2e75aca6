import { Binary, type Collection } from 'mongodb';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { insertOnce, read, type StampedDocument } from '../../storage/db/writes.ts';
import type { OutboxEntry } from '../../webhooks/events/event.ts';
import { outboxIndex, toOutboxDocuments, type WithOutbox } from '../../webhooks/events/outbox.ts';
import type { Document } from '../../base/fields/fields.ts';
import type { Listing } from '../../base/lists/listing.ts';
import { fiscalDayFields, type FiscalDay } from './fiscal-day.ts';
import { packIds, unpackIds } from './packed-ids.ts';

/** Closed fiscal days in the database. Every method can throw `database-unavailable`. */
export interface FiscalDayStore {
  /** Stores a fiscal day, the ids of the orders that it counts and its events. False if the day is already closed. */
  insert(day: FiscalDay, countedIds: readonly string[], events: readonly OutboxEntry[]): Promise<boolean>;
  find(locationId: string, date: string): Promise<FiscalDay | undefined>;
  /** Ids of the orders that a closed day counts; `undefined` when the day is not closed. */
  findCountedIds(locationId: string, date: string): Promise<string[] | undefined>;
  /** The latest first. */
  list(locationId: string): Listing<FiscalDay>;
}

/** A document of the collection `fiscal_days`, under the id `<location id>:<date>`. */
interface FiscalDayDocument extends StampedDocument, WithOutbox, Document<typeof fiscalDayFields.table> {
  /** Ids of the orders that the day counts, 16 bytes each. */
  counted: Binary;
}

const collectionName = 'fiscal_days';

export const fiscalDayIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    // Days are closed one after the other.
    { key: { location_id: 1, cut_at: -1, _id: -1 }, name: 'location_id_1_cut_at_-1__id_-1' },
    outboxIndex,
  ],
};

export function createFiscalDayStore(database: PagedDatabase): FiscalDayStore {
  const days: Collection<FiscalDayDocument> = database.db.collection(collectionName);
  const shown = { projection: { counted: 0, outbox: 0 } } as const;
  const listByTime = database.pages.listsOf<FiscalDayDocument, FiscalDay>(fiscalDayFields.fromDocument, shown);

  return {
    async insert(day, countedIds, events) {
      const document = {
        _id: fiscalDayId(day.locationId, day.date),
        ...fiscalDayFields.toDocument(day),
        counted: new Binary(packIds(countedIds)),
        outbox: toOutboxDocuments(events),
      };
      return (await insertOnce(days, document)).outcome === 'done';
    },
    async find(locationId, date) {
      const document = await read(() => days.findOne({ _id: fiscalDayId(locationId, date) }, shown));
      return document === null ? undefined : fiscalDayFields.fromDocument(document);
    },
    async findCountedIds(locationId, date) {
      const options = { projection: { counted: 1 } };
      const document = await read(() => days.findOne({ _id: fiscalDayId(locationId, date) }, options));
      return document === null ? undefined : unpackIds(document.counted.value());
    },
    list: (locationId) =>
      listByTime({
        collection: days,
        where: { location_id: locationId },
        time: 'cut_at',
        // Days that were closed at the same instant are ordered by their dates, with which their ids end.
        ties: 'descending',
      }),
  };
}

/** The id of a fiscal day's document. */
export function fiscalDayId(locationId: string, date: string): string {
  return `${locationId}:${date}`;
}
