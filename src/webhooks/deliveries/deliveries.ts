import { ProblemError } from '../../base/errors/problem-error.ts';
import type { EventContent } from '../events/event.ts';
import type { EventStore } from '../events/event-store.ts';
import type { Replays } from '../replays/replays.ts';
import type { WebhookTiming } from '../timing.ts';
import { emptyListing, type Listing } from '../../base/lists/listing.ts';
import {
  deliveryId,
  deliveryOf,
  type Attempt,
  type CreateDeliveries,
  type Delivery,
  type DeliveryWithBody,
} from './delivery.ts';
import type { DeliveryFilter } from './delivery-lists.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { Clock } from '../../base/runtime/clock.ts';

/** Reads deliveries, and creates deliveries on request. */
export interface Deliveries {
  /** @throws {ProblemError} delivery-not-found */
  get(id: string): Promise<DeliveryWithBody>;
  /** Newest first, without bodies. Of an event, none are found after it was removed. */
  list(filter: DeliveryFilter): Promise<Listing<Delivery>>;
  /** The attempts of a delivery, the first one first. @throws {ProblemError} delivery-not-found */
  attempts(id: string): Promise<Attempt[]>;
  /**
   * Sends the event of a delivery with any status again.
   *
   * @param replayId chosen before; a repetition with the same id finds the delivery that was created
   * @param isUrgent attempts it now, even while the circuit breaker is open
   * @throws {ProblemError} delivery-not-found
   */
  resend(id: string, replayId: string, isUrgent: boolean): Promise<DeliveryWithBody>;
  /**
   * Sends a test event to one existing integration. If that is not active, the event is held like any other.
   *
   * @param eventId chosen before; a repetition with the same id finds the delivery that was created
   */
  sendTest(
    integrationId: string,
    content: Omit<EventContent, 'id' | 'createdAt' | 'traceparent'>,
    eventId: string,
    traceparent?: string,
  ): Promise<DeliveryWithBody>;
}

export interface DeliveriesDependencies {
  readonly deliveries: Pick<DeliveryStore, 'find' | 'list' | 'attempts'>;
  readonly events: EventStore;
  readonly replays: Replays;
  readonly serialise: (event: EventContent) => Uint8Array;
  readonly create: CreateDeliveries;
  readonly timing: Pick<WebhookTiming, 'retention'>;
  readonly clock: Clock;
}

export function createDeliveries(dependencies: DeliveriesDependencies): Deliveries {
  const { deliveries, events, replays, serialise, create, timing, clock } = dependencies;
  const get = async (id: string): Promise<DeliveryWithBody> => (await deliveries.find(id)) ?? missing(id);

  return {
    get,
    async list(filter) {
      const { eventId, targetId } = filter;
      if (eventId === undefined) return deliveries.list(filter);
      // They have the event's target, which has an index. One of events would cost each delivery at its insertion.
      const [event] = await events.find([eventId]);
      if (event === undefined || (targetId !== undefined && targetId !== event.targetId)) return emptyListing;
      return deliveries.list({ ...filter, targetId: event.targetId });
    },
    async attempts(id) {
      return deliveries.attempts(await get(id));
    },
    async resend(id, replayId, isUrgent) {
      return (await replays.resend({ id: replayId, delivery: await get(id), isUrgent })) ?? missing(id);
    },
    async sendTest(integrationId, sample, eventId, traceparent) {
      const createdAt = clock.now();
      const content: EventContent = { ...sample, id: eventId, createdAt, traceparent };
      const event = { ...content, body: serialise(content), recipients: [integrationId] };
      await events.insertMissing([event], new Date(createdAt.getTime() + timing.retention));
      const [stored = event] = await events.find([eventId]);
      const delivery = deliveryOf(stored, integrationId);
      const [created] = await create([delivery], { isUrgent: true, createdAt });
      return created ?? get(deliveryId(delivery));
    },
  };
}

function missing(id: string): never {
  throw new ProblemError('delivery-not-found', { detail: `No delivery has the id ${id}.` });
}
