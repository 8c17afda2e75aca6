/**
 * The outbox of a document: events that its writes announce, until the relay has handed them to the delivery engine.
 * The write that changes a fact pushes the events in the same update. The relay pulls them without counting the
 * document's revision up: to those who read and edit the document nothing has changed.
 */
import { ProblemError } from '../errors/problem-error.ts';
import type { EventType, OutboxEntry } from './event.ts';

/** The collections whose documents have an outbox. */
export type OutboxCollection = 'orders' | 'products' | 'categories' | 'fiscal_days';
export const outboxCollections: readonly OutboxCollection[] = ['orders', 'products', 'categories', 'fiscal_days'];

/** An {@link OutboxEntry} in the database. */
export interface OutboxDocument {
  id: string;
  type: EventType;
  target_uuid?: string;
  target_id?: string;
  location_id: string;
  created_at: Date;
  traceparent?: string;
  data: Record<string, unknown>;
}

/** What every document with an outbox carries. */
export interface WithOutbox {
  outbox: OutboxDocument[];
}

/** Matches the documents whose outbox is not empty; served by {@link outboxIndex}. */
export const waitingFilter: Readonly<Record<string, { readonly $gt: string }>> = { 'outbox.id': { $gt: '' } };

/** The index by which the relay finds waiting events. It holds only the documents that have some. */
export const outboxIndex = {
  key: { 'outbox.id': 1 },
  name: 'outbox.id_1',
  partialFilterExpression: waitingFilter,
} as const;

/** Events as they go into the `outbox` of a document. */
export function toOutboxDocuments(entries: readonly OutboxEntry[]): OutboxDocument[] {
  return entries.map(({ id, type, targetUuid, targetId, locationId, createdAt, traceparent, data }) => ({
    id,
    type,
    ...(targetUuid === undefined ? {} : { target_uuid: targetUuid }),
    ...(targetId === undefined ? {} : { target_id: targetId }),
    location_id: locationId,
    created_at: createdAt,
    ...(traceparent === undefined ? {} : { traceparent }),
    data: { ...data },
  }));
}

/** Events as they are in the `outbox` of a document. */
export function fromOutboxDocuments(documents: readonly OutboxDocument[]): OutboxEntry[] {
  return documents.map(({ id, type, target_uuid, target_id, location_id, created_at, traceparent, data }) => ({
    id,
    type,
    targetUuid: target_uuid,
    targetId: target_id,
    locationId: location_id,
    createdAt: created_at,
    traceparent,
    data,
  }));
}

/** The change of a document that announces these events with the write it is part of. */
export function pushEvents(entries: readonly OutboxEntry[]): { $push?: { outbox: { $each: OutboxDocument[] } } } {
  return entries.length === 0 ? {} : { $push: { outbox: { $each: toOutboxDocuments(entries) } } };
}

/** Passes waiting events to the delivery engine. */
export interface Relay {
  /**
   * Notifies the relay that a document has waiting events. This makes delivery immediate; the relay's poll makes it
   * certain.
   */
  nudge(collection: OutboxCollection, documentId: string): void;
  /** Hands over all that waits in a document, now. @throws ProblemError `database-unavailable` */
  relayNow(collection: OutboxCollection, documentId: string): Promise<void>;
}

/** Events that may wait in one document. */
export const outboxCapacity = 256;

/**
 * Makes room in the outbox of a document that is about to be changed; a writer faster than the relay has to wait for it.
 *
 * @param readWaiting how many events wait in the document
 * @throws ProblemError `overloaded` when the outbox is still full after the relay was called
 */
export async function makeRoom(
  relay: Relay,
  collection: OutboxCollection,
  documentId: string,
  readWaiting: () => Promise<number>,
): Promise<void> {
  await relay.relayNow(collection, documentId);
  if ((await readWaiting()) < outboxCapacity) return;
  throw new ProblemError('overloaded', {
    detail: 'Too many events of this resource are waiting to be sent. Try again shortly.',
    headers: { 'Retry-After': '2' },
  });
}
