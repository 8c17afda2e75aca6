import { isOutage, throwFailures, type Failure } from '../../base/errors/outage.ts';
import type { EventType } from '../events/event.ts';
import { receivedBy, type IntegrationDirectory } from '../integrations/directory.ts';
import {
  deliveryId,
  deliveryOf,
  type CreateDeliveries,
  type Delivery,
  type DeliveryRequest,
  type DeliveryStatus,
  type DeliveryWithBody,
  type NewDelivery,
} from '../deliveries/delivery.ts';
import type { DeliveryStore } from '../deliveries/delivery-store.ts';
import type { Listing } from '../../base/lists/listing.ts';
import type { EventPosition, EventStore, StoredEvent } from '../events/event-store.ts';
import type { WebhookTiming } from '../timing.ts';
import type { Replay } from './replay.ts';
import type { ReplayStore } from './replay-store.ts';
import type { Clock } from '../../base/runtime/clock.ts';

/** Sends events to an integration again. */
export interface Replays {
  /**
   * Starts to send the events of a time span that the integration receives by its settings at the time of each page.
   * This continues in the background and after restarts.
   * @param request with an id chosen before; a repetition finds the replay that was begun
   */
  beginSpan(request: {
    readonly id: string;
    readonly integrationId: string;
    readonly since: Date;
    readonly until: Date;
    readonly types: readonly EventType[];
    /** Only events whose delivery failed or expired, and was not made up for. */
    readonly only?: 'failed' | undefined;
  }): Promise<Replay>;
  /**
   * Sends the event of one delivery again, in a new delivery, which exists when this resolves. @returns the new delivery
   */
  resend(request: {
    readonly id: string;
    readonly delivery: Delivery;
    /** Attempts it now, even while the circuit breaker is open. */
    readonly isUrgent: boolean;
  }): Promise<DeliveryWithBody | undefined>;
  find(id: string): Promise<Replay | undefined>;
  /** Newest first, including resends. @param status only those that have it */
  list(integrationId: string, status: Replay['status'] | undefined): Listing<Replay>;
}

/** The work of replays, page by page. */
export interface ReplayWorker {
  /**
   * Creates the next page of deliveries of an integration's running replays. @returns whether there can be more
   * @throws {Error} with the ids of replays, if none of those that run can be continued; {ProblemError} an outage
   */
  continue(integrationId: string, create: CreateDeliveries): Promise<boolean>;
  /** Creates the next page of deliveries of a replay. @returns the created ones */
  workOff(replay: Replay, create: CreateDeliveries, request?: DeliveryRequest): Promise<readonly DeliveryWithBody[]>;
  /** Integrations that have running replays. */
  waiting(): Promise<readonly string[]>;
}

export interface WorkerDependencies {
  readonly replays: ReplayStore;
  readonly events: EventStore;
  readonly deliveries: Pick<DeliveryStore, 'find' | 'ends' | 'markReplayed'>;
  readonly integrations: Pick<IntegrationDirectory, 'find'>;
  readonly timing: Pick<WebhookTiming, 'retention'>;
  readonly clock: Clock;
}

export interface ReplayDependencies {
  readonly replays: ReplayStore;
  readonly deliveries: Pick<DeliveryStore, 'find'>;
  readonly worker: ReplayWorker;
  readonly engine: {
    readonly create: CreateDeliveries;
    /** Called with an integration that has a running replay. */
    nudge(integrationId: string): void;
  };
  readonly clock: Clock;
}

/**
 * Events that become deliveries together. The next page follows after these are sent, so a long span does not cause
 * overload.
 */
const pageSize = 200;
const integrationsAtOnce = 1_000;
/** Running replays of an integration, one of which is continued. */
const replaysAtOnce = 100;

export function createReplayWorker(dependencies: WorkerDependencies): ReplayWorker {
  const { replays, events, deliveries, integrations, timing, clock } = dependencies;
  /** Replays that failed with an unexpected error. The others are continued before them. */
  const failed = new Set<string>();
  const rankOf = ({ id }: Replay): number => (failed.has(id) ? 1 : 0);

  /** The events whose first delivery failed or expired, and whose last replay did not make up for it. */
  const withoutMadeUpFor = async (
    found: readonly StoredEvent[],
    { id: replayId, integrationId }: Replay,
  ): Promise<StoredEvent[]> => {
    const firsts = await deliveries.ends(found.map(({ id: eventId }) => deliveryId({ eventId, integrationId })));
    const failed = found.flatMap((event) => {
      const first = firsts.get(deliveryId({ eventId: event.id, integrationId }));
      if (first === undefined || !isFailure(first.status)) return [];
      // After a crash this replay may be the last one.
      const last = first.replayId === undefined || first.replayId === replayId ? undefined : first.replayId;
      return [{ event, last: last && deliveryId({ eventId: event.id, integrationId, replayId: last }) }];
    });
    const lasts = await deliveries.ends(failed.flatMap(({ last }) => last ?? []));
    return failed
      .filter(({ last }) => last === undefined || isFailure(lasts.get(last)?.status ?? 'failed'))
      .map(({ event }) => event);
  };

  /** The next events of a replay, and its progress after them. */
  const nextPage = async (
    replay: Replay,
  ): Promise<{ page: NewDelivery[]; cursor: EventPosition | undefined; isLast: boolean }> => {
    const { id: replayId, integrationId, source } = replay;
    if (source.kind === 'delivery') {
      const original = await deliveries.find(source.deliveryId);
      const page = original === undefined ? [] : [{ ...original, replayId }];
      return { page, cursor: undefined, isLast: true };
    }
    // No id is smaller than the empty one, so the span begins with its first instant.
    const position = source.cursor ?? { createdAt: source.since, id: '' };
    // Read for each page, and before the events: its filter is only checked against its own types.
    const [integration] = await integrations.find([integrationId]);
    // Nothing is sent to one that was deleted.
    if (integration === undefined) return { page: [], cursor: source.cursor, isLast: true };
    const { events: found, next } = await events.listAfter(position, source.until, integration.eventTypes, pageSize);
    // As the relay, it tells an integration nothing about itself.
    const others = found.filter(({ targetId }) => targetId !== integrationId);
    const received = receivedBy(integration, others);
    const owed = source.only === undefined ? received : await withoutMadeUpFor(received, replay);
    return {
      page: owed.map((event) => deliveryOf(event, integrationId, replayId)),
      cursor: next ?? source.cursor,
      isLast: next === undefined,
    };
  };

  const workOff: ReplayWorker['workOff'] = async (replay, create, request) => {
    const { page, cursor, isLast } = await nextPage(replay);
    // Deliveries come first: after a crash the same ones are created again.
    const created = await create(page, request);
    await deliveries.markReplayed(
      page.map(({ eventId, integrationId }) => deliveryId({ eventId, integrationId })),
      replay.id,
    );
    const finishedAt = isLast ? clock.now() : undefined;
    const expiresAt = finishedAt === undefined ? undefined : new Date(finishedAt.getTime() + timing.retention);
    await replays.advance(replay, { cursor, deliveries: replay.deliveries + page.length, finishedAt }, expiresAt);
    return created;
  };

  return {
    workOff,
    async continue(integrationId, create) {
      const running = await replays.runningOf(integrationId, replaysAtOnce);
      const failures: Failure[] = [];
      for (const replay of running.toSorted((one, other) => rankOf(one) - rankOf(other))) {
        try {
          await workOff(replay, create);
          failed.delete(replay.id);
          return true;
        } catch (error) {
          if (isOutage(error)) throw error;
          failed.add(replay.id);
          failures.push({ id: replay.id, error });
        }
      }
      throwFailures(failures);
      return false;
    },
    waiting: () => replays.integrationsWithRunning(integrationsAtOnce),
  };
}

export function createReplays({ replays, deliveries, worker, engine, clock }: ReplayDependencies): Replays {
  const begin = async (id: string, integrationId: string, source: Replay['source']): Promise<Replay> => {
    const createdAt = clock.now();
    const replay: Replay = {
      id,
      integrationId,
      source,
      status: 'running',
      deliveries: 0,
      revision: 1,
      createdAt,
      finishedAt: undefined,
    };
    const isNew = await replays.insert(replay);
    return isNew ? replay : ((await replays.find(id)) ?? replay);
  };

  return {
    async beginSpan({ id, integrationId, since, until, types, only }) {
      const replay = await begin(id, integrationId, { kind: 'span', since, until, types, only, cursor: undefined });
      engine.nudge(integrationId);
      return replay;
    },
    async resend({ id, delivery: { id: originalId, eventId, integrationId }, isUrgent }) {
      const replay = await begin(id, integrationId, { kind: 'delivery', deliveryId: originalId });
      // After a crash here, the lane of the integration creates them.
      const [created] = replay.status === 'running' ? await worker.workOff(replay, engine.create, { isUrgent }) : [];
      return created ?? deliveries.find(deliveryId({ eventId, integrationId, replayId: id }));
    },
    find: (id) => replays.find(id),
    list: (integrationId, status) => replays.list(integrationId, status),
  };
}

function isFailure(status: DeliveryStatus): boolean {
  return status === 'failed' || status === 'expired';
}
