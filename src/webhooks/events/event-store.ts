import { Binary, type Collection } from 'mongodb';
import { insertMissing } from '../../db/bulk-writes.ts';
import type { Database } from '../../db/client.ts';
import { expiryIndex, type CollectionIndexes } from '../../db/indexes.ts';
import {
  cut,
  everySample,
  fetchInOrder,
  positions,
  sampleField,
  sampleIndex,
  type Source,
} from '../../db/narrow-reads.ts';
import { read } from '../../db/writes.ts';
import type { EventContent, EventType } from '../../events/event.ts';

/** A relayed event: the bytes and the recipients. */
export interface StoredEvent extends Omit<EventContent, 'data'> {
  /** The bytes that are signed and sent. */
  readonly body: Uint8Array;
  /** Ids of integrations. They never change. */
  readonly recipients: readonly string[];
}

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
  /**
   * Events of some types after a position and before a time, the earliest first. For rare types it reads only a part of
   * the span.
   * @returns the position to continue from; undefined if there are no more
   */
  listAfter(
    position: EventPosition,
    until: Date,
    types: readonly EventType[],
    limit: number,
  ): Promise<{ events: StoredEvent[]; next: EventPosition | undefined }>;
}

interface EventDocument {
  _id: string;
  type: EventType;
  target_uuid?: string;
  target_id?: string;
  location_id?: string;
  created_at: Date;
  traceparent?: string;
  body: Binary;
  recipients: string[];
  expires_at: Date;
  /** Present in one event of 64. */
  sample?: string;
}

const collectionName = 'events';
/** Parts of a span that one page reads. */
const partsAtOnce = 16;

export const eventIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [{ key: { created_at: 1, _id: 1 }, name: 'created_at_1__id_1' }, sampleIndex('created_at'), expiryIndex],
};

export function createEventStore(database: Database): EventStore {
  const collection: Collection<EventDocument> = database.db.collection(collectionName);
  return {
    insertMissing(events, expiresAt) {
      const documents = events.map(
        ({ id, type, targetUuid, targetId, locationId, createdAt, traceparent, body, recipients }): EventDocument => ({
          _id: id,
          type,
          ...(targetUuid === undefined ? {} : { target_uuid: targetUuid }),
          ...(targetId === undefined ? {} : { target_id: targetId }),
          ...(locationId === undefined ? {} : { location_id: locationId }),
          created_at: createdAt,
          ...(traceparent === undefined ? {} : { traceparent }),
          body: new Binary(body),
          recipients: [...recipients],
          expires_at: expiresAt,
          ...sampleField(id),
        }),
      );
      return insertMissing(collection, documents);
    },
    async find(ids) {
      const documents = await read(() => collection.find({ _id: { $in: [...ids] } }).toArray());
      return documents.map(fromDocument);
    },
    async listAfter({ createdAt, id }, until, types, limit) {
      const source: Source<EventDocument> = {
        ...{ collection, where: {}, time: 'created_at', samples: { sample: everySample } },
        span: { since: createdAt, until },
        rest: { type: { $in: [...types] } },
      };
      const found: EventPosition[] = [];
      let lookedUntil: Date | undefined;
      const parts = await cut(source);
      for (const part of parts.slice(0, partsAtOnce)) {
        const inPart = (await positions(source, part)).filter(
          ({ _id, at }) => at.getTime() > createdAt.getTime() || _id > id,
        );
        inPart.sort((a, b) => a.at.getTime() - b.at.getTime() || (a._id < b._id ? -1 : 1));
        for (const { _id, at } of inPart) found.push({ id: _id, createdAt: at });
        lookedUntil = part.until;
        if (found.length >= limit) break;
      }
      const page = found.slice(0, limit);
      const events: StoredEvent[] = [];
      for await (const document of fetchInOrder(
        collection,
        page.map((position) => position.id),
      )) {
        events.push(fromDocument(document));
      }
      if (found.length >= limit) return { events, next: page.at(-1) };
      const isLast = lookedUntil === undefined || lookedUntil >= until;
      // No id is smaller than the empty one, so it continues with the first instant that was not read.
      return { events, next: isLast ? undefined : { createdAt: lookedUntil ?? until, id: '' } };
    },
  };
}

function fromDocument(document: EventDocument): StoredEvent {
  return {
    id: document._id,
    type: document.type,
    targetUuid: document.target_uuid,
    targetId: document.target_id,
    locationId: document.location_id,
    createdAt: document.created_at,
    traceparent: document.traceparent,
    body: document.body.buffer,
    recipients: document.recipients,
  };
}
