import type { ReceiverSettings } from '../integrations/directory.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { DeliveryWithBody } from '../deliveries/delivery.ts';
import type { DeliveryStore } from '../deliveries/delivery-store.ts';
import type { WebhookLog } from '../observer.ts';
import type { ReplayWorker } from '../replays/replays.ts';
import type { Quota } from '../sending/quota.ts';
import type { WebhookTiming } from '../timing.ts';
import type { AttemptDelivery, BegunDelivery } from './attempts.ts';
import { hasWork, isOnProbation, waitOf, type Lane, type Waiting } from './lane.ts';
import type { ReadReceivers } from './receivers.ts';

export interface DispatcherDependencies {
  readonly readReceivers: ReadReceivers;
  readonly deliveries: Pick<DeliveryStore, 'due' | 'findMany' | 'stamp' | 'unstamp'>;
  readonly replays: Pick<ReplayWorker, 'continue'>;
  readonly attempt: AttemptDelivery;
  readonly quota: Quota;
  /** Whether attempts for a lane can begin. */
  readonly isOpen: (lane: Lane) => boolean;
  readonly nextStamp: () => number;
  /** Called with the time when a delivery is due, or when a lane must be woken. */
  readonly schedule: (lane: Lane, at: number, deliveryId?: string) => void;
  /** Work that must end before this process leaves. */
  readonly track: (work: Promise<void>) => void;
  readonly timing: WebhookTiming;
  readonly clock: Clock;
  readonly log: WebhookLog;
}

/** Begins the attempts of many integrations, in batches. */
export interface Dispatcher {
  /** Call it when a lane has work, or a place for it. */
  wake(lane: Lane): void;
  /** Adds a delivery to those that wait in memory. If there are many, it waits in the database. */
  enqueue(lane: Lane, item: Waiting): void;
  /**
   * Reserves a place in memory for a delivery that will be created.
   * @returns false if it cannot be created with its attempt begun, because it has to wait
   */
  reserve(lane: Lane, deliveryId: string): boolean;
  /** Ends a reservation. */
  release(deliveryId: string): void;
  /** Whether a delivery waits in memory or is in progress. */
  has(deliveryId: string): boolean;
  /** Leaves what waits to the database. */
  forget(lane: Lane): void;
  /** Resolves when no attempt is in progress. */
  idle(): Promise<void>;
}

/** Deliveries that are begun together, of any integrations. On some servers the time for many ids grows with its square. */
const batchSize = 100;
const batchesAtOnce = 4;
/** Deliveries of an integration that one read finds, so that a backlog is not searched for every batch. */
const readAtOnce = 256;
const readsAtOnce = 4;
/** The most deliveries that wait in memory. What exceeds it waits in the database. */
const maxWaiting = 20_000;
/** The most results of one integration that can wait to be written while the database is slow or unavailable. */
const maxUnsettled = 256;
/** Milliseconds for which the settings apply that were read when a delivery was created. */
const settingsAge = 1_000;
/** Milliseconds after an interruption. */
const pauseMs = 250;
/** Milliseconds after which requests in progress may have become slow and left their places. */
const slowMs = 100;

/** A delivery that has a place. */
interface Picked {
  readonly lane: Lane;
  readonly item: Waiting;
}

export function createDispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { readReceivers, deliveries, replays, attempt, quota } = dependencies;
  const { isOpen, nextStamp, schedule, track, timing, clock, log } = dependencies;
  /** Lanes with work that may have a place, the longest waiting first. */
  const ready = new Set<Lane>();
  /** Deliveries that wait or are in progress. Each is begun once. */
  const taken = new Set<string>();
  const attempts = new Set<Promise<void>>();
  const toRead: Lane[] = [];
  let reads = 0;
  let batches = 0;
  let isPumping = false;
  let slowTimer: NodeJS.Timeout | undefined;

  const wake = (lane: Lane): void => {
    if (hasWork(lane)) ready.add(lane);
    pumpSoon();
  };

  /** After the current turn of the event loop, so that what becomes due together is begun together. */
  const pumpSoon = (): void => {
    if (!isPumping) setImmediate(pump);
    isPumping = true;
  };

  const enqueue = (lane: Lane, item: Waiting): void => {
    if (taken.has(item.id)) return;
    const hasRoom = !lane.mayHaveMore && lane.waiting.length < readAtOnce && taken.size < maxWaiting;
    if (hasRoom || item.isUrgent || item.stamp !== undefined) {
      taken.add(item.id);
      if (item.isUrgent) lane.waiting.unshift(item);
      else lane.waiting.push(item);
    } else lane.mayHaveMore = true;
    wake(lane);
  };

  // Waiting ------------------------------------------------------------------------------------------------------

  /** Begins nothing for a time. What waits is read again afterwards. */
  const interrupt = (lane: Lane, milliseconds: number): void => {
    lane.interruptedUntil = clock.now().getTime() + milliseconds;
    lane.mayHaveMore = true;
    rest(lane, milliseconds);
  };

  /** Looks again after a time, because nothing can be begun before. */
  const rest = (lane: Lane, milliseconds: number): void => {
    putBack(lane);
    const at = clock.now().getTime() + milliseconds;
    if (lane.wakesAt === at) return;
    lane.wakesAt = at;
    schedule(lane, at);
  };

  /** Leaves what waits to the database. */
  const putBack = (lane: Lane): void => {
    const { waiting } = lane;
    if (waiting.length === 0) return;
    lane.waiting = [];
    lane.mayHaveMore = true;
    for (const { id } of waiting) taken.delete(id);
    for (const [stamp, items] of Map.groupBy(waiting, (item) => item.stamp)) {
      const ids = items.map(({ id }) => id);
      if (stamp !== undefined) track(deliveries.unstamp(ids, stamp));
    }
  };

  // Reading ------------------------------------------------------------------------------------------------------

  /** Reads the deliveries of a lane that are due, now or soon, or continues its replays if none is due. */
  const readMore = (lane: Lane): void => {
    if (lane.isReading) return;
    lane.isReading = true;
    toRead.push(lane);
    readNext();
  };

  const readNext = (): void => {
    while (reads < readsAtOnce) {
      const lane = toRead.shift();
      if (lane === undefined) return;
      reads += 1;
      const reading = read(lane)
        .catch((error: unknown) => {
          log.warn({ error, integration_id: lane.integrationId }, 'due deliveries could not be read; retrying');
          interrupt(lane, pauseMs);
        })
        .finally(() => {
          reads -= 1;
          lane.isReading = false;
          wake(lane);
          readNext();
        });
      track(reading);
    }
  };

  const read = async (lane: Lane): Promise<void> => {
    const { integrationId } = lane;
    if (!isOpen(lane)) return;
    if (lane.mayHaveMore) {
      lane.mayHaveMore = false;
      const known = new Set([...lane.underWay, ...lane.waiting.map(({ id }) => id)]);
      const now = clock.now().getTime();
      const found = await deliveries.due(integrationId, new Date(now + timing.horizon), readAtOnce, known);
      if (!isOpen(lane)) {
        // Until the lease is renewed, if it has only lapsed.
        lane.mayHaveMore = true;
        return;
      }
      // What was found waits here even if somebody has asked to look again meanwhile. Otherwise it would be read for ever.
      const isAsked = lane.mayHaveMore;
      lane.mayHaveMore = false;
      for (const delivery of found) {
        const at = delivery.nextAttemptAt?.getTime() ?? now;
        if (at > now) schedule(lane, at, delivery.id);
        else enqueue(lane, { id: delivery.id, isUrgent: false, delivery });
      }
      lane.mayHaveMore ||= isAsked;
      // What comes after them is read when the last of them is due.
      if (found.length === readAtOnce) schedule(lane, found.at(-1)?.nextAttemptAt?.getTime() ?? now);
    } else if (lane.isReplaying) {
      lane.isReplaying = false;
      if ((await readReceivers([lane])).has(lane)) lane.isReplaying = await replays.continue(integrationId);
    }
  };

  // Beginning ----------------------------------------------------------------------------------------------------

  /** The next delivery of a lane, with a place; undefined if nothing can be begun. */
  const pick = (lane: Lane): Waiting | undefined => {
    if (!isOpen(lane) || lane.decisions > 0 || lane.underWay.size >= maxUnsettled) return undefined;
    const wait = lane.isLoaded ? waitOf(lane, clock.now(), timing) : 0;
    if (wait > 0 && lane.waiting[0]?.isUrgent !== true) {
      rest(lane, wait);
      return undefined;
    }
    if (lane.waiting.length === 0) {
      readMore(lane);
      return undefined;
    }
    if (lane.posting >= (isOnProbation(lane) ? 1 : quota.share())) return undefined;
    const item = lane.waiting.shift();
    if (item === undefined) return undefined;
    lane.posting += 1;
    lane.underWay.add(item.id);
    quota.take();
    return item;
  };

  const collect = (): Picked[] => {
    const picked: Picked[] = [];
    // A lane that had a turn comes last.
    for (const lane of ready) {
      if (picked.length >= batchSize || !quota.hasRoom()) break;
      ready.delete(lane);
      const item = pick(lane);
      if (item === undefined) continue;
      picked.push({ lane, item });
      if (hasWork(lane)) ready.add(lane);
    }
    return picked;
  };

  const pump = (): void => {
    isPumping = false;
    while (batches < batchesAtOnce) {
      const picked = collect();
      if (picked.length === 0) break;
      batches += 1;
      const beginning = beginBatch(picked).finally(() => {
        batches -= 1;
        pumpSoon();
      });
      track(beginning);
    }
    if (ready.size > 0 && !quota.hasRoom()) {
      clearTimeout(slowTimer);
      slowTimer = setTimeout(pump, slowMs);
    }
  };

  const leavePlace = ({ lane, item }: Picked): void => {
    lane.posting -= 1;
    quota.giveBack();
    lane.underWay.delete(item.id);
    taken.delete(item.id);
    wake(lane);
  };

  /** Leaves a delivery to the database. @param stamp if its attempt is counted already */
  const giveUp = (each: Picked, stamp = each.item.stamp): void => {
    each.lane.mayHaveMore = true;
    leavePlace(each);
    if (stamp !== undefined) track(deliveries.unstamp([each.item.id], stamp));
  };

  /** The settings, if they were read when the delivery was created, a moment ago. */
  const freshSettings = ({ lane: { known }, item }: Picked): ReceiverSettings | undefined => {
    const isFresh = known !== undefined && clock.monotonic() - known.readAt < settingsAge;
    return isFresh && item.stamp !== undefined ? known.receiver : undefined;
  };

  /**
   * Begins deliveries of many integrations. What is not stamped yet is stamped first, so that only the last process to
   * stamp can settle a failure. Changes of an operator apply from the next batch on.
   */
  const beginBatch = async (picked: readonly Picked[]): Promise<void> => {
    const left = new Set(picked);
    try {
      const fresh = new Map(picked.map((each) => [each, freshSettings(each)]));
      const stale = new Set(picked.flatMap((each) => (fresh.get(each) === undefined ? [each.lane] : [])));
      const unread = picked.flatMap(({ item }) => (item.delivery === undefined ? [item.id] : []));
      const [receivers, rows] = await Promise.all([readReceivers([...stale]), deliveries.findMany(unread)]);
      const byId = new Map(rows.map((delivery) => [delivery.id, delivery]));
      const begun: (Picked & Omit<BegunDelivery, 'stamp'>)[] = [];
      for (const each of picked) {
        const delivery = each.item.delivery ?? byId.get(each.item.id);
        const receiver = fresh.get(each) ?? receivers.get(each.lane);
        if (receiver !== undefined && delivery?.status === 'pending' && mayBegin(each, delivery)) {
          begun.push({ ...each, delivery, receiver });
          continue;
        }
        left.delete(each);
        if (receiver === undefined) hold(each);
        else if (delivery?.status !== 'pending') leavePlace(each);
      }
      const unstamped = begun.flatMap(({ item }) => (item.stamp === undefined ? [item.id] : []));
      const next = nextStamp();
      const stamped = await deliveries.stamp(unstamped, next);
      for (const each of begun) {
        const { lane, item } = each;
        const stamp = item.stamp ?? (stamped.has(item.id) ? next : undefined);
        if (stamp === undefined) {
          // Perhaps another process sends it.
          leavePlace(each);
          schedule(lane, clock.now().getTime() + timing.poll, item.id);
        } else if (isOpen(lane) && lane.decisions === 0) begin(lane, { ...each, stamp });
        else giveUp(each, stamp);
      }
    } catch (error) {
      log.warn({ error }, 'due deliveries could not be begun; retrying');
      for (const each of left) {
        giveUp(each);
        interrupt(each.lane, pauseMs);
      }
    }
  };

  /** If the integration is not active, its deliveries are held. A nudge tells when that changes. */
  const hold = (each: Picked): void => {
    const { lane } = each;
    giveUp(each);
    putBack(lane);
    if (lane.interruptedUntil <= clock.now().getTime()) lane.mayHaveMore = lane.isReplaying = false;
  };

  /** Whether a delivery is still to be attempted now. What is known of its receiver may just have been read. */
  const mayBegin = (each: Picked, { attemptCount, nextAttemptAt }: DeliveryWithBody): boolean => {
    const { lane, item } = each;
    const now = clock.now();
    if (item.isUrgent && attemptCount === 0) return true;
    if (nextAttemptAt !== undefined && nextAttemptAt > now) {
      leavePlace(each);
      schedule(lane, nextAttemptAt.getTime(), item.id);
      return false;
    }
    const wait = waitOf(lane, now, timing);
    if (wait === 0 && (lane.posting === 1 || !isOnProbation(lane))) return true;
    giveUp(each);
    if (wait > 0) rest(lane, wait);
    return false;
  };

  /** This machine could not send it, so it was not attempted. */
  const repeat = (lane: Lane, { delivery: { id }, stamp }: BegunDelivery): void => {
    if (quota.shrink()) log.warn({}, 'this process can open no more connections; it sends fewer requests at a time');
    const undoing = deliveries.unstamp([id], stamp).finally(() => {
      schedule(lane, clock.now().getTime() + pauseMs, id);
    });
    track(undoing);
  };

  const begin = (lane: Lane, begun: BegunDelivery): void => {
    const { id } = begun.delivery;
    const done: Promise<void> = attempt(lane, begun)
      .then((next) => {
        if (next === 'not-sent') repeat(lane, begun);
        else if (next !== undefined) schedule(lane, next.getTime(), id);
      })
      .catch((error: unknown) => {
        log.warn(
          { error, integration_id: lane.integrationId },
          'an attempt was interrupted; the delivery is still due',
        );
        lane.mayHaveMore = true;
      })
      .finally(() => {
        attempts.delete(done);
        taken.delete(id);
        lane.underWay.delete(id);
        wake(lane);
      });
    attempts.add(done);
  };

  return {
    wake,
    enqueue,
    reserve(lane, id) {
      const isFull = lane.waiting.length + lane.underWay.size >= maxUnsettled || taken.size >= maxWaiting;
      const mustWait = lane.mayHaveMore || lane.isReading || lane.decisions > 0 || isOnProbation(lane);
      if (isFull || mustWait || taken.has(id) || waitOf(lane, clock.now(), timing) > 0) return false;
      taken.add(id);
      return true;
    },
    release: (id) => void taken.delete(id),
    has: (id) => taken.has(id),
    forget(lane) {
      ready.delete(lane);
      putBack(lane);
      lane.mayHaveMore = lane.isReplaying = false;
    },
    async idle() {
      while (attempts.size > 0) await Promise.all([...attempts]);
    },
  };
}
