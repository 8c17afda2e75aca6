import { Binary, type Collection, type Filter } from 'mongodb';
import { insertMissing } from '../../db/bulk-writes.ts';
import type { Database } from '../../db/client.ts';
import type { CollectionIndexes } from '../../db/indexes.ts';
import { read } from '../../db/writes.ts';
import type { EventType } from '../../events/event.ts';

/** An event that was relayed: what is sent, and to whom. */
export interface StoredEvent {
  readonly id: string;
  readonly type: EventType;
  readonly targetUuid: string | undefined;
  readonly targetId: string | undefined;
  readonly locationId: string | undefined;
  readonly createdAt: Date;
  /** The bytes that are signed and sent. */
  readonly body: Uint8Array;
  /** Ids of integrations, decided once. */
  readonly recipients: readonly string[];
}

/** A place in the order of events: of equal times the smaller id is earlier. */
export interface EventPosition {
  readonly createdAt: Date;
  readonly id: string;
}

export interface EventStore {
  /** Stores the events that are not stored yet. @returns ids of those that were: their recipients stand */
  insertMissing(events: readonly StoredEvent[], expiresAt: Date): Promise<string[]>;
  find(ids: readonly string[]): Promise<StoredEvent[]>;
  /** Events of some types after a position and before a time, the earliest first. */
  listAfter(position: EventPosition, until: Date, types: readonly EventType[], limit: number): Promise<StoredEvent[]>;
}

interface EventDocument {
  _id: string;
  type: EventType;
  target_uuid?: string;
  target_id?: string;
  location_id?: string;
  created_at: Date;
  body: Binary;
  recipients: string[];
  expires_at: Date;
}

const collectionName = 'events';

export const eventIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: 1, _id: 1 }, name: 'created_at_1__id_1' },
    { key: { expires_at: 1 }, name: 'expires_at_1', expireAfterSeconds: 0 },
  ],
};

export function createEventStore(database: Database): EventStore {
  const collection: Collection<EventDocument> = database.db.collection(collectionName);
  return {
    insertMissing(events, expiresAt) {
      const documents = events.map(
        ({ id, type, targetUuid, targetId, locationId, createdAt, body, recipients }): EventDocument => ({
          _id: id,
          type,
          ...(targetUuid === undefined ? {} : { target_uuid: targetUuid }),
          ...(targetId === undefined ? {} : { target_id: targetId }),
          ...(locationId === undefined ? {} : { location_id: locationId }),
          created_at: createdAt,
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
    async listAfter({ createdAt, id }, until, types, limit) {
      const filter: Filter<EventDocument> = {
        created_at: { $gte: createdAt, $lt: until },
        $or: [{ created_at: { $gt: createdAt } }, { _id: { $gt: id } }],
        type: { $in: [...types] },
      };
      const documents = await read(() =>
        collection.find(filter).sort({ created_at: 1, _id: 1 }).limit(limit).toArray(),
      );
      return documents.map(fromDocument);
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
    body: document.body.buffer,
    recipients: document.recipients,
  };
}
