import type { EventType } from '../../events/event.ts';
import type { SendError } from '../sending/send-error.ts';
import type { Attempt, Delivery, DeliveryStatus, Outcome } from './delivery.ts';

/** A document of the collection `deliveries`. */
export interface DeliveryDocument {
  _id: string;
  event_id: string;
  event_type: EventType;
  integration_id: string;
  replay_id?: string;
  target_uuid?: string;
  event_created_at: Date;
  traceparent?: string;
  created_at: Date;
  body: { buffer: Uint8Array };
  status: DeliveryStatus;
  /** The integration's id; only while pending. With `next_attempt_at` the index of what is due, and of nothing else. */
  lane?: string;
  /** When it is due; only while pending. A day before `created_at` until the first attempt failed. */
  next_attempt_at?: Date;
  /** Fencing: a process that reads the delivery to send it sets a stamp, and only over a smaller stamp. */
  stamp: number;
  /** How many attempts were begun. The name is kept because documents have it. */
  tries: number;
  failures: number;
  /** Of the last attempt that ended. */
  last_outcome?: Outcome;
  /** The integration's id; of one delivery in 64. */
  sample?: string;
  /** The same, only while pending. */
  lane_sample?: string;
  finished_at?: Date;
  expires_at?: Date;
}

/** A document of the collection `attempts`, under `<integration id>/<delivery id>/<stamp>`: in the order of its attempts. */
export interface AttemptDocument {
  _id: string;
  integration_id: string;
  delivery_id: string;
  number: number;
  at: Date;
  milliseconds: number;
  status?: number;
  error?: SendError;
  /** Names and values alternating: a receiver's choice is never the name of a field. */
  response_headers: string[];
  response: { buffer: Uint8Array };
  response_cut: boolean;
  expires_at: Date;
}

/**
 * A first attempt is due at once by the clock of any process, be it a day slow; among themselves the earlier made go first.
 */
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
    targetUuid: document.target_uuid,
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

function fromPairs(pairs: readonly string[]): Record<string, string> {
  const entries: [string, string][] = [];
  for (let index = 0; index + 1 < pairs.length; index += 2) entries.push([pairs[index] ?? '', pairs[index + 1] ?? '']);
  return Object.fromEntries(entries);
}

export function fromAttemptDocument(document: AttemptDocument): Attempt {
  return {
    integrationId: document.integration_id,
    deliveryId: document.delivery_id,
    number: document.number,
    at: document.at,
    milliseconds: document.milliseconds,
    status: document.status,
    error: document.error,
    responseHeaders: fromPairs(document.response_headers),
    response: document.response.buffer,
    responseCut: document.response_cut,
  };
}
