import type { EventType, OutboxEntry } from '../../events/event.ts';
import { outboxCollections, type OutboxCollection, type Relay } from '../../events/outbox.ts';
import type { IntegrationDirectory } from '../../integrations/directory.ts';
import { createBatcher } from '../batcher.ts';
import type { NewDelivery } from '../deliveries/delivery.ts';
import type { DeliveryStore } from '../deliveries/store.ts';
import type { EventStore, StoredEvent } from '../events/store.ts';
import type { WebhookLog, WebhookObserver } from '../observer.ts';
import type { Clock, WebhookTiming } from '../timing.ts';
import { createRejects } from './rejects.ts';
import type { OutboxStore } from './store.ts';

export interface RelayDependencies {
  readonly outboxes: OutboxStore;
  readonly events: EventStore;
  readonly deliveries: DeliveryStore;
  readonly integrations: Pick<IntegrationDirectory, 'subscribers'>;
  /** The bytes that are sent. @throws when the event breaks its published schema */
  readonly serialise: (entry: OutboxEntry) => Uint8Array;
  /** Told of integrations that have something to be sent. */
  readonly nudgeLanes: (integrationIds: ReadonlySet<string>) => void;
  readonly timing: Pick<WebhookTiming, 'poll' | 'retention'>;
  readonly clock: Clock;
  readonly log: WebhookLog;
  readonly observer: WebhookObserver;
}

/** A relay that can be started and stopped. */
export interface RunningRelay extends Relay {
  start(): void;
  /** Finishes what is under way. Events that still wait are relayed by any process later. */
  stop(): Promise<void>;
}

/** Documents that are relayed together. */
const documentsAtOnce = 256;
/** Documents with events that cannot be sent, beyond which a poll looks no further. */
const stuckAtMost = 1_000;

/**
 * Hands events from the outboxes of business documents to the delivery engine. Each step may be repeated, by any number
 * of processes at once and after a crash at any point, and nothing is lost or doubled by it:
 *
 * 1. The waiting events are read first and the subscriptions after, so that whoever subscribed before a change is told
 *    of it.
 * 2. Each event is stored under its id with its recipients. Whoever is first decides them; everyone goes on with what
 *    is stored.
 * 3. For each recipient a delivery is made, under an id that follows from event and integration.
 * 4. Only then the events leave the outbox.
 */
export function createRelay(dependencies: RelayDependencies): RunningRelay {
  const { outboxes, events, deliveries, integrations, serialise, nudgeLanes, timing, clock, log, observer } =
    dependencies;
  const rejects = createRejects(log);
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> | undefined;
  let stopped = false;

  /** @returns those of the documents that still have events waiting */
  const relay = async (collection: OutboxCollection, documentIds: readonly string[]): Promise<string[]> => {
    const holders = await outboxes.read(collection, documentIds);
    const entries = holders.flatMap((holder) => holder.entries);
    if (entries.length === 0) return [];
    const subscribers = await integrations.subscribers(new Set(entries.map(({ type }) => type)));
    const now = clock.now();
    const proposed = entries.flatMap((entry) => toStoredEvent(entry, subscribers) ?? []);
    const stored = await store(proposed, now);
    await deliveries.insertMissing(stored.flatMap(toDeliveries), now);
    const done = new Set(stored.map(({ id }) => id));
    if (done.size > 0) {
      await outboxes.pull(collection, documentIds, [...done]);
      const oldest = Math.min(...stored.map(({ createdAt }) => createdAt.getTime()));
      observer.relayed(stored.length, Math.max(0, now.getTime() - oldest) / 1_000);
    }
    nudgeLanes(new Set(stored.flatMap(({ recipients }) => recipients)));
    return holders.filter((holder) => holder.entries.some(({ id }) => !done.has(id))).map(({ id }) => id);
  };

  const toStoredEvent = (
    entry: OutboxEntry,
    subscribers: ReadonlyMap<EventType, readonly string[]>,
  ): StoredEvent | undefined => {
    const { id, type, targetUuid, targetId, locationId, createdAt } = entry;
    try {
      const body = serialise(entry);
      const recipients = subscribers.get(type) ?? [];
      return { id, type, targetUuid, targetId, locationId, createdAt, body, recipients };
    } catch (error) {
      // It stays where it is: a later version may be able to send it.
      rejects.add(id, type, error);
      return undefined;
    }
  };

  /** Stores events with their recipients. @returns them as they are stored, which someone else may have done before */
  const store = async (proposed: readonly StoredEvent[], now: Date): Promise<StoredEvent[]> => {
    if (proposed.length === 0) return [];
    const taken = new Set(await events.insertMissing(proposed, new Date(now.getTime() + timing.retention)));
    if (taken.size === 0) return [...proposed];
    // One that is not found is not confirmed by a majority yet. It stays in the outbox for the next time.
    return [...proposed.filter(({ id }) => !taken.has(id)), ...(await events.find([...taken]))];
  };

  const batchers = new Map(
    outboxCollections.map((collection) => [
      collection,
      createBatcher<string>(async (documentIds) => {
        try {
          await relay(collection, [...new Set(documentIds)]);
        } catch (error) {
          log.warn({ error, collection }, 'events could not be relayed, they will be tried again');
        }
      }, documentsAtOnce),
    ]),
  );

  /**
   * Finds events whose nudge got lost. Under load a document is often seen on its way through, so only those are
   * relayed that have waited since the poll before, unless there are more than one page of them.
   */
  let seenBefore = new Set<string>();
  const poll = async (): Promise<void> => {
    const seenNow = new Set<string>();
    for (const collection of outboxCollections) {
      const stuck: string[] = [];
      for (let isBacklog = true; isBacklog && !stopped && stuck.length < stuckAtMost;) {
        const ids = await outboxes.waiting(collection, documentsAtOnce, stuck);
        isBacklog = ids.length === documentsAtOnce;
        for (const id of ids) seenNow.add(`${collection} ${id}`);
        const left = ids.filter((id) => isBacklog || seenBefore.has(`${collection} ${id}`));
        if (left.length > 0) stuck.push(...(await relay(collection, left)));
      }
    }
    seenBefore = seenNow;
  };

  const schedulePoll = (): void => {
    timer = setTimeout(() => {
      polling = poll()
        .catch((error: unknown) => {
          log.warn({ error }, 'waiting events could not be looked up, it will be tried again');
        })
        .finally(() => {
          if (!stopped) schedulePoll();
        });
    }, timing.poll);
  };

  return {
    nudge(collection, documentId) {
      if (!stopped) void batchers.get(collection)?.add(documentId);
    },
    async relayNow(collection, documentId) {
      await relay(collection, [documentId]);
    },
    start: schedulePoll,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await Promise.all([polling, ...[...batchers.values()].map((batcher) => batcher.idle())]);
    },
  };
}

function toDeliveries({ id, type, targetUuid, createdAt, body, recipients }: StoredEvent): NewDelivery[] {
  return recipients.map((integrationId) => ({
    eventId: id,
    eventType: type,
    integrationId,
    targetUuid,
    eventCreatedAt: createdAt,
    body,
  }));
}
