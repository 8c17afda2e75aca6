import type { EventType } from '../events/event.ts';
import type { SendError } from '../sending/send-error.ts';
import type { Attempt, Delivery, DeliveryStatus, Outcome } from './delivery.ts';

/** A document of the collection `deliveries`. */
export interface DeliveryDocument {
  _id: string;
  event_id: string;
  event_type: EventType;
  target_id: string;
  location_id?: string;
  test?: true;
  integration_id: string;
  replay_id?: string;
  /** The last replay that sent the event again; only in the first delivery of an event to an integration. */
  replayed_by?: string;
  event_created_at: Date;
  traceparent?: string;
  created_at: Date;
  body: { buffer: Uint8Array };
  status: DeliveryStatus;
  /**
   * The integration's id; only while pending. The index on this and `next_attempt_at` contains only pending deliveries.
   */
  lane?: string;
  /** The integration's id, until the holder of its partition, which is another process, has begun it. */
  fresh?: string;
  /** Whether it is attempted even while the circuit breaker is open; only while fresh. */
  urgent?: boolean;
  /** When it is due; only while pending. Until the first attempt has failed, a day before `created_at`. */
  next_attempt_at?: Date;
  /** Fencing: a process that reads the delivery to send it sets a stamp, which can only replace a smaller one. */
  stamp: number;
  /** Number of attempts begun. */
  tries: number;
  failures: number;
  /** Outcome of the last attempt that ended. */
  last_outcome?: Outcome;
  finished_at?: Date;
  expires_at?: Date;
}

/** A document of the collection `attempts`, under `<integration id>/<delivery id>/<stamp>`: in the order of its attempts. */
export interface DeliveryAttemptDocument {
  _id: string;
  integration_id: string;
  delivery_id: string;
  number: number;
  at: Date;
  milliseconds: number;
  status?: number;
  error?: SendError;
  certificate_names?: string[];
  /** As those of the response. Absent before this release. */
  request_headers?: string[];
  /** Names and values alternate, because text of receivers must never become the name of a field. */
  response_headers: string[];
  response: { buffer: Uint8Array };
  response_cut: boolean;
  expires_at: Date;
}

/** A first attempt is due immediately, even for a process whose clock is a day slow. Earlier deliveries come first. */
export function firstDue(createdAt: Date): Date {
  return new Date(createdAt.getTime() - 86_400_000);
}

export function fromDeliveryDocument(document: Omit<DeliveryDocument, 'body'>): Delivery {
  const { status, failures, next_attempt_at } = document;
  return {
    id: document._id,
    eventId: document.event_id,
    eventType: document.event_type,
    integrationId: document.integration_id,
    replayId: document.replay_id,
    targetId: document.target_id,
    locationId: document.location_id,
    isTest: document.test,
    status,
    attemptCount: document.tries,
    failures,
    lastOutcome: document.last_outcome,
    eventCreatedAt: document.event_created_at,
    traceparent: document.traceparent,
    createdAt: document.created_at,
    nextAttemptAt: status === 'pending' && failures > 0 ? next_attempt_at : undefined,
    finishedAt: document.finished_at,
  };
}

export function attemptId(integrationId: string, deliveryId: string, stamp: number): string {
  return `${integrationId}/${deliveryId}/${String(stamp).padStart(16, '0')}`;
}

export function toPairs(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat();
}

export function fromPairs(pairs: readonly string[]): Record<string, string> {
  const entries: [string, string][] = [];
  for (let index = 0; index + 1 < pairs.length; index += 2) entries.push([pairs[index] ?? '', pairs[index + 1] ?? '']);
  return Object.fromEntries(entries);
}

export function fromAttemptDocument(document: DeliveryAttemptDocument): Attempt {
  return {
    integrationId: document.integration_id,
    deliveryId: document.delivery_id,
    number: document.number,
    at: document.at,
    milliseconds: document.milliseconds,
    status: document.status,
    error: document.error,
    certificateNames: document.certificate_names ?? [],
    requestHeaders: document.request_headers,
    responseHeaders: fromPairs(document.response_headers),
    response: document.response.buffer,
    responseCut: document.response_cut,
  };
}
