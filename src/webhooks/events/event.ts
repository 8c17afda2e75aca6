import type { EventType } from '../../../generated/events.ts';

export type { EventType } from '../../../generated/events.ts';

/** An event before it is serialised. It is complete: no data is added later. */
export interface EventContent {
  /** UUID of the event: the `webhook-id` of every attempt to deliver it. */
  readonly id: string;
  readonly type: EventType;
  /** Id of what the event is about: a UUID, except a category's. */
  readonly targetId: string;
  /** The location where it happened; undefined if it belongs to none, as events of budgets and test events do. */
  readonly locationId: string | undefined;
  /** Its name at that time, if it is known. */
  readonly locationName?: string | undefined;
  readonly createdAt: Date;
  /** W3C trace context of the request that caused it. Its deliveries continue it. */
  readonly traceparent?: string | undefined;
  /** Whether someone sends it to test an integration. Its payload says so, unless its type does. */
  readonly isTest?: boolean | undefined;
  /** The event's `data` without `locationId`. Its shape depends on the type. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event in the outbox of the document whose change it announces. */
export type OutboxEntry = EventContent;
