import { readRetryAfter } from '../../outbound/retry-after.ts';
import { SecretUnreadableError } from '../../secrets/secret-box.ts';
import type { IntegrationDirectory, ReceiverSettings } from '../../integrations/directory.ts';
import type { DeliveryWithBody } from '../deliveries/delivery.ts';
import { nextAttemptIn } from '../deliveries/retry-schedule.ts';
import type { Settlement, Settlements } from '../deliveries/settlements.ts';
import type { DeliveryStore } from '../deliveries/delivery-store.ts';
import type { WebhookLog, WebhookObserver } from '../observer.ts';
import { deliveryHeaders } from '../sending/delivery-headers.ts';
import type { SendResult } from '../sending/attempt-request.ts';
import type { Sender } from '../sending/sender.ts';
import type { WebhookTiming } from '../timing.ts';
import {
  afterFailure,
  afterSuccess,
  isProbing,
  decide,
  newHealth,
  remainingWait,
  type Failure,
  type LaneHealth,
} from './health.ts';
import { createSignal } from './signal.ts';
import type { Lane, LaneStore } from './lane-store.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';

export interface LaneDependencies {
  readonly lanes: LaneStore;
  readonly deliveries: DeliveryStore;
  readonly integrations: IntegrationDirectory;
  readonly settlements: Settlements;
  readonly sender: Sender;
  /** Creates some deliveries of the integration's running replays. @returns whether there can be more to send now */
  readonly continueReplays: (integrationId: string) => Promise<boolean>;
  /** How many requests to one receiver can currently be in progress. */
  readonly share: () => number;
  /** Called with the time when a delivery of the integration is due again. */
  readonly scheduleRetry: (integrationId: string, at: Date) => void;
  /** The version of this service. */
  readonly version: string;
  readonly timing: WebhookTiming;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: WebhookLog;
  readonly observer: WebhookObserver;
}

/** Why a lane ended, and when to acquire it again. */
export interface LaneEnd {
  readonly reason: 'idle' | 'inactive' | 'open' | 'deleted' | 'lost' | 'stopped' | 'interrupted';
  /** Milliseconds; 0 for no wait. */
  readonly retryIn: number;
}

/** Sends to one integration while this process holds its lane. */
export interface RunningLane {
  /** Call it when there can be something to send. */
  wake(): void;
  /**
   * Attempts this delivery, or everything that is due, now, even while the circuit breaker is open.
   * @returns false if the lane is ending
   */
  attemptNow(deliveryId: string | undefined): boolean;
  /** The lease was renewed until this time on the monotonic clock. */
  renewed(end: number): void;
  /** The lane belongs to another process. */
  lost(): void;
  /** Starts no more attempts. */
  stop(): void;
  /**
   * Reserves places for deliveries before they are created. These can be begun without another read, which halves the
   * work of the database.
   * @returns the deliveries that got a place, and the stamp for their creation; undefined if they have to wait
   */
  reserve(deliveryIds: readonly string[], settingsRevision: number): Reservation | undefined;
  /** Begins a delivery with a reserved place. If there is no time left, it is due like any other. */
  begin(delivery: DeliveryWithBody, stamp: number, receiver: ReceiverSettings): void;
  /** Releases the place of a delivery that another process has created. */
  giveUp(deliveryId: string): void;
  /** Resolves when all begun attempts are settled and the lane is released. */
  readonly ended: Promise<LaneEnd & { readonly wasWoken: boolean }>;
}

/** Places for deliveries that will be created. Deliveries that already have a place get none. */
export interface Reservation {
  readonly ids: ReadonlySet<string>;
  readonly stamp: number;
}

/**
 * The most batches under one token. The stamp is `token * batchesPerToken + batch`, so it grows with each taking of the
 * lane and each batch. A suspended process that continues cannot settle a failure with its old stamp: in the worst case
 * a receiver gets an event twice, with the same id.
 */
const batchesPerToken = 2 ** 20;
/** Deliveries that one read finds, so that a backlog is not searched for every batch. */
const candidateBatch = 256;
/** The most results that can wait to be written while the database is slow or unavailable. */
const maxUnsettled = 256;

/**
 * Sends the due deliveries of one integration.
 *
 * A batch is read when places are free. Reading stamps the deliveries, so that only the last process to stamp can
 * settle a failure. It also reads the integration again, so that changes of an operator apply from the next batch on.
 * No attempt is begun that could outlast the lease.
 *
 * @param leaseEnd on the monotonic clock
 * @param urgent deliveries to attempt first, even while the circuit breaker is open (see `attemptNow`)
 */
export function runLane(
  lane: Lane,
  leaseEnd: number,
  dependencies: LaneDependencies,
  urgent?: ReadonlySet<string | undefined>,
): RunningLane {
  const { lanes, deliveries, integrations, settlements, sender, timing, clock, log, observer } = dependencies;
  const { integrationId, token } = lane;
  const signal = createSignal();
  /** Deliveries with a place: reserved, in progress, or attempted and not settled. Each has only one place. */
  const underWay = new Set<string>();
  /** Deliveries that were due when they were read. They are begun after they are stamped. */
  let candidates: readonly DeliveryWithBody[] = [];
  let mayBeMore = false;
  let posting = 0;
  let batch = 0;
  let end = leaseEnd;
  let { health, activity } = lane;
  let savedAt = clock.monotonic();
  let halt: 'lost' | 'stopped' | undefined;
  let isEnding = false;
  let decisionsUnderWay = 0;
  let woken = true;
  /** Whether everything that is due is to be attempted now, even while the circuit breaker is open. */
  let isForced = urgent?.has(undefined) ?? false;
  /** Deliveries to attempt before any other, even while the circuit breaker is open. */
  const requested = new Set([...(urgent ?? [])].filter(isDefined));

  const mayStart = (): boolean => halt === undefined && clock.monotonic() + timing.totalTimeout < end;

  const save = (): void => {
    savedAt = clock.monotonic();
    lanes.save(integrationId, token, { health, activity }).catch((error: unknown) => {
      log.debug({ error, integration_id: integrationId }, 'the health of a receiver could not be saved');
    });
  };

  const setHealth = (next: LaneHealth): void => {
    health = next;
    save();
  };

  /** Stored now and then, and when the lane is released, because a write for each attempt would cost too much. */
  const recordActivity = (endedAt: Date, isDelivered: boolean): void => {
    activity = { lastAttemptAt: endedAt, lastSuccessAt: isDelivered ? endedAt : activity.lastSuccessAt };
    if (clock.monotonic() - savedAt >= timing.renewal) save();
  };

  /** Counts under other settings are ignored. Older settings come from a batch that was read earlier. */
  const healthUnder = (settingsRevision: number): LaneHealth | undefined => {
    if (health === undefined || health.settingsRevision < settingsRevision) health = newHealth(settingsRevision);
    return health.settingsRevision === settingsRevision ? health : undefined;
  };

  const recordSuccess = (receiver: ReceiverSettings): void => {
    const before = healthUnder(receiver.settingsRevision);
    if (before === undefined) return;
    if (before.failingSince !== undefined || before.open !== undefined) setHealth(afterSuccess(before));
    if (receiver.isWarned || before.warnedAt !== undefined) write(integrations.clearWarning(receiver));
  };

  /** Set after the warning is written: an integration is disabled only if its operator could see the warning. */
  const recordWarning = (receiver: ReceiverSettings, at: Date): void => {
    const present = healthUnder(receiver.settingsRevision);
    if (present?.failingSince === undefined || present.warnedAt !== undefined) return;
    setHealth({ ...present, warnedAt: at });
    log.warn({ integration_id: integrationId }, 'all attempts have failed for days; the integration will be disabled');
  };

  const recordFailure = (receiver: ReceiverSettings, failure: Failure, retryAfter: number | undefined): void => {
    const { at, status } = failure;
    const before = healthUnder(receiver.settingsRevision);
    if (before === undefined) return;
    const after = afterFailure(before, failure, retryAfter, timing);
    const opened = after.open !== undefined && (before.open === undefined || before.open.until <= at);
    const decision = decide(after, at, timing);
    if (opened || before.failingSince === undefined) setHealth(after);
    else health = after;
    if (decision.action === 'warn') {
      const { failingSince, disablesAt } = decision;
      write(
        integrations.warn({ ...receiver, at, failingSince, disablesAt }).then((isWarned) => {
          if (isWarned) recordWarning(receiver, at);
        }),
      );
    }
    if (opened) {
      observer.breakerOpened();
      log.info(
        { integration_id: integrationId, until: after.open?.until },
        'a receiver keeps failing; sending to it pauses',
      );
    }
    const reason = status === 410 ? 'gone' : decision.action === 'disable' ? 'failing' : undefined;
    if (reason !== undefined) {
      write(
        integrations.disable({ ...receiver, reason, at }).then((disabled) => {
          if (!disabled) return;
          log.warn({ integration_id: integrationId, reason }, 'the integration is disabled');
          observer.integrationDisabled(reason);
        }),
      );
    }
  };

  /** Decisions that are being written. Batches wait for them: nothing more is sent after a 410. */
  let decisions: Promise<unknown> = Promise.resolve();
  const write = (writing: Promise<unknown>): void => {
    decisionsUnderWay += 1;
    const written = writing
      .catch((error: unknown) => {
        log.warn({ error, integration_id: integrationId }, 'a decision about a receiver could not be written');
      })
      .finally(() => {
        decisionsUnderWay -= 1;
      });
    decisions = Promise.all([decisions, written]);
  };

  const attempt = async (delivery: DeliveryWithBody, stamp: number, receiver: ReceiverSettings): Promise<void> => {
    const at = clock.now();
    const { integrationId: id, url, headers: custom } = receiver;
    const context = { integrationId: id, custom, secrets: receiver, version: dependencies.version };
    const headers = deliveryHeaders(delivery, context, at);
    const result = await sender.post({ integrationId: id, url, headers, body: delivery.body });
    posting -= 1;
    // Not a failure of the receiver: the delivery is due for the next holder of the lane.
    if (result.status !== undefined || result.error !== 'aborted')
      await settlements.add(toSettlement(delivery, stamp, receiver, at, result));
    underWay.delete(delivery.id);
    signal.notify();
  };

  const toSettlement = (
    delivery: DeliveryWithBody,
    stamp: number,
    receiver: ReceiverSettings,
    at: Date,
    result: SendResult,
  ): Settlement => {
    const { status, error, headers: responseHeaders, response, responseCut, milliseconds } = result;
    const isDelivered = status !== undefined && status >= 200 && status < 300;
    const now = clock.now();
    recordActivity(now, isDelivered);
    const { id: deliveryId, attemptCount, failures: failuresBefore } = delivery;
    const record = {
      integrationId,
      deliveryId,
      stamp,
      number: attemptCount + 1,
      at,
      milliseconds,
      status,
      error,
      responseHeaders,
      response,
      responseCut,
    };
    const statusOrError = status === undefined ? String(error) : `${Math.floor(status / 100)}xx`;
    observer.attempted(integrationId, statusOrError, milliseconds / 1_000);
    if (isDelivered) {
      recordSuccess(receiver);
      const isOrdinary = delivery.replayId === undefined && delivery.createdAt >= receiver.changedAt;
      const age = Math.max(0, now.getTime() - delivery.eventCreatedAt.getTime()) / 1_000;
      observer.finished('delivered', isOrdinary ? age : undefined);
      return { outcome: 'delivered', attempt: record };
    }
    const asked = status === 429 || status === 503 ? readRetryAfter(responseHeaders['retry-after'], now) : undefined;
    recordFailure(receiver, { at: now, status, error }, asked);
    const wait = nextAttemptIn({ failuresBefore, retryAfter: asked }, timing, dependencies.random.fraction());
    if (wait === undefined) observer.finished('failed');
    const nextAttemptAt = wait === undefined ? undefined : new Date(now.getTime() + wait);
    if (nextAttemptAt !== undefined) dependencies.scheduleRetry(integrationId, nextAttemptAt);
    return { outcome: 'failed', attempt: record, failure: { deliveryId, stamp, failuresBefore, nextAttemptAt } };
  };

  /**
   * Requested deliveries that can be attempted now. A delivery that a poll has attempted before the request waits for
   * its next attempt.
   */
  const findRequested = async (places: number): Promise<DeliveryWithBody[]> => {
    if (requested.size === 0) return [];
    const ids = [...requested].slice(0, places);
    const found = await Promise.all(ids.map((id) => deliveries.find(id)));
    for (const id of ids) requested.delete(id);
    return found
      .filter(isDefined)
      .filter(({ id, status, attemptCount }) => status === 'pending' && attemptCount === 0 && !underWay.has(id));
  };

  /**
   * Reads and begins up to `limit` deliveries.
   * @param onlyRequested leaves out what is due
   * @returns whether more can be due, or why the lane must end
   */
  const beginBatch = async (places: number, onlyRequested: boolean): Promise<boolean | LaneEnd> => {
    await decisions;
    const [[integration], first, found] = await Promise.all([
      integrations.find([integrationId]),
      findRequested(places),
      onlyRequested || candidates.length > 0
        ? []
        : deliveries.due(integrationId, clock.now(), candidateBatch, [...underWay]),
    ]);
    if (integration === undefined) return { reason: 'deleted', retryIn: timing.inactive };
    if (integration.status !== 'active') return { reason: 'inactive', retryIn: timing.inactive };
    healthUnder(integration.settingsRevision);
    if (!onlyRequested && candidates.length === 0) {
      candidates = found;
      mayBeMore = found.length === candidateBatch;
    }
    // Some may have been begun otherwise since they were read.
    candidates = candidates.filter(({ id }) => !underWay.has(id));
    const others = onlyRequested ? [] : candidates.filter(({ id }) => !first.some((each) => each.id === id));
    const due = [...first, ...others].slice(0, places);
    candidates = candidates.filter((each) => !due.includes(each));
    if (due.length === 0) return false;
    const receiver = integrations.open(integration);
    const stamp = token * batchesPerToken + (batch += 1);
    const ids = due.map(({ id }) => id);
    takePlaces(ids);
    let stamped: ReadonlySet<string> = new Set();
    try {
      stamped = await deliveries.stamp(ids, stamp);
    } finally {
      const isTime = mayStart();
      for (const delivery of due) {
        if (isTime && stamped.has(delivery.id)) void attempt(delivery, stamp, receiver);
        else leavePlace(delivery.id);
      }
    }
    return !mayStart() || candidates.length > 0 || mayBeMore;
  };

  const takePlaces = (ids: Iterable<string>): void => {
    for (const id of ids) {
      posting += 1;
      underWay.add(id);
    }
  };
  const leavePlace = (id: string): void => {
    posting -= 1;
    underWay.delete(id);
  };

  const placesOf = (allowed: number): number => Math.min(allowed - posting, maxUnsettled - underWay.size);

  const work = async (): Promise<LaneEnd> => {
    for (;;) {
      if (halt !== undefined) return { reason: halt, retryIn: 0 };
      if (clock.monotonic() >= end) return { reason: 'lost', retryIn: 0 };
      const wait = health === undefined ? 0 : remainingWait(health, clock.now(), timing.breaker.longestOpen);
      if (wait > 0 && !isForced && requested.size === 0) {
        isEnding = true;
        return { reason: 'open', retryIn: wait };
      }
      if (batch + 1 >= batchesPerToken) return { reason: 'idle', retryIn: 0 };

      const allowed = health !== undefined && isProbing(health) ? 1 : dependencies.share();
      const places = placesOf(allowed);
      const worthwhile = places > 0 && (posting === 0 || places >= allowed / 4);
      if (!woken || !worthwhile || !mayStart()) {
        const isIdle = !woken && underWay.size === 0;
        const notified = await signal.wait(isIdle ? timing.linger : timing.renewal);
        if (isIdle && !notified) return { reason: 'idle', retryIn: 0 };
        continue;
      }
      woken = false;
      const onlyRequested = wait > 0 && !isForced;
      isForced = false;
      const begun = await beginBatch(places, onlyRequested);
      if (typeof begun !== 'boolean') return begun;
      if (begun || requested.size > 0 || (await dependencies.continueReplays(integrationId))) woken = true;
    }
  };

  const run = async (): Promise<LaneEnd & { wasWoken: boolean }> => {
    let laneEnd: LaneEnd;
    try {
      laneEnd = await work();
    } catch (error) {
      // If a key is missing, nothing is sent unsigned or without its headers.
      const isUnreadable = error instanceof SecretUnreadableError;
      log.warn({ error, integration_id: integrationId }, 'sending to an integration was interrupted');
      laneEnd = { reason: 'interrupted', retryIn: isUnreadable ? timing.breaker.firstOpen : 0 };
    }
    isEnding = true;
    while (underWay.size > 0) await signal.wait(timing.renewal);
    await decisions;
    if (laneEnd.reason === 'open') {
      // An attempt in progress may have closed the breaker.
      const lookAgainIn = health === undefined ? 0 : remainingWait(health, clock.now(), timing.breaker.longestOpen);
      laneEnd = { ...laneEnd, retryIn: lookAgainIn };
      if (lookAgainIn === 0) woken = true;
    }
    if (halt !== 'lost' && clock.monotonic() < end) {
      await lanes.release(integrationId, token, { health, activity }).catch((error: unknown) => {
        log.debug({ error, integration_id: integrationId }, 'a lane could not be released; its lease will expire');
      });
    }
    return { ...laneEnd, wasWoken: woken };
  };

  return {
    wake() {
      woken = true;
      signal.notify();
    },
    attemptNow(deliveryId) {
      if (isEnding) return false;
      if (deliveryId === undefined) isForced = true;
      else requested.add(deliveryId);
      this.wake();
      return true;
    },
    reserve(deliveryIds, settingsRevision) {
      const isClear = candidates.length === 0 && !mayBeMore && decisionsUnderWay === 0;
      if (isEnding || !mayStart() || !isClear || batch + 1 >= batchesPerToken) return undefined;
      const present = healthUnder(settingsRevision);
      if (present === undefined || isProbing(present)) return undefined;
      const ids = new Set(deliveryIds.filter((id) => !underWay.has(id)));
      if (ids.size === 0 || placesOf(dependencies.share()) < ids.size) return undefined;
      takePlaces(ids);
      signal.notify();
      return { ids, stamp: token * batchesPerToken + (batch += 1) };
    },
    begin(delivery, stamp, receiver) {
      if (mayStart()) void attempt(delivery, stamp, receiver);
      else this.giveUp(delivery.id);
    },
    giveUp(deliveryId) {
      leavePlace(deliveryId);
      // Another process has created it, and until now batches left it out.
      woken = true;
      signal.notify();
    },
    renewed(leaseEndNow) {
      end = leaseEndNow;
      signal.notify();
    },
    lost() {
      halt = 'lost';
      signal.notify();
    },
    stop() {
      halt ??= 'stopped';
      signal.notify();
    },
    ended: run(),
  };
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
