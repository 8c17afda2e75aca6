/** What an event announces. A `TEST` event announces nothing: it tries out an integration. */
export type EventType = 'ORDER_PLACED' | 'PRODUCT_UPDATED' | 'CATEGORY_UPDATED' | 'FISCAL_DAY_END' | 'TEST';

/** An event as it waits in the outbox of the document whose change it announces. Complete: nothing is looked up later. */
export interface OutboxEntry {
  /** UUID of the event: the `webhook-id` of every try to deliver it. */
  readonly id: string;
  readonly type: EventType;
  /** UUID of the resource that the event is about, where it has one. */
  readonly targetUuid: string | undefined;
  /** Id of a resource that has no UUID: a category's. */
  readonly targetId: string | undefined;
  /** The location that it happened at. */
  readonly locationId: string;
  readonly createdAt: Date;
  /** The event's `data`. Its shape depends on the type. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event as receivers see it, before it is serialised. */
export interface EventPayload {
  readonly type: EventType;
  /** `null` says that the resource has no UUID; `targetId` then names it. */
  readonly targetUuid?: string | null;
  readonly targetId?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The payload of an event. Members are in the order of the published documentation. */
export function toPayload({ type, targetUuid, targetId, createdAt, data }: OutboxEntry): EventPayload {
  return { type, ...target(targetUuid, targetId), createdAt: createdAt.toISOString(), data };
}

function target(targetUuid: string | undefined, targetId: string | undefined): Partial<EventPayload> {
  if (targetUuid !== undefined) return { targetUuid };
  return targetId === undefined ? {} : { targetUuid: null, targetId };
}
