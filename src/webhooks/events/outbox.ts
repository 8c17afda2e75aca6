/**
 * The outbox of a document: events that its writes announce, until the relay has handed them to the delivery engine. A
 * write adds the events in the same update as the change. The relay removes them without incrementing the document's
 * revision, because the document has not changed for its readers.
 */
import { presentData } from '../../base/fields/earlier-names.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { EventType, OutboxEntry } from './event.ts';

/** The collections whose documents have an outbox. */
export const outboxCollections = [
  'orders',
  'products',
  'categories',
  'fiscal_days',
  'budget_periods',
  'prompts',
  'alerts',
] as const;
export type OutboxCollection = (typeof outboxCollections)[number];

/** An {@link OutboxEntry} in the database. */
export interface OutboxDocument {
  id: string;
  type: EventType;
  target_id: string;
  location_id?: string;
  location_name?: string;
  created_at: Date;
  traceparent?: string;
  data: Record<string, unknown>;
}

/** The fields of every document with an outbox. */
export interface WithOutbox {
  outbox: OutboxDocument[];
}

/** Matches the documents whose outbox is not empty; served by {@link outboxIndex}. */
export const waitingFilter: Readonly<Record<string, { readonly $gt: string }>> = { 'outbox.id': { $gt: '' } };

/** The index with which the relay finds waiting events. It contains only documents that have some. */
export const outboxIndex = {
  key: { 'outbox.id': 1 },
  name: 'outbox.id_1',
  partialFilterExpression: waitingFilter,
} as const;

/** Converts events to their form in the `outbox` of a document. */
export function toOutboxDocuments(entries: readonly OutboxEntry[]): OutboxDocument[] {
  return entries.map(({ id, type, targetId, locationId, locationName, createdAt, traceparent, data }) => ({
    id,
    type,
    target_id: targetId,
    ...(locationId === undefined ? {} : { location_id: locationId }),
    ...(locationName === undefined ? {} : { location_name: locationName }),
    created_at: createdAt,
    ...(traceparent === undefined ? {} : { traceparent }),
    data: { ...data },
  }));
}

/** Reads events from the `outbox` of a document. */
export function fromOutboxDocuments(documents: readonly OutboxDocument[]): OutboxEntry[] {
  return documents.map(({ id, type, location_id, location_name, created_at, traceparent, data, target_id }) => ({
    id,
    type,
    targetId: target_id,
    locationId: location_id,
    locationName: location_name,
    createdAt: created_at,
    traceparent,
    data: presentData(type, data),
  }));
}

/** What an update pushes to announce these events. */
export function pushEvents(entries: readonly OutboxEntry[]): { outbox?: { $each: OutboxDocument[] } } {
  return entries.length === 0 ? {} : { outbox: { $each: toOutboxDocuments(entries) } };
}

/** Passes waiting events to the delivery engine. */
export interface Relay {
  /**
   * Notifies the relay that a document has waiting events, so that delivery is immediate. If a notification is lost,
   * the relay's poll finds the events.
   *
   * @param entries the waiting events, if they are known, so that they need not be read
   */
  nudge(collection: OutboxCollection, documentId: string, entries?: readonly OutboxEntry[]): void;
  /** Hands over all waiting events of a document now. @throws ProblemError `database-unavailable` */
  relayNow(collection: OutboxCollection, documentId: string): Promise<void>;
}

/** The most events that can wait in one document. */
export const outboxCapacity = 256;

/**
 * Makes room in the outbox of a document before a change. A writer that is faster than the relay waits for it.
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
