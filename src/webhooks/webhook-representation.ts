import { createHash } from 'node:crypto';
import type { components } from '../../generated/types.ts';
import { defined } from '../base/runtime/objects.ts';
import type { StoredEvent } from './events/event-store.ts';
import type { Integration } from './integrations/integration.ts';
import { fromPairs } from './deliveries/delivery-documents.ts';
import type { Attempt, Delivery, DeliveryWithBody } from './deliveries/delivery.ts';
import type { DeliveryFilter } from './deliveries/delivery-lists.ts';
import { deliveryHeaders } from './sending/delivery-headers.ts';
import type { Replay } from './replays/replay.ts';

type Schemas = components['schemas'];
/** The status of a delivery in answers and filters. */
export type ShownStatus = Schemas['DeliveryStatus'];
/** `waiting`: pending, retrying or held. */
export type StatusFilter = ShownStatus | 'waiting';

/** A pending delivery of an integration that is not active is held. Another one that has failed is retrying. */
function shownStatus({ status, lastOutcome }: Delivery, integration: Pick<Integration, 'status'>): ShownStatus {
  if (status !== 'pending') return status;
  if (integration.status !== 'active') return 'held';
  return lastOutcome === undefined ? 'pending' : 'retrying';
}

/** What is stored of deliveries that are shown with this status. Those that are held are of inactive integrations. */
export function storedStatus(shown: StatusFilter): Pick<DeliveryFilter, 'status' | 'hasFailed'> {
  if (shown === 'held' || shown === 'waiting') return { status: 'pending' };
  if (shown === 'retrying') return { status: 'pending', hasFailed: true };
  return shown === 'pending' ? { status: 'pending', hasFailed: false } : { status: shown };
}

/** Whether deliveries of an integration can be shown with this status. */
export function canHave(shown: StatusFilter, { status }: Pick<Integration, 'status'>): boolean {
  if (shown === 'held') return status !== 'active';
  return status === 'active' || shown === 'waiting' || storedStatus(shown).status !== 'pending';
}

/** What the representation of a delivery depends on besides the delivery. */
export interface DeliveryState {
  readonly integration: Integration;
  /** When the receiver gets something again, if it gets nothing because it failed. */
  readonly pausedUntil: Date | undefined;
  readonly now: Date;
}

/** When the next attempt is made, as far as is known. What is due is attempted now. */
function nextAttemptAt({ nextAttemptAt: due, createdAt }: Delivery, { pausedUntil, now }: DeliveryState): Date {
  return new Date(Math.max(...[due ?? createdAt, pausedUntil ?? now, now].map(Number)));
}

function isToBeSent(status: ShownStatus): boolean {
  return status === 'pending' || status === 'retrying';
}

/** Why a delivery is not attempted now. */
function heldBy(status: ShownStatus, { pausedUntil }: DeliveryState): Schemas['DeliveryHold'] | undefined {
  if (status === 'held') return 'pause';
  return isToBeSent(status) && pausedUntil !== undefined ? 'breaker' : undefined;
}

/** A delivery as lists show it. Fields that are not set are absent. */
export function representListedDelivery(delivery: Delivery, state: DeliveryState): Schemas['DeliveryListItem'] {
  const { integration } = state;
  const { replayId, targetId, finishedAt } = delivery;
  const status = shownStatus(delivery, integration);
  const hold = heldBy(status, state);
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    target_id: targetId,
    integration_id: delivery.integrationId,
    integration_name: integration.name,
    ...(replayId === undefined ? {} : { replay_id: replayId }),
    ...(delivery.isTest === true && { test: true }),
    status,
    attempt_count: delivery.attemptCount,
    ...(delivery.lastOutcome === undefined ? {} : { last_outcome: delivery.lastOutcome }),
    ...(hold === undefined ? {} : { held_by: hold }),
    ...(isToBeSent(status) ? { next_attempt_at: nextAttemptAt(delivery, state).toISOString() } : {}),
    created_at: delivery.createdAt.toISOString(),
    ...(status === 'delivered' && finishedAt !== undefined ? { delivered_at: finishedAt.toISOString() } : {}),
  };
}

/** A delivery with the body that is sent. */
export function representDelivery(delivery: DeliveryWithBody, state: DeliveryState): Schemas['Delivery'] {
  return {
    ...representListedDelivery(delivery, state),
    body: new TextDecoder().decode(delivery.body),
  };
}

/** One attempt of a delivery. Fields of the answer are absent if there was none. */
export function representAttempt({
  attempt,
  delivery,
}: {
  readonly attempt: Attempt;
  readonly delivery: Delivery;
}): Schemas['Attempt'] {
  const { at, status, error, certificateNames, requestHeaders, responseHeaders, response, responseCut } = attempt;
  return {
    number: attempt.number,
    started_at: at.toISOString(),
    latency_ms: Math.round(attempt.milliseconds),
    // As in the engine, a 2xx status counts even if the rest of the answer was lost.
    succeeded: status !== undefined && status >= 200 && status < 300,
    ...(status === undefined ? {} : { status_code: status }),
    ...(error === undefined ? {} : { error }),
    ...(certificateNames.length > 0 && { certificate_names: [...certificateNames] }),
    ...(requestHeaders !== undefined && {
      request_headers: fromPairs(deliveryHeaders(requestHeaders, delivery, at)),
    }),
    ...(status === undefined
      ? {}
      : {
          response_headers: { ...responseHeaders },
          // As a stream, so that an incomplete character at the end is left out.
          response_body: new TextDecoder().decode(response, { stream: responseCut }),
          response_body_truncated: responseCut,
        }),
  };
}

/** Characters of an answer that an integration shows. */
const shownAnswer = 1_000;

/** A delivery and its last attempt, which failed. */
export function representFailing(
  delivery: Delivery,
  attempt: Attempt,
  integration: Pick<Integration, 'status'>,
): Schemas['FailingDelivery'] {
  const { number, started_at, status_code, error, certificate_names, response_body } = representAttempt({
    attempt,
    delivery,
  });
  return {
    id: delivery.id,
    status: shownStatus(delivery, integration),
    attempt_number: number,
    started_at,
    ...(status_code === undefined ? {} : { status_code }),
    ...(error === undefined ? {} : { error }),
    ...(certificate_names !== undefined && { certificate_names }),
    ...(response_body === undefined
      ? {}
      : {
          response_body: Array.from(response_body.slice(0, 2 * shownAnswer))
            .slice(0, shownAnswer)
            .join(''),
        }),
  };
}

/** An event of which a filter was tried. @param unmatched the paths of its entries that do not match */
export function representFiltered(
  { id, type, targetId, locationId, createdAt }: StoredEvent,
  unmatched: string[],
): Schemas['FilteredEvent'] {
  return defined({
    event_id: id,
    event_type: type,
    target_id: targetId,
    location_id: locationId,
    created_at: createdAt.toISOString(),
    matches: unmatched.length === 0,
    unmatched,
  });
}

export function representReplay(replay: Replay): Schemas['Replay'] {
  const { source, finishedAt } = replay;
  return {
    id: replay.id,
    integration_id: replay.integrationId,
    ...(source.kind === 'delivery'
      ? { delivery_id: source.deliveryId }
      : {
          since: source.since.toISOString(),
          until: source.until.toISOString(),
          ...(source.only === undefined ? {} : { only: source.only }),
        }),
    status: replay.status,
    delivery_count: replay.deliveries,
    progress: progressOf(replay),
    created_at: replay.createdAt.toISOString(),
    ...(finishedAt === undefined ? {} : { finished_at: finishedAt.toISOString() }),
  };
}

/** Events are sent again in the order of their time. */
function progressOf({ status, source }: Replay): number {
  if (status === 'done') return 1;
  if (source.kind === 'delivery' || source.cursor === undefined) return 0;
  const since = source.since.getTime();
  return Math.min(1, (source.cursor.createdAt.getTime() - since) / (source.until.getTime() - since));
}

/**
 * The entity tag of a delivery. It is made from the representation, because the status also depends on the integration.
 */
export function deliveryTag(shown: Schemas['Delivery']): string {
  const digest = createHash('sha256').update(JSON.stringify(shown)).digest('base64url');
  return `"${shown.id}.${digest.slice(0, 16)}"`;
}
