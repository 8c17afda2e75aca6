import { isolateFailures, doForEach } from '../../base/errors/outage.ts';
import type { OutboxEntry } from '../events/event.ts';
import { outboxCollections, type OutboxCollection, type Relay } from '../events/outbox.ts';
import type { Announced, IntegrationDirectory } from '../integrations/directory.ts';
import { createBatcher, type Batcher } from '../batcher.ts';
import { deliveryOf, type NewDelivery } from '../deliveries/delivery.ts';
import type { WebhookEngine } from '../engine.ts';
import { maxRecipients, type EventStore, type StoredEvent } from '../events/event-store.ts';
import type { WebhookLog, WebhookObserver } from '../observer.ts';
import { repeat, type Repetition } from '../repeat.ts';
import type { WebhookTiming } from '../timing.ts';
import type { OutboxStore } from './outbox-store.ts';
import type { Clock } from '../../base/runtime/clock.ts';

export interface RelayDependencies {
  readonly outboxes: OutboxStore;
  readonly events: EventStore;
  readonly integrations: Pick<IntegrationDirectory, 'subscribers'>;
  /** The bytes that are sent. @throws if the event does not match its published schema */
  readonly serialise: (event: OutboxEntry) => Uint8Array;
  /** Called when events were stored. */
  readonly onStored: () => void;
  /** Sends the deliveries that the relay creates. */
  readonly engine: Pick<WebhookEngine, 'create'>;
  readonly timing: Pick<WebhookTiming, 'poll' | 'retention' | 'search'>;
  readonly clock: Clock;
  readonly log: WebhookLog;
  readonly observer: WebhookObserver;
}

/** A document with waiting events. */
interface Nudge {
  readonly id: string;
  /** Undefined if they must be read. */
  readonly entries?: readonly OutboxEntry[] | undefined;
}

/** Events to remove from the outbox of a document. */
interface Pull {
  readonly documentId: string;
  readonly eventIds: readonly string[];
}

/** A relay that can be started and stopped. */
export interface RunningRelay extends Relay {
  start(): void;
  /** Finishes the work in progress. Any process relays the remaining events later. */
  stop(): Promise<void>;
}

/** Documents that are relayed together. */
const documentsAtOnce = 256;
const deliveriesAtOnce = 100;
const partsAtOnce = 2;
/** The most documents that a poll reads past, because their events cannot be sent or are being relayed. */
const maxPassed = 1_000;
/** The most events that cannot be sent that are reported. */
const maxReported = 10_000;

/**
 * Passes events from the outboxes of business documents to the delivery engine. Any number of processes can repeat each
 * step, also after a crash at any point. Nothing is lost or duplicated:
 *
 * 1. The waiting events are known first and the subscriptions are read afterwards, so that an integration that was
 *    created before a change gets its event.
 * 2. Each event is stored under its id with its recipients. The first process decides them; all processes continue with
 *    the stored ones.
 * 3. For each recipient a delivery is created, with an id made from event and integration.
 * 4. Then the events are removed from the outbox.
 */
export function createRelay(dependencies: RelayDependencies): RunningRelay {
  const { outboxes, events, integrations, serialise, engine, onStored, timing, clock, log, observer } = dependencies;
  /** Events that cannot be sent, and documents with such events, and until when no poll relays those. */
  const reported = new Map<string, number>();
  /** Documents that this process relays at present. */
  const underWay = new Set<string>();
  let polling: Repetition | undefined;
  let stopped = false;

  /**
   * @param pull removes events from the outboxes
   * @returns the documents whose events could not be relayed
   */
  const relay = async (
    collection: OutboxCollection,
    nudges: readonly Nudge[],
    pull: (pulls: readonly Pull[]) => Promise<void>,
  ): Promise<string[]> => {
    const keys = nudges.map(({ id }) => keyOf(collection, id));
    for (const key of keys) underWay.add(key);
    const left: string[] = [];
    try {
      await isolateFailures(
        nudges,
        async (some) => {
          left.push(...(await relayAll(collection, some, pull)));
        },
        ({ id }, error) => {
          left.push(id);
          report(keyOf(collection, id), { collection, document_id: id, error });
        },
      );
      return left;
    } finally {
      for (const key of keys) underWay.delete(key);
    }
  };

  const relayAll: typeof relay = async (collection, nudges, pull) => {
    const known = nudges.flatMap(({ id, entries }) => (entries === undefined ? [] : [{ id, entries }]));
    const unread = nudges.flatMap(({ id, entries }) => (entries === undefined ? [id] : []));
    const holders =
      unread.length === 0 ? known : [...known, ...(await outboxes.read(collection, [...new Set(unread)]))];
    const entries = holders.flatMap((holder) => holder.entries);
    if (entries.length === 0) return [];
    const subscribers = await integrations.subscribers(new Set(entries.map(({ type }) => type)));
    const now = clock.now();
    const proposed = entries.flatMap((entry) => toStoredEvent(entry, subscribers) ?? []);
    const stored = await store(proposed, now);
    if (stored.length > 0) onStored();
    await deliver(stored.flatMap(toDeliveries));
    const done = new Set(stored.map(({ id }) => id));
    if (done.size > 0) {
      await pull(
        holders.map((holder) => ({
          documentId: holder.id,
          eventIds: holder.entries.flatMap(({ id }) => (done.has(id) ? [id] : [])),
        })),
      );
      const oldest = Math.min(...stored.map(({ createdAt }) => createdAt.getTime()));
      observer.relayed(stored.length, Math.max(0, now.getTime() - oldest) / 1_000);
    }
    return holders.filter((holder) => holder.entries.some(({ id }) => !done.has(id))).map(({ id }) => id);
  };

  /** In parts, so that the first ones are sent while the others are created. */
  const deliver = async (added: readonly NewDelivery[]): Promise<void> => {
    let start = 0;
    const createSome = async (): Promise<void> => {
      while (start < added.length) await engine.create(added.slice(start, (start += deliveriesAtOnce)));
    };
    await Promise.all(Array.from({ length: partsAtOnce }, createSome));
  };

  const pullNow = async (collection: OutboxCollection, pulls: readonly Pull[]): Promise<void> => {
    const documentIds = pulls.map(({ documentId }) => documentId);
    const eventIds = pulls.flatMap((each) => each.eventIds);
    if (eventIds.length > 0) await outboxes.pull(collection, documentIds, eventIds);
  };

  const toStoredEvent = (
    entry: OutboxEntry,
    subscribers: (event: Announced) => readonly string[],
  ): StoredEvent | undefined => {
    const { id, type, targetId, locationId, createdAt, traceparent } = entry;
    try {
      const body = serialise(entry);
      // An integration is not told about itself.
      const recipients = subscribers({ type, locationId, body }).filter((integrationId) => integrationId !== targetId);
      if (recipients.length > maxRecipients) throw new Error(`it has ${recipients.length} recipients`);
      return { id, type, targetId, locationId, createdAt, traceparent, body, recipients };
    } catch (error) {
      report(id, { event_id: id, event_type: type, error });
      return undefined;
    }
  };

  /** It stays in the outbox: a later attempt, or a later version, may be able to send it. Each is logged once. */
  const report = (key: string, fields: Record<string, unknown>): void => {
    const isKnown = reported.has(key);
    if (!isKnown && reported.size >= maxReported) return;
    reported.set(key, clock.monotonic() + timing.search);
    if (isKnown) return;
    log.error(fields, 'an event cannot be sent; it stays in its outbox');
  };

  /** Stores events with their recipients. @returns the stored events; another process may have stored them before */
  const store = async (proposed: readonly StoredEvent[], now: Date): Promise<StoredEvent[]> => {
    if (proposed.length === 0) return [];
    const taken = new Set(await events.insertMissing(proposed, new Date(now.getTime() + timing.retention)));
    if (taken.size === 0) return [...proposed];
    // An event that is not found is not yet confirmed by a majority. It stays in the outbox for the next time.
    return [...proposed.filter(({ id }) => !taken.has(id)), ...(await events.find([...taken]))];
  };

  /** Runs work for documents in batches. The poll finds what failed. */
  const batcherFor = <Item>(work: (collection: OutboxCollection, items: readonly Item[]) => Promise<unknown>) =>
    new Map(
      outboxCollections.map((collection): [OutboxCollection, Batcher<Item>] => [
        collection,
        createBatcher<Item>(async (items) => {
          try {
            await work(collection, items);
          } catch (error) {
            log.warn({ error, collection }, 'events could not be relayed; retrying');
          }
        }, documentsAtOnce),
      ]),
    );

  // No caller waits for this: until the events are removed, relaying them again changes nothing.
  const pulling = batcherFor<Pull>(pullNow);
  const pullSoon = (collection: OutboxCollection, pulls: readonly Pull[]): Promise<void> => {
    for (const pull of pulls) void pulling.get(collection)?.add(pull);
    return Promise.resolve();
  };
  const relaying = batcherFor<Nudge>((collection, nudges) =>
    relay(collection, nudges, (pulls) => pullSoon(collection, pulls)),
  );

  /**
   * Finds events whose nudge was lost. Under load a poll often reads documents that are about to be relayed, so it
   * relays only those that also waited at the previous poll, unless there is more than one page of them. It passes over
   * those that are being relayed: an event with many recipients takes seconds, and a repetition would double them.
   */
  let seenBefore = new Set<string>();
  const poll = async (): Promise<void> => {
    const seenNow = new Set<string>();
    let count = 0;
    const pollOne = async (collection: OutboxCollection): Promise<void> => {
      const passed: string[] = [];
      for (let isBacklog = true; isBacklog && !stopped && passed.length < maxPassed;) {
        const ids = await outboxes.waiting(collection, documentsAtOnce, passed);
        isBacklog = ids.length === documentsAtOnce;
        count += ids.length;
        const now = clock.monotonic();
        const isPassed = (id: string): boolean => {
          const key = keyOf(collection, id);
          return underWay.has(key) || (reported.get(key) ?? -Infinity) > now;
        };
        passed.push(...ids.filter(isPassed));
        const idle = ids.filter((id) => !isPassed(id));
        for (const id of idle) seenNow.add(keyOf(collection, id));
        const left = idle.filter((id) => isBacklog || seenBefore.has(keyOf(collection, id))).map((id) => ({ id }));
        if (left.length > 0) passed.push(...(await relay(collection, left, (pulls) => pullNow(collection, pulls))));
      }
    };
    try {
      await doForEach(outboxCollections, pollOne);
    } finally {
      seenBefore = seenNow;
    }
    observer.outboxesWaiting(count);
  };

  return {
    nudge(collection, id, entries) {
      if (!stopped) void relaying.get(collection)?.add({ id, entries });
    },
    async relayNow(collection, id) {
      await relay(collection, [{ id }], (pulls) => pullNow(collection, pulls));
    },
    start() {
      const onFailure = (error: unknown): void => {
        log.warn({ error }, 'waiting events could not be read; retrying');
      };
      polling = repeat(poll, () => timing.poll, onFailure);
    },
    async stop() {
      stopped = true;
      await Promise.all([polling?.end(), ...[...relaying.values()].map((batcher) => batcher.idle())]);
      await Promise.all([...pulling.values()].map((batcher) => batcher.idle()));
    },
  };
}

function toDeliveries(event: StoredEvent): NewDelivery[] {
  return event.recipients.map((integrationId) => deliveryOf(event, integrationId));
}

function keyOf(collection: OutboxCollection, documentId: string): string {
  return `${collection} ${documentId}`;
}
