import type { EventPayloads } from '../generated/events.ts';

/** Each event that this release of the package knows, by its type. */
export type KnownEvents = EventPayloads;

export type EventType = keyof KnownEvents;
export type KnownEvent = KnownEvents[EventType];

declare const otherType: unique symbol;

/**
 * A type that this release of the package does not know. The value is the received text; `String(event.type)` returns
 * it as a string. (If this were `string`, the compiler could not narrow the known types by `event.type`.)
 */
export interface OtherEventType {
  readonly [otherType]: true;
  toString(): string;
}

/** An event of a type that a later release of the service added. It is passed on unchanged. */
export interface OtherEvent {
  readonly type: OtherEventType;
  readonly id: string;
  readonly createdAt: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** The body of a delivery, narrowed by `type`. */
export type WebhookEvent = KnownEvent | OtherEvent;
