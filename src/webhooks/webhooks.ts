import type { PagedDatabase } from '../storage/db/pages.ts';
import type { CollectionIndexes } from '../storage/db/indexes.ts';
import type { LookUp } from '../base/outbound/look-up.ts';
import type { ProxySettings } from '../base/outbound/proxy.ts';
import type { EventContent } from './events/event.ts';
import type { IntegrationDirectory } from './integrations/directory.ts';
import { soundCondition, type Condition } from './integrations/condition.ts';
import type { Integration } from './integrations/integration.ts';
import { createDeliveries, type Deliveries } from './deliveries/deliveries.ts';
import { createSettlements } from './deliveries/settlements.ts';
import { createDeliveryStore, deliveryIndexes } from './deliveries/delivery-store.ts';
import { WebhookEngine } from './engine.ts';
import { createEventStore, eventIndexes, type EventStore } from './events/event-store.ts';
import { createAlerts, type Alerts } from './alerts/alerts.ts';
import { alertIndexes, createAlertStore } from './alerts/alert-store.ts';
import { createFeed, type Feed } from './feed/feed.ts';
import { createSequencer } from './feed/sequencer.ts';
import { remainingWait } from './lanes/health.ts';
import { createHealthStore, laneIndexes } from './lanes/health-store.ts';
import { createLayoutStore } from './partitions/layout-store.ts';
import { silentObserver, type WebhookLog, type WebhookObserver } from './observer.ts';
import { createRelay, type RunningRelay } from './relay/relay.ts';
import { createOutboxStore } from './relay/outbox-store.ts';
import { createRetention, type Retention } from './retention.ts';
import { createReplays, createReplayWorker, type Replays } from './replays/replays.ts';
import { createReplayStore, replayIndexes } from './replays/replay-store.ts';
import type { AddressRule } from '../base/outbound/address-rules.ts';
import { createSender } from './sending/sender.ts';
import { defaultLimits, defaultTiming, type WebhookLimits, type WebhookTiming } from './timing.ts';
import { measureBacklog } from './waiting/backlog.ts';
import { representFailing } from './webhook-representation.ts';
import { createWaitingStore } from './waiting/waiting-store.ts';
import type { Clock } from '../base/runtime/clock.ts';
import type { Random } from '../base/runtime/random.ts';

export interface WebhookDependencies {
  readonly database: PagedDatabase;
  readonly integrations: IntegrationDirectory;
  /** The bytes of an event. @throws if it does not match its published schema */
  readonly serialise: (event: EventContent) => Uint8Array;
  /** Decides where events may be sent. */
  readonly mayConnect: AddressRule;
  /** Finds the addresses of receivers. */
  readonly lookUp: LookUp;
  /** Through which events are sent; undefined for direct connections. */
  readonly proxy?: ProxySettings | undefined;
  /** The version of this service, for `User-Agent`. */
  readonly version: string;
  readonly log: WebhookLog;
  readonly observer?: WebhookObserver;
  readonly timing?: WebhookTiming;
  readonly limits?: WebhookLimits;
  readonly clock: Clock;
  readonly random: Random;
}

/** Everything that moves events from outboxes to receivers. */
export interface Webhooks {
  readonly relay: RunningRelay;
  readonly engine: WebhookEngine;
  readonly deliveries: Deliveries;
  readonly replays: Replays;
  readonly retention: Retention;
  readonly latestEvents: EventStore['latest'];
  readonly feed: Feed;
  readonly alerts: Alerts;
  /** Removes what is no longer kept of the feed. */
  shortenFeed(): Promise<void>;
  /** The condition of a receiver under its current settings, and its waiting deliveries. */
  condition(integration: Integration): Promise<Condition>;
  /** The condition of receivers, by the ids of their integrations, without waiting deliveries. */
  conditions(integrations: readonly Integration[]): Promise<ReadonlyMap<string, Condition>>;
  /** Ids of integrations whose last attempt failed, some seconds ago. */
  failing(limit: number): Promise<readonly string[]>;
  /** Reports the waiting deliveries of all integrations. */
  measureBacklog(): Promise<void>;
  /**
   * Places events in the feed and makes deliveries of them.
   * @param sends whether this process sends deliveries, too; those that it makes wait for one that does
   */
  start(sends?: boolean): void;
  /** Finishes work in progress within this many milliseconds, and leaves the rest to other processes. */
  stop(timeoutMs: number): Promise<void>;
}

export const webhookIndexes: readonly CollectionIndexes[] = [
  eventIndexes,
  ...deliveryIndexes,
  replayIndexes,
  laneIndexes,
  alertIndexes,
];

/** Creates relay, delivery engine and their stores. */
export function createWebhooks(dependencies: WebhookDependencies): Webhooks {
  const { database, integrations, serialise, mayConnect, lookUp, proxy, version, log } = dependencies;
  const { observer = silentObserver, timing = defaultTiming, limits = defaultLimits } = dependencies;
  const { clock, random } = dependencies;
  const events = createEventStore(database);
  const deliveries = createDeliveryStore(database);
  const health = createHealthStore(database);
  const replayStore = createReplayStore(database);
  const waitingStore = createWaitingStore(database);
  const common = { events, deliveries, integrations, timing, clock, log, observer };
  const worker = createReplayWorker({ ...common, replays: replayStore });
  const engine = new WebhookEngine({
    ...common,
    layout: createLayoutStore(database),
    health,
    settlements: createSettlements(deliveries, timing, clock, log),
    sender: createSender({ mayConnect, lookUp, proxy, timing, limits }),
    replays: worker,
    version,
    limits,
    random,
  });
  const replays = createReplays({ ...common, replays: replayStore, worker, engine });
  const { feed, blocks, tail } = createFeed(database, events, log);
  const sequencer = createSequencer({ ...common, blocks, onBlock: tail.nudge });
  const relay = createRelay({
    ...common,
    onStored: () => {
      sequencer.nudge();
    },
    outboxes: createOutboxStore(database),
    serialise,
    engine,
  });
  const conditions = async (wanted: readonly Integration[]): Promise<ReadonlyMap<string, Condition>> => {
    const ids = wanted.map(({ id }) => id);
    const now = clock.now();
    const found = await health.find(ids);
    return new Map(
      wanted.map(({ id, settingsRevision, status }): [string, Condition] => {
        const { health: known, activity } = engine.stateOf(id) ?? found.get(id) ?? { health: undefined, activity: {} };
        if (known?.settingsRevision !== settingsRevision) return [id, { ...soundCondition, ...activity }];
        const wait = status === 'active' ? remainingWait(known, now, timing.breaker.longestOpen) : 0;
        const { failuresInARow: consecutiveFailures, lastFailure, failingSince } = known;
        const retryingUntil = wait > 0 ? new Date(now.getTime() + wait) : undefined;
        const failing = { consecutiveFailures, lastFailure, failingSince, retryingUntil };
        return [id, { ...soundCondition, ...activity, ...failing }];
      }),
    );
  };
  const findFailing = async (integration: Integration): Promise<Condition['failingDelivery']> => {
    const list = deliveries.list({ integrationId: integration.id, hasFailed: true });
    const [newest] = await Array.fromAsync(list.entries({ offset: 0 }, 1));
    const delivery = newest?.[1];
    const attempt = delivery && (await deliveries.attempts(delivery)).at(-1);
    return attempt && representFailing(delivery, attempt, integration);
  };
  return {
    relay,
    engine,
    deliveries: createDeliveries({ ...common, replays, serialise, create: engine.create }),
    replays,
    latestEvents: (types, locations, limit) => events.latest(types, locations, limit),
    retention: createRetention({ ...common, health, replays: replayStore }),
    feed,
    alerts: createAlerts({
      ...{
        alerts: createAlertStore(database),
        health,
        integrations,
        waiting: waitingStore,
        relay,
        timing,
        clock,
        random,
      },
    }),
    shortenFeed: () => sequencer.removeOld(),
    conditions,
    failing: (limit) => health.failing(limit),
    async condition(integration) {
      const { id } = integration;
      const [known, waiting] = await Promise.all([conditions([integration]), waitingStore.find(id, clock.now())]);
      const condition = known.get(id) ?? soundCondition;
      if (condition.lastFailure === undefined) return { ...condition, waiting };
      return { ...condition, waiting, failingDelivery: await findFailing(integration) };
    },
    measureBacklog: () => measureBacklog({ ...common, conditions, waiting: waitingStore }),
    start(sends = true) {
      relay.start();
      sequencer.start();
      if (sends) engine.start();
    },
    async stop(timeoutMs) {
      const end = clock.monotonic() + timeoutMs;
      await relay.stop();
      const left = Math.max(0, end - clock.monotonic());
      await Promise.all([sequencer.stop(), tail.stop(), engine.stop(left)]);
    },
  };
}
