import type { IntegrationDirectory, ReceiverSettings } from '../integrations/directory.ts';
import { within } from '../runtime/within.ts';
import { deliveryId, type NewDelivery } from './deliveries/delivery.ts';
import type { DeliveryStore } from './deliveries/delivery-store.ts';
import type { Settlements } from './deliveries/settlements.ts';
import { remainingWait } from './lanes/health.ts';
import { createDueTimes } from './lanes/due-times.ts';
import { runLane, type LaneDependencies, type RunningLane } from './lanes/lane.ts';
import { createLaneWatch } from './lanes/lane-lease.ts';
import type { Lane, LaneStore } from './lanes/lane-store.ts';
import type { WebhookLog, WebhookObserver } from './observer.ts';
import type { ReplayWorker } from './replays/replays.ts';
import type { Sender } from './sending/sender.ts';
import type { WebhookLimits, WebhookTiming } from './timing.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';

/** Sends deliveries, together with any number of other processes. */
export interface WebhookEngine {
  start(): void;
  /** Waits for requests in progress, at most this many milliseconds, and releases the lanes. */
  stop(timeoutMs: number): Promise<void>;
  /** Call it when an operator has changed the settings of an integration or requested a delivery. */
  nudge(integrationId: string): void;
  /** Attempts this delivery, or everything that is due, now, even while the circuit breaker is open. */
  attemptNow(integrationId: string, deliveryId?: string): void;
  /** Call it when there is something to send to an integration. Nothing is sent while the circuit breaker is open. */
  wake(integrationId: string): void;
  /** Reserves places for deliveries before they are created, in lanes that this process holds. */
  prepare(deliveries: readonly NewDelivery[]): Promise<PreparedDeliveries>;
}

/** Reserved places for deliveries that will be created. */
export interface PreparedDeliveries {
  /** The stamps for the deliveries that are sent immediately, by id. */
  readonly stamps: ReadonlyMap<string, number>;
  /** The deliveries are created. @param existing deliveries of another process, which sends them */
  made(existing: ReadonlySet<string>): void;
  /** It is not known whether they were created. */
  failed(): void;
}

export interface EngineDependencies {
  readonly lanes: LaneStore;
  readonly deliveries: DeliveryStore;
  readonly integrations: IntegrationDirectory;
  readonly settlements: Settlements;
  readonly sender: Sender;
  readonly replays: ReplayWorker;
  readonly version: string;
  readonly timing: WebhookTiming;
  readonly limits: Pick<WebhookLimits, 'perReceiver' | 'inAll'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: WebhookLog;
  readonly observer: WebhookObserver;
}

/** Integrations that one poll reads; the next one continues after them. */
const pollBatch = 32;
/** Milliseconds after which a lane of another process is checked once more. */
const contestedMs = 300;

/** The most deliveries of one integration that are remembered for an immediate attempt. */
const maxUrgent = 100;

export function createEngine(dependencies: EngineDependencies): WebhookEngine {
  const { lanes, deliveries, integrations, settlements, sender, replays, timing, limits, clock, log, observer } =
    dependencies;
  /** Unique to this run of this process. */
  const holder = dependencies.random.uuid();
  const watch = createLaneWatch(timing.lease, () => clock.monotonic());
  const running = new Map<string, RunningLane>();
  /** Lanes that are being acquired. Two acquisitions of one process could not distinguish their writes. */
  const acquiring = new Set<string>();
  /** Lanes that were nudged while they ran. They are acquired again after their end. */
  const nudged = new Set<string>();
  /** Lanes that are not looked up before a time on the monotonic clock. */
  const notBefore = new Map<string, number>();
  /**
   * Deliveries to attempt immediately, by integration, until its lane has taken them; undefined means everything that
   * is due.
   */
  const urgent = new Map<string, Set<string | undefined>>();
  const dueTimes = createDueTimes();
  /** Integrations that can have running replays. */
  const replaying = new Set<string>();
  const rechecking = new Set<string>();
  let queued = new Set<string>();
  let draining: Promise<void> | undefined;
  let pollCursor = '';
  let stopped = false;
  const timers = new Set<NodeJS.Timeout>();
  const work = new Set<Promise<void>>();

  const laneDependencies: LaneDependencies = {
    ...dependencies,
    share: () => Math.max(1, Math.min(limits.perReceiver, Math.floor(limits.inAll / running.size))),
    scheduleRetry: dueTimes.add,
    async continueReplays(integrationId) {
      if (!replaying.delete(integrationId)) return false;
      const mayBeMore = await replays.continue(integrationId);
      if (mayBeMore) replaying.add(integrationId);
      return mayBeMore;
    },
  };

  /** Acquires the free lanes of these integrations, and sends what is due in them. */
  const acquireLanes = async (ids: readonly string[]): Promise<void> => {
    const now = clock.monotonic();
    const candidates = ids.filter((id) => !running.has(id) && (notBefore.get(id) ?? 0) <= now);
    if (candidates.length === 0) return;
    const [seen, found] = await Promise.all([lanes.find(candidates), integrations.find(candidates)]);
    const known = new Map(found.map((integration) => [integration.id, integration]));
    await Promise.all(
      candidates.map(async (id) => {
        const integration = known.get(id);
        if (integration?.status !== 'active') {
          urgent.delete(id);
          postpone(id, timing.inactive);
          return;
        }
        const lane = underSettings(seen.get(id), integration.settingsRevision);
        const wait =
          lane?.health === undefined ? 0 : remainingWait(lane.health, clock.now(), timing.breaker.longestOpen);
        if (wait > 0 && !urgent.has(id)) postpone(id, wait);
        else if (lane === undefined || mayAcquire(lane)) await acquire(id, lane);
        else recheck(id);
      }),
    );
  };

  /**
   * A lane that this process holds but does not run could not be released during an outage of the database. Everything
   * in it is settled.
   */
  const mayAcquire = (lane: Lane): boolean =>
    (lane.holder === holder && !running.has(lane.integrationId)) || watch.mayAcquire(lane);

  const acquire = async (id: string, seen: Lane | undefined): Promise<void> => {
    if (running.has(id) || acquiring.has(id)) return;
    acquiring.add(id);
    try {
      await acquireLane(id, seen);
    } finally {
      acquiring.delete(id);
    }
  };

  const acquireLane = async (id: string, seen: Lane | undefined): Promise<void> => {
    const leaseEnd = clock.monotonic() + timing.lease;
    const lane = await lanes.acquire(id, seen, holder);
    if (lane === undefined) return;
    if (stopped) {
      await lanes.release(id, lane.token);
      return;
    }
    const runningLane = runLane(lane, leaseEnd, laneDependencies, urgent.get(id));
    urgent.delete(id);
    running.set(id, runningLane);
    observer.lanesHeld(running.size);
    background(
      runningLane.ended.then(({ retryIn: lookAgainIn, wasWoken }) => {
        running.delete(id);
        observer.lanesHeld(running.size);
        if (nudged.delete(id)) enqueue(id);
        else if (lookAgainIn > 0) postpone(id, lookAgainIn);
        else if (wasWoken) enqueue(id);
      }),
    );
  };

  const passOnUrgent = (id: string, lane: RunningLane): void => {
    const requested = [...(urgent.get(id) ?? [])];
    if (requested.every((deliveryId) => lane.attemptNow(deliveryId))) urgent.delete(id);
  };

  /** For a limited time, because another process may know of a change. */
  const postpone = (id: string, milliseconds: number): void => {
    dueTimes.add(id, new Date(clock.now().getTime() + milliseconds));
    notBefore.set(id, clock.monotonic() + Math.min(milliseconds, timing.inactive));
  };

  /** Checks a lane of another process again: its holder may have released it without seeing what is due now. */
  const recheck = (id: string): void => {
    if (rechecking.has(id)) return;
    rechecking.add(id);
    later(contestedMs, () => {
      background(
        deliveries
          .anyDue(id, clock.now())
          .then((isDue) => (isDue ? acquireLanes([id]) : undefined))
          .finally(() => rechecking.delete(id)),
      );
    });
  };

  const enqueue = (id: string): void => {
    if (stopped) return;
    const lane = running.get(id);
    if (lane !== undefined) {
      passOnUrgent(id, lane);
      lane.wake();
      return;
    }
    queued.add(id);
    draining ??= drainQueue();
  };

  /** Nudges that arrive meanwhile are processed together afterwards. */
  const drainQueue = async (): Promise<void> => {
    while (queued.size > 0 && !stopped) {
      const ids = [...queued];
      queued = new Set();
      await acquireLanes(ids).catch((error: unknown) => {
        log.warn({ error }, 'due deliveries could not be read; retrying');
      });
    }
    draining = undefined;
  };

  /**
   * Finds work without a nudge: due retries, and work that other processes left. This process knows the due times of
   * its own lanes and goes through other integrations in rounds. The holder of a lane does the work in it.
   */
  const poll = async (): Promise<void> => {
    for (const lane of running.values()) lane.wake();
    for (const id of dueTimes.takeDue(clock.now())) enqueue(id);
    const [active, withReplays] = await Promise.all([integrations.activeIds(pollCursor, pollBatch), replays.waiting()]);
    pollCursor = active.length < pollBatch ? '' : (active.at(-1) ?? '');
    for (const id of withReplays) replaying.add(id);
    const at = clock.monotonic();
    const others = active.filter((id) => !running.has(id) && (notBefore.get(id) ?? 0) <= at);
    const seen = await lanes.find(others);
    await Promise.all(
      others.map(async (id) => {
        const lane = seen.get(id);
        if (lane !== undefined && !mayAcquire(lane)) return;
        if (replaying.has(id) || (await deliveries.anyDue(id, clock.now()))) enqueue(id);
      }),
    );
  };

  const renew = async (): Promise<void> => {
    // The lanes at this time: when the answer arrives, there can be later ones with the same ids.
    const held = [...running];
    if (held.length === 0) return;
    const end = clock.monotonic() + timing.lease;
    const renewed = await lanes.renew(
      held.map(([id]) => id),
      holder,
    );
    for (const [id, lane] of held) {
      if (renewed.has(id)) lane.renewed(end);
      else lane.lost();
    }
  };

  const background = (task: Promise<unknown>): void => {
    const tracked: Promise<void> = task
      .then(() => undefined)
      .catch((error: unknown) => {
        log.warn({ error }, 'the delivery engine failed; retrying');
      })
      .finally(() => {
        work.delete(tracked);
      });
    work.add(tracked);
  };

  const later = (milliseconds: number, action: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!stopped) action();
    }, milliseconds);
    timers.add(timer);
  };

  /** Repeats work, with a pause after the end of each run. */
  const repeat = (milliseconds: number, action: () => Promise<void>): void => {
    later(milliseconds, () => {
      background(
        action().finally(() => {
          repeat(milliseconds, action);
        }),
      );
    });
  };

  /** Groups deliveries by the running lane that they belong to. */
  const byLane = (prepared: readonly NewDelivery[]): Map<string, NewDelivery[]> => {
    const groups = new Map<string, NewDelivery[]>();
    for (const delivery of prepared) {
      if (!running.has(delivery.integrationId)) continue;
      const group = groups.get(delivery.integrationId);
      if (group === undefined) groups.set(delivery.integrationId, [delivery]);
      else group.push(delivery);
    }
    return groups;
  };

  const prepare = async (prepared: readonly NewDelivery[]): Promise<PreparedDeliveries> => {
    const stamps = new Map<string, number>();
    const reserved: { id: string; lane: RunningLane; begin: () => void }[] = [];
    const groups = byLane(prepared);
    const active = groups.size === 0 ? [] : await integrations.find([...groups.keys()]);
    for (const integration of active) {
      const lane = running.get(integration.id);
      const group = groups.get(integration.id) ?? [];
      if (lane === undefined || integration.status !== 'active') continue;
      let receiver: ReceiverSettings;
      try {
        receiver = integrations.open(integration);
      } catch {
        // The lane finds out the same and reports it.
        continue;
      }
      const reservation = lane.reserve(group.map(deliveryId), integration.settingsRevision);
      if (reservation === undefined) continue;
      const { ids, stamp } = reservation;
      for (const delivery of group) {
        const id = deliveryId(delivery);
        if (!ids.has(id)) continue;
        stamps.set(id, stamp);
        const whole = { ...delivery, ...newDeliveryState, id, createdAt: clock.now() };
        reserved.push({
          id,
          lane,
          begin: () => {
            lane.begin(whole, stamp, receiver);
          },
        });
      }
    }
    return {
      stamps,
      made(existing) {
        for (const { id, lane, begin } of reserved) {
          if (existing.has(id)) lane.giveUp(id);
          else begin();
        }
        const others = prepared.filter((delivery) => !stamps.has(deliveryId(delivery)));
        for (const id of new Set(others.map(({ integrationId }) => integrationId))) enqueue(id);
      },
      failed() {
        for (const { id, lane } of reserved) lane.giveUp(id);
      },
    };
  };

  const nudge = (integrationId: string): void => {
    notBefore.delete(integrationId);
    replaying.add(integrationId);
    if (running.has(integrationId)) nudged.add(integrationId);
    enqueue(integrationId);
  };

  return {
    prepare,
    nudge,
    attemptNow(integrationId, deliveryId) {
      const requested = urgent.get(integrationId) ?? new Set();
      // Another process may hold the lane for long. With more deliveries than this, everything that is due is attempted
      // instead.
      requested.add(requested.size < maxUrgent ? deliveryId : undefined);
      urgent.set(integrationId, requested);
      nudge(integrationId);
    },
    start() {
      repeat(timing.poll, poll);
      repeat(timing.renewal, renew);
    },
    wake: enqueue,
    async stop(timeoutMs) {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await draining;
      for (const lane of running.values()) lane.stop();
      const ended = Promise.all([...running.values()].map((lane) => lane.ended));
      await within(timeoutMs, ended, () => undefined);
      // Interrupted deliveries are due immediately for the next holder of the lane.
      settlements.abandon();
      await sender.close();
      await ended;
      await Promise.all(work);
    },
  };
}

const newDeliveryState = {
  replayId: undefined,
  status: 'pending',
  attemptCount: 0,
  failures: 0,
  lastOutcome: undefined,
  nextAttemptAt: undefined,
  finishedAt: undefined,
} as const;

/** A lane whose counts belong to older settings starts from zero. */
function underSettings(lane: Lane | undefined, settingsRevision: number): Lane | undefined {
  if (lane?.health === undefined || lane.health.settingsRevision === settingsRevision) return lane;
  return { ...lane, health: undefined };
}
