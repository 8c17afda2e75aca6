import { deriveUuid } from '../../base/runtime/derived-id.ts';
import type { EventType } from '../events/event.ts';
import type { StoredEvent } from '../events/event-store.ts';
import type { SendError } from '../sending/send-error.ts';

/**
 * `pending`: to be sent, now or later, or held. `delivered`: the receiver answered 2xx. `failed`: the last attempt
 * failed. `expired`: it was dropped, because the integration was inactive for too long.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'expired';

const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const;

/** The outcome of an attempt: the class of the answer's status, or the reason why there was no answer. */
export type Outcome = (typeof statusClasses)[number] | Exclude<SendError, 'aborted'>;

/** One event on its way to one integration. */
export interface Delivery {
  /** A UUID made from event, integration and replay. */
  readonly id: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly integrationId: string;
  readonly replayId: string | undefined;
  readonly targetId: string;
  /** The location of the event; undefined if it has none, or if the delivery is of an earlier release. */
  readonly locationId?: string | undefined;
  /** Whether someone sent it to test the integration. */
  readonly isTest?: boolean | undefined;
  readonly status: DeliveryStatus;
  /** Number of attempts begun. An attempt that a crash interrupted counts here, but not in the schedule. */
  readonly attemptCount: number;
  /** Number of failed attempts. */
  readonly failures: number;
  /** Outcome of the last attempt that ended; undefined before the first. */
  readonly lastOutcome: Outcome | undefined;
  readonly eventCreatedAt: Date;
  /** W3C trace context of the request that caused the event. */
  readonly traceparent?: string | undefined;
  readonly createdAt: Date;
  /** When the next attempt is due; undefined before the first attempt and after the last. */
  readonly nextAttemptAt: Date | undefined;
  readonly finishedAt: Date | undefined;
}

/** A delivery with the body that is sent. */
export interface DeliveryWithBody extends Delivery {
  readonly body: Uint8Array;
}

/** The data of a new delivery. */
export interface NewDelivery {
  readonly eventId: string;
  readonly eventType: EventType;
  readonly integrationId: string;
  readonly replayId?: string | undefined;
  readonly targetId: string;
  readonly locationId?: string | undefined;
  readonly isTest?: boolean | undefined;
  readonly eventCreatedAt: Date;
  readonly traceparent?: string | undefined;
  readonly body: Uint8Array;
}

/** The data of a delivery of an event. @param replayId the replay that sends the event again, if there is one */
export function deliveryOf(event: StoredEvent, integrationId: string, replayId?: string): NewDelivery {
  const { id: eventId, type: eventType, targetId, locationId, isTest, createdAt: eventCreatedAt, traceparent } = event;
  const about = { targetId, locationId, isTest, eventCreatedAt, traceparent };
  return { eventId, eventType, integrationId, replayId, ...about, body: event.body };
}

/** What a caller wants who asks for deliveries. */
export interface DeliveryRequest {
  /** Whether they are attempted now, even while the circuit breaker is open. */
  readonly isUrgent: boolean;
  readonly createdAt?: Date;
}

/**
 * Creates the deliveries that do not exist yet, and sends them. Those of another process are sent by that process.
 * @param request set if a caller asks for them
 * @returns the created ones, before their first attempt
 */
export type CreateDeliveries = (
  deliveries: readonly NewDelivery[],
  request?: DeliveryRequest,
) => Promise<readonly DeliveryWithBody[]>;

/** A delivery as it is created. */
export function newDelivery(delivery: NewDelivery, createdAt: Date): DeliveryWithBody {
  return {
    ...delivery,
    id: deliveryId(delivery),
    replayId: delivery.replayId,
    status: 'pending',
    attemptCount: 0,
    failures: 0,
    lastOutcome: undefined,
    createdAt,
    nextAttemptAt: undefined,
    finishedAt: undefined,
  };
}

/** The record of one attempt. */
export interface Attempt {
  readonly integrationId: string;
  readonly deliveryId: string;
  /** The number of the attempt, from 1. */
  readonly number: number;
  readonly at: Date;
  readonly milliseconds: number;
  /** Status of the HTTP response; undefined if there was none. */
  readonly status: number | undefined;
  /** Why there was no answer, or only a part of it. */
  readonly error: SendError | undefined;
  /** What the certificate of the receiver is for, if it is not for its name. */
  readonly certificateNames: readonly string[];
  /** What `keptHeaders` keeps; undefined of an attempt of an earlier release. */
  readonly requestHeaders: readonly string[] | undefined;
  /** By lower-case name. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The first 16 KiB of the response's body. */
  readonly response: Uint8Array;
  readonly responseCut: boolean;
}

/** An attempt, and the stamp under which it was begun. */
export type StampedAttempt = Attempt & { readonly stamp: number };

/** @see Outcome */
export function outcomeOf({ status, error }: Pick<Attempt, 'status' | 'error'>): Outcome {
  // An aborted attempt has no outcome: it is repeated immediately and not recorded.
  if (status === undefined) return error === undefined || error === 'aborted' ? 'other' : error;
  return statusClasses.find((name) => name.startsWith(String(status).charAt(0))) ?? 'other';
}

/**
 * The id of a delivery. It is the same for the same event, integration and replay, so that a repeated creation does not
 * create a second one.
 */
export function deliveryId({
  eventId,
  integrationId,
  replayId,
}: Pick<NewDelivery, 'eventId' | 'integrationId' | 'replayId'>): string {
  return deriveUuid('delivery', eventId, integrationId, replayId ?? '');
}
