import { Binary, type Collection } from 'mongodb';
import { insertMissing } from '../../storage/db/bulk-writes.ts';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase, Source } from '../../storage/db/pages.ts';
import { read, writeIdempotently } from '../../storage/db/writes.ts';
import type { EventContent, EventType } from './event.ts';

/** A relayed event: the bytes and the recipients. */
export interface StoredEvent extends Omit<EventContent, 'data'> {
  /** The bytes that are signed and sent. */
  readonly body: Uint8Array;
  /** Ids of integrations. They never change. */
  readonly recipients: readonly string[];
}

/** What the feed knows of an event. */
export type FeedEntry = Pick<EventContent, 'id' | 'type' | 'targetId' | 'locationId'>;

/** A position in the order of events: by time, then by id. */
export interface EventPosition {
  readonly createdAt: Date;
  readonly id: string;
}

export interface EventStore {
  /**
   * Stores the events that are not stored yet. @returns ids of those that were already stored: their recipients apply
   */
  insertMissing(events: readonly StoredEvent[], expiresAt: Date): Promise<string[]>;
  find(ids: readonly string[]): Promise<StoredEvent[]>;
  /** The bytes of events, by their ids. */
  bodies(ids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Events that are not known to be in the feed, the earliest first. */
  unplaced(limit: number): Promise<FeedEntry[]>;
  /** Events that are in the feed. A repetition changes nothing. */
  placed(ids: readonly string[]): Promise<void>;
  /**
   * Events of some types after a position and before a time, the earliest first, without those that test an integration.
   * For rare types it reads only a part of the span.
   * @returns the position to continue from; undefined if there are no more
   */
  listAfter(
    position: EventPosition,
    until: Date,
    types: readonly EventType[],
    limit: number,
  ): Promise<{ events: StoredEvent[]; next: EventPosition | undefined }>;
  /**
   * The last events of some types, the newest first, without those that test an integration. It looks at a limited number
   * of events of all types.
   * @param locations only events of these; undefined for all events
   */
  latest(
    types: readonly EventType[],
    locations: readonly string[] | undefined,
    limit: number,
  ): AsyncIterable<StoredEvent>;
}

interface EventDocument {
  _id: string;
  type: EventType;
  target_id: string;
  location_id?: string;
  test?: true;
  /** Until it is in the feed. */
  unplaced?: true;
  created_at: Date;
  traceparent?: string;
  body: Binary;
  recipients: string[];
  expires_at: Date;
}

const collectionName = 'events';
/** The most recipients of an event. A document can have 16 MiB, and each of them takes up to 49 bytes. */
export const maxRecipients = 300_000;
/** On some servers the time for many ids grows with their square. */
const placedAtOnce = 100;
/** Events that one page looks at, at least. */
const readAtOnce = 4_000;
/** The most events that are looked at for the last ones of some types. The contract has the same number. */
const latestMost = 1_000;
/** Bytes of events from which fewer are fetched at once. */
const largeFrom = 1024 * 1024;

export const eventIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: 1, _id: 1 }, name: 'created_at_1__id_1' },
    {
      key: { unplaced: 1, created_at: 1, _id: 1 },
      name: 'unplaced_1_created_at_1__id_1',
      partialFilterExpression: { unplaced: true },
    },
    expiryIndex,
  ],
};

export function createEventStore(database: PagedDatabase): EventStore {
  const collection: Collection<EventDocument> = database.db.collection(collectionName);
  const listHeads = database.pages.listsOf((head: EventDocument) => head, {
    projection: { type: 1, test: 1, location_id: 1, created_at: 1 },
  });
  return {
    insertMissing(events, expiresAt) {
      const documents = events.map(
        ({ id, type, targetId, locationId, isTest, createdAt, traceparent, body, recipients }): EventDocument => ({
          _id: id,
          type,
          target_id: targetId,
          ...(locationId === undefined ? {} : { location_id: locationId }),
          ...(isTest === true ? { test: true as const } : { unplaced: true as const }),
          created_at: createdAt,
          ...(traceparent === undefined ? {} : { traceparent }),
          body: new Binary(body),
          recipients: [...recipients],
          expires_at: expiresAt,
        }),
      );
      return insertMissing(collection, documents);
    },
    async find(ids) {
      const documents = await read(() => collection.find({ _id: { $in: [...ids] } }).toArray());
      return documents.map(fromDocument);
    },
    async bodies(ids) {
      const found = new Map<string, Uint8Array>();
      // The recipients of an event can have 16 MiB.
      for await (const [id, document] of database.pages.fetch(collection, ids, { projection: { body: 1 } })) {
        if (document !== undefined) found.set(id, document.body.buffer);
      }
      return found;
    },
    async unplaced(limit) {
      const projection = { type: 1, target_id: 1, location_id: 1 };
      const sort = { created_at: 1, _id: 1 } as const;
      const found = await read(() => collection.find({ unplaced: true }, { projection, sort, limit }).toArray());
      return found.map(({ _id, type, target_id, location_id }) => ({
        id: _id,
        type,
        targetId: target_id,
        locationId: location_id,
      }));
    },
    async placed(ids) {
      for (let start = 0; start < ids.length; start += placedAtOnce) {
        // By their ids alone: with the mark, some servers walk the index of all marks.
        const filter = { _id: { $in: ids.slice(start, start + placedAtOnce) } };
        await writeIdempotently(() => collection.updateMany(filter, { $unset: { unplaced: '' } }));
      }
    },
    async listAfter({ createdAt, id }, until, types, limit) {
      const source: Source<EventDocument> = {
        collection,
        where: {},
        time: 'created_at',
        ties: 'ascending',
        span: { since: createdAt, until },
      };
      const wanted = new Set(types);
      const found: EventPosition[] = [];
      let last: EventPosition | undefined;
      let read = 0;
      for await (const some of database.pages.walk(source, { projection: { type: 1, test: 1, created_at: 1 } })) {
        for (const { _id, type, test, created_at } of some) {
          if (created_at.getTime() === createdAt.getTime() && _id <= id) continue;
          last = { id: _id, createdAt: created_at };
          if (wanted.has(type) && test !== true) found.push(last);
        }
        read += some.length;
        if (found.length >= limit || read >= readAtOnce) break;
        last = undefined;
      }
      const page = found.slice(0, limit);
      const events: StoredEvent[] = [];
      const ids = page.map((position) => position.id);
      for await (const [, document] of database.pages.fetch(collection, ids)) {
        if (document !== undefined) events.push(fromDocument(document));
      }
      return { events, next: found.length >= limit ? page.at(-1) : last };
    },
    async *latest(types, locations, limit) {
      const wanted = new Set(types);
      const ids: string[] = [];
      const list = listHeads({ collection, where: {}, time: 'created_at', ties: 'descending' });
      for await (const [, head] of list.entries({ offset: 0 }, latestMost)) {
        if (head === undefined || !wanted.has(head.type) || head.test === true) continue;
        if (locations !== undefined && !locations.includes(head.location_id ?? '')) continue;
        if (ids.push(head._id) === limit) break;
      }
      // The recipients of an event can have 16 MiB.
      const projection = { recipients: 0 };
      for await (const [, document] of database.pages.fetch(collection, ids, { projection, largeFrom })) {
        if (document !== undefined) yield fromDocument({ ...document, recipients: [] });
      }
    },
  };
}

function fromDocument(document: EventDocument): StoredEvent {
  return {
    id: document._id,
    type: document.type,
    targetId: document.target_id,
    locationId: document.location_id,
    isTest: document.test,
    createdAt: document.created_at,
    traceparent: document.traceparent,
    body: document.body.buffer,
    recipients: document.recipients,
  };
}
