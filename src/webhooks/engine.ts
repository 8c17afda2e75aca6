import type { IntegrationDirectory } from './integrations/directory.ts';
import type { Clock } from '../base/runtime/clock.ts';
import type { Random } from '../base/runtime/random.ts';
import { within } from '../base/runtime/within.ts';
import { newDelivery, type CreateDeliveries, type DeliveryWithBody } from './deliveries/delivery.ts';
import type { DeliveryStore } from './deliveries/delivery-store.ts';
import type { Settlements } from './deliveries/settlements.ts';
import { createAgenda } from './lanes/agenda.ts';
import { createAttempt } from './lanes/attempts.ts';
import { createDispatcher } from './lanes/dispatcher.ts';
import type { HealthStore, LaneState } from './lanes/health-store.ts';
import { createLane, isIdle, type Lane } from './lanes/lane.ts';
import { createReceivers } from './lanes/receivers.ts';
import { createVerdicts } from './lanes/verdicts.ts';
import type { WebhookLog, WebhookObserver } from './observer.ts';
import type { LayoutStore } from './partitions/layout-store.ts';
import { partitionOf, spansOf } from './partitions/partition.ts';
import { createPartitions } from './partitions/partitions.ts';
import type { ReplayWorker } from './replays/replays.ts';
import { repeat, type Repetition } from './repeat.ts';
import { createQuota } from './sending/quota.ts';
import type { Sender } from './sending/sender.ts';
import type { WebhookLimits, WebhookTiming } from './timing.ts';

/** Sends deliveries, together with any number of other processes. */
export interface WebhookEngine {
  start(): void;
  /** Waits for requests in progress, at most this many milliseconds, and passes the partitions on. */
  stop(timeoutMs: number): Promise<void>;
  readonly create: CreateDeliveries;
  /** Call it when an operator has changed the settings of an integration, or has requested a replay. */
  nudge(integrationId: string): void;
  /** The same, and a receiver that gets nothing because it failed gets an attempt now. */
  attemptNow(integrationId: string): void;
  /** What this process knows about a receiver and is perhaps not stored yet. */
  stateOf(integrationId: string): LaneState | undefined;
}

export interface EngineDependencies {
  readonly layout: LayoutStore;
  readonly health: HealthStore;
  readonly deliveries: DeliveryStore;
  readonly integrations: IntegrationDirectory;
  readonly settlements: Settlements;
  readonly sender: Sender;
  readonly replays: ReplayWorker;
  /** The version of this service. */
  readonly version: string;
  readonly timing: WebhookTiming;
  readonly limits: Pick<WebhookLimits, 'perReceiver' | 'inAll' | 'withSlow'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: WebhookLog;
  readonly observer: WebhookObserver;
}

/** The most due times that are remembered. Other deliveries are searched for when they are due. */
const maxAppointments = 200_000;
const freshAtOnce = 1_000;
/** The most lanes without work that are remembered. */
const maxIdleLanes = 20_000;

/**
 * A delivery of a partition that this process holds is known from its creation to its end: it waits in its lane, is in
 * progress, or is in the agenda until its next attempt. So nothing has to be searched for. The database is searched only
 * when a partition is taken, and now and then for what was lost between two processes. What other processes create is
 * marked as fresh, which is a small index of its own.
 */
export function createEngine(dependencies: EngineDependencies): WebhookEngine {
  const { health, deliveries, settlements, sender, replays, timing, clock, log, observer } = dependencies;
  const lanes = new Map<string, Lane>();
  /** Lanes of partitions that were lost, until nothing is in progress. */
  const draining = new Set<Lane>();
  const agenda = createAgenda();
  /** Partitions that must be searched, and when each was searched last. */
  const toSearch = new Set<number>();
  const searchedAt = new Map<number, number>();
  let freshBefore: ReadonlySet<string> = new Set();
  let isStopping = false;
  let loops: readonly Repetition[] = [];
  /** Work that must end before this process leaves. */
  const working = new Set<Promise<void>>();
  let alarm: NodeJS.Timeout | undefined;

  const partitions = createPartitions(
    dependencies.layout,
    {
      taken(found) {
        observer.partitionsHeld(partitions.held().size);
        search(found);
      },
      lost(gone) {
        observer.partitionsHeld(partitions.held().size);
        for (const partition of gone) toSearch.delete(partition);
        for (const lane of lanesOf(gone)) {
          lanes.delete(lane.integrationId);
          dispatcher.forget(lane);
          draining.add(lane);
        }
      },
      isDrained(partition) {
        for (const lane of draining) {
          // What is in progress is still settled here; its stamp decides.
          if (lane.underWay.size === 0 && verdicts.isSaved(lane)) draining.delete(lane);
          else if (lane.partition === partition) return false;
        }
        return true;
      },
      called(found) {
        // Another process may have changed what is stored about their receivers.
        for (const lane of lanesOf(found)) if (lane.underWay.size === 0) lane.isLoaded = false;
        search(found);
      },
      renewed() {
        for (const lane of lanes.values()) dispatcher.wake(lane);
      },
    },
    timing,
    clock,
    dependencies.random,
    log,
  );
  /** Also while the lease has lapsed for a moment. */
  const isHeld = (integrationId: string): boolean => partitions.held().has(partitionOf(integrationId));
  const isMine = (integrationId: string): boolean => !isStopping && partitions.holds(integrationId);
  const isOpen = (lane: Lane): boolean => isMine(lane.integrationId) && lanes.get(lane.integrationId) === lane;

  const lanesOf = (wanted: readonly number[]): Lane[] => {
    const set = new Set(wanted);
    return [...lanes.values()].filter(({ partition }) => set.has(partition));
  };

  const laneOf = (integrationId: string): Lane => {
    let lane = lanes.get(integrationId);
    if (lane === undefined) lanes.set(integrationId, (lane = createLane(integrationId)));
    return lane;
  };

  // What is due later --------------------------------------------------------------------------------------------

  const schedule = ({ integrationId }: Lane, at: number, id?: string): void => {
    const isFar = at - clock.now().getTime() > timing.horizon;
    if (id !== undefined && (isFar || agenda.size >= maxAppointments)) return;
    agenda.add({ at, integrationId, deliveryId: id });
    setAlarm();
  };

  /** At least once a poll, because the wall clock may be set. */
  const setAlarm = (): void => {
    clearTimeout(alarm);
    const next = agenda.next();
    if (next === undefined || isStopping) return;
    alarm = setTimeout(keepAppointments, Math.min(Math.max(next - clock.now().getTime(), 0), timing.poll));
  };

  const keepAppointments = (): void => {
    for (const { integrationId, deliveryId: id } of agenda.takeDue(clock.now().getTime())) {
      if (!isHeld(integrationId)) continue;
      const lane = laneOf(integrationId);
      if (id === undefined) lookFor(lane);
      else dispatcher.enqueue(lane, { id, isUrgent: false });
    }
    setAlarm();
  };

  /** The database can have due deliveries of a lane. */
  const lookFor = (lane: Lane): void => {
    lane.mayHaveMore = true;
    dispatcher.wake(lane);
  };

  // What is found ------------------------------------------------------------------------------------------------

  let searching: Promise<void> | undefined;
  /** Finds what waits in partitions, one after the other. */
  const search = (wanted: Iterable<number>): void => {
    for (const partition of wanted) toSearch.add(partition);
    if (toSearch.size === 0 || isStopping) return;
    searching ??= searchAll()
      .catch((error: unknown) => {
        log.warn({ error }, 'waiting deliveries could not be read; retrying');
      })
      .finally(() => (searching = undefined));
  };

  const searchAll = async (): Promise<void> => {
    while (toSearch.size > 0 && !isStopping) {
      const wanted = [...toSearch];
      for (const span of spansOf(wanted)) {
        for await (const found of deliveries.firstDue(span)) {
          const end = clock.now().getTime() + timing.horizon;
          for (const { integrationId, at } of found) {
            if (isHeld(integrationId) && at.getTime() <= end) schedule(laneOf(integrationId), at.getTime());
          }
        }
      }
      const searched = new Set(wanted);
      for (const id of await replays.waiting()) {
        if (!searched.has(partitionOf(id)) || !isHeld(id)) continue;
        laneOf(id).isReplaying = true;
        dispatcher.wake(laneOf(id));
      }
      for (const partition of wanted) {
        toSearch.delete(partition);
        searchedAt.set(partition, clock.monotonic());
      }
    }
  };

  const searchAgain = (): void => {
    const before = clock.monotonic() - timing.search;
    const isOld = (partition: number): boolean => (searchedAt.get(partition) ?? 0) < before;
    search([...toSearch, ...[...partitions.held()].filter(isOld)]);
  };

  /** Finds what other processes have created in the partitions of this one. */
  const findFresh = async (): Promise<void> => {
    const [first, ...others] = spansOf(partitions.held());
    if (first === undefined) return;
    const found = await deliveries.fresh({ from: first.from, before: (others.at(-1) ?? first).before }, freshAtOnce);
    const mine = found.filter(({ integrationId }) => isMine(integrationId));
    const before = freshBefore;
    freshBefore = new Set(mine.map(({ id }) => id));
    for (const { id, integrationId, isUrgent } of mine) {
      if (!before.has(id)) dispatcher.enqueue(laneOf(integrationId), { id, isUrgent });
    }
    // They are not begun, for example because their integration is paused.
    const known = mine.flatMap(({ id }) => (before.has(id) && !dispatcher.has(id) ? [id] : []));
    if (known.length > 0) await deliveries.unmark(known);
  };

  // What is new --------------------------------------------------------------------------------------------------

  const create: CreateDeliveries = async (wanted, request) => {
    const isUrgent = request?.isUrgent === true;
    const createdAt = request?.createdAt ?? clock.now();
    const added = wanted.map((delivery) => newDelivery(delivery, createdAt));
    const own = added.flatMap((delivery): { readonly delivery: DeliveryWithBody; readonly lane: Lane }[] =>
      isMine(delivery.integrationId) ? [{ delivery, lane: laneOf(delivery.integrationId) }] : [],
    );
    // What a caller asks for is not counted as begun, because the caller is told about it first.
    const receivers = await readReceivers(request === undefined ? [...new Set(own.map(({ lane }) => lane))] : []);
    const stamp = partitions.nextStamp();
    const begun = new Set<string>();
    for (const { delivery, lane } of own) {
      if (receivers.has(lane) && dispatcher.reserve(lane, delivery.id)) begun.add(delivery.id);
    }
    const mine = new Set(own.map(({ delivery }) => delivery));
    let existing: ReadonlySet<string>;
    try {
      const isFresh = (delivery: DeliveryWithBody): boolean => !mine.has(delivery);
      existing = await deliveries.insertMissing(added, { begun: { ids: begun, stamp }, isFresh, isUrgent });
    } finally {
      for (const id of begun) dispatcher.release(id);
    }
    const passedOn: string[] = [];
    for (const { delivery, lane } of own) {
      const { id } = delivery;
      if (!isOpen(lane)) passedOn.push(id);
      // Perhaps another process has created it.
      else if (existing.has(id)) dispatcher.enqueue(lane, { id, isUrgent });
      else dispatcher.enqueue(lane, { id, isUrgent, delivery, stamp: begun.has(id) ? stamp : undefined });
    }
    // The new holder of the partition may have searched it before they were created.
    if (passedOn.length > 0) await deliveries.markFresh(passedOn);
    return added.filter(({ id }) => !existing.has(id));
  };

  const lookAt = (integrationId: string): void => {
    if (isMine(integrationId)) {
      const lane = laneOf(integrationId);
      lane.isReplaying = true;
      lane.known = undefined;
      lane.interruptedUntil = 0;
      lookFor(lane);
    } else if (!isStopping) track(partitions.call(integrationId));
  };

  // Life ---------------------------------------------------------------------------------------------------------

  const track = (work: Promise<void>): void => {
    const tracked: Promise<void> = work.catch(warn).finally(() => working.delete(tracked));
    working.add(tracked);
  };

  const warn = (error: unknown): void => {
    log.warn({ error }, 'the delivery engine failed; retrying');
  };

  const forgetIdle = (): void => {
    if (lanes.size <= maxIdleLanes) return;
    for (const lane of lanes.values()) {
      if (isIdle(lane) && verdicts.isSaved(lane)) lanes.delete(lane.integrationId);
    }
  };

  const quota = createQuota(dependencies.limits, clock);
  const wake = (lane: Lane): void => {
    dispatcher.wake(lane);
  };
  const verdicts = createVerdicts({ ...dependencies, wake });
  const readReceivers = createReceivers(dependencies);
  const dispatcher = createDispatcher({
    ...dependencies,
    readReceivers,
    attempt: createAttempt({ ...dependencies, quota, verdicts, wake }),
    quota,
    isOpen,
    nextStamp: () => partitions.nextStamp(),
    schedule,
    track,
  });

  return {
    create(added, request) {
      const creating = create(added, request);
      track(creating.then(() => undefined).catch(() => undefined));
      return creating;
    },
    nudge: lookAt,
    attemptNow(integrationId) {
      const now = clock.now();
      const ending = health.endPause(integrationId, now).then(() => {
        const lane = lanes.get(integrationId);
        const { health: known } = lane ?? {};
        if (lane !== undefined && known?.open !== undefined) {
          lane.health = { ...known, open: { ...known.open, until: now } };
        }
        lookAt(integrationId);
      });
      track(ending);
    },
    stateOf(integrationId) {
      const lane = lanes.get(integrationId);
      return lane?.isLoaded === true && isMine(integrationId) ? lane : undefined;
    },
    start() {
      partitions.start();
      // Other processes wait for this one, so what they have created is looked for more often than what was lost.
      const pause = (): number => {
        if (freshBefore.size > 0) return timing.poll / 10;
        return partitions.hasOthers() ? timing.poll / 2 : timing.poll;
      };
      const tidy = async (): Promise<void> => {
        searchAgain();
        forgetIdle();
        await verdicts.save();
      };
      loops = [repeat(findFresh, pause, warn), repeat(tidy, () => timing.poll, warn)];
    },
    async stop(timeoutMs) {
      const end = clock.monotonic() + timeoutMs;
      isStopping = true;
      for (const loop of loops) track(loop.end());
      clearTimeout(alarm);
      await partitions.settle();
      const idle = async (): Promise<void> => {
        while (working.size > 0) await Promise.all([...working, dispatcher.idle()]);
        await dispatcher.idle();
      };
      await within(Math.max(0, end - clock.monotonic()), idle(), () => undefined);
      // Interrupted deliveries are due immediately for the next holder of their partition.
      settlements.abandon();
      await sender.close();
      await idle();
      for (const lane of lanes.values()) dispatcher.forget(lane);
      await Promise.all([verdicts.save().catch(() => undefined), idle()]);
      await partitions.leave();
    },
  };
}
