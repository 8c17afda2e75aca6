import type { Clock } from '../../base/runtime/clock.ts';
import type { DeliveryWithBody } from '../deliveries/delivery.ts';
import { partitionOf } from '../partitions/partition.ts';
import type { Quota } from '../sending/quota.ts';
import type { WebhookTiming } from '../timing.ts';
import { remainingWait } from './health.ts';
import { Receiver } from './receiver.ts';

/** A delivery that will be begun. */
export interface WaitingDelivery {
  readonly id: string;
  /** Attempted even while the circuit breaker is open, if it was not attempted before. */
  readonly isUrgent: boolean;
  /** Undefined if it must be read first. */
  readonly delivery?: DeliveryWithBody | undefined;
  /** Set if it was created with an attempt begun. */
  readonly stamp?: number | undefined;
}

/** What is read for a lane: deliveries that are due, or the next page of its replays. */
export type Source = 'deliveries' | 'replays';

/** What a lane does in its turn. `begin`: the delivery has a place from now on. */
export type Turn = { readonly kind: 'begin'; readonly item: WaitingDelivery } | { readonly kind: 'read' | 'none' };

/** What the lanes of a process share. */
export interface Shared {
  /** The deliveries that wait or have a place, or are about to be created. Each is begun once. */
  readonly claimed: Set<string>;
  readonly quota: Pick<Quota, 'take' | 'giveBack' | 'share'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly timing: Pick<WebhookTiming, 'breaker' | 'poll' | 'search'>;
  /** Whether attempts for an integration can begin. */
  holds(integrationId: string): boolean;
  /** A lane may have work, or a place for it. */
  wake(lane: Lane): void;
  /** Wakes the lane at a time, in milliseconds since the epoch, for this delivery or for whatever is due then. */
  schedule(lane: Pick<Lane, 'integrationId'>, at: number, deliveryId?: string): void;
  /** Undoes the stamp of deliveries that are not attempted. @returns when it is written; it never rejects */
  unstamp(deliveryIds: readonly string[], stamp: number): Promise<void>;
}

/** Deliveries of an integration that one read finds, so that a backlog is not searched for every batch. */
export const readAtOnce = 256;
/** The most deliveries that wait in memory, of all integrations. What exceeds it waits in the database. */
const maxWaiting = 20_000;
/** The most deliveries of one integration that are in progress, wait until their results are written, or are set aside. */
export const maxUnsettled = 256;

/**
 * The deliveries of one integration. There is a lane only while this process holds the integration's partition, and
 * only after it had work. Each method is a transition, and wakes the lane if it may have a turn after it. A delivery is
 *
 *     stored ── add, found ──> waiting ── turn ──> begun ── answered ──> settling ── settled ──> finished, or stored
 *        ^                        |                  |
 *        └── rest, hold, close ───┴── giveUp, leave ─┘   (by way of settling, if they are stamped)
 *
 * A delivery that fails with an unexpected error is set aside: it is stored, but this process does not begin it for a
 * time. A stored delivery comes back when the agenda says so, or by a read: the lane knows whether there can be
 * something `unread`. A lane begins nothing while a decision about its receiver is written, while it is interrupted,
 * while the circuit breaker is open (but for urgent deliveries), while too many are set aside, and after it was closed.
 */
export class Lane {
  readonly integrationId: string;
  readonly partition: number;
  readonly receiver = new Receiver();
  readonly #shared: Shared;
  /** In this order. */
  readonly #waiting: WaitingDelivery[] = [];
  /** They have a place: their requests are in progress or about to begin. */
  readonly #begun = new Set<string>();
  readonly #settling = new Set<string>();
  /** Deliveries that failed with an unexpected error, and until when they are not begun. The first ends first. */
  readonly #aside = new Map<string, number>();
  /** What the database can have beyond these. */
  readonly #unread = new Set<Source>();
  #reading: Source | undefined;
  /** Reads that failed with an unexpected error, and until when they are not repeated. */
  readonly #failedReads = new Map<Source, { readonly pause: number; readonly until: number }>();
  #decisions = 0;
  /** Milliseconds since the epoch, like all times here. */
  #interruptedUntil = 0;
  #restsUntil = 0;
  #isClosed = false;

  constructor(integrationId: string, shared: Shared) {
    this.integrationId = integrationId;
    this.partition = partitionOf(integrationId);
    this.#shared = shared;
  }

  /** Whether attempts can begin. */
  get isOpen(): boolean {
    return !this.#isClosed && this.#shared.holds(this.integrationId);
  }

  get hasWork(): boolean {
    return this.#waiting.length > 0 || this.#unread.size > 0;
  }

  /** Whether nothing is in progress. */
  get isDrained(): boolean {
    return this.#underWay === 0;
  }

  /** Whether nothing is known that would have to be read again. */
  get isIdle(): boolean {
    const hasNone = this.#reading === undefined && this.#decisions === 0 && this.#countAside() === 0;
    return !this.hasWork && this.isDrained && hasNone;
  }

  /** Whether a decision about the receiver is being written. */
  get isDeciding(): boolean {
    return this.#decisions > 0;
  }

  /** The deliveries that wait here, are in progress or are set aside. */
  get ids(): ReadonlySet<string> {
    this.#countAside();
    return new Set([...this.#begun, ...this.#settling, ...this.#aside.keys(), ...this.#waiting.map(({ id }) => id)]);
  }

  get #underWay(): number {
    return this.#begun.size + this.#settling.size;
  }

  // Work ---------------------------------------------------------------------------------------------------------

  /**
   * Claims a delivery that will be created.
   * @returns false if it cannot be created with its attempt begun, because it has to wait
   */
  reserve(id: string): boolean {
    const { claimed } = this.#shared;
    const inMemory = this.#waiting.length + this.#underWay + this.#countAside();
    const isFull = inMemory >= maxUnsettled || claimed.size >= maxWaiting;
    const isBehind = this.#isUnread('deliveries') || this.#reading !== undefined;
    const mustWait = isBehind || this.isDeciding || this.receiver.isOnProbation || this.#wait() > 0;
    if (isFull || mustWait || claimed.has(id)) return false;
    claimed.add(id);
    return true;
  }

  /** A delivery is due. If there are many, it waits in the database. */
  add(item: WaitingDelivery): void {
    if (this.#isKnown(item.id)) return;
    const mustWaitHere = item.isUrgent || item.stamp !== undefined;
    if (mustWaitHere || (!this.#isUnread('deliveries') && this.#hasRoom())) this.#enqueue(item);
    else this.#unread.add('deliveries');
    this.#shared.wake(this);
  }

  /** The database can have more. */
  lookFor(...sources: readonly Source[]): void {
    for (const source of sources) this.#unread.add(source);
    this.#shared.wake(this);
  }

  /** An operator has changed something, or has requested a replay. */
  lookAgain(): void {
    this.#interruptedUntil = 0;
    this.#aside.clear();
    this.#failedReads.clear();
    this.receiver.forgetSettings();
    this.lookFor('deliveries', 'replays');
  }

  #isKnown(id: string): boolean {
    this.#countAside();
    return this.#shared.claimed.has(id) || this.#aside.has(id);
  }

  /** @returns how many are set aside now */
  #countAside(): number {
    const now = this.#shared.clock.now().getTime();
    for (const [id, until] of this.#aside) {
      if (until > now) break;
      this.#aside.delete(id);
    }
    return this.#aside.size;
  }

  #hasRoom(): boolean {
    return this.#waiting.length < readAtOnce && this.#shared.claimed.size < maxWaiting;
  }

  #enqueue(item: WaitingDelivery): void {
    this.#shared.claimed.add(item.id);
    if (item.isUrgent) this.#waiting.unshift(item);
    else this.#waiting.push(item);
  }

  // Its turn -----------------------------------------------------------------------------------------------------

  /** Call it when there is a place in the quota. */
  turn(): Turn {
    const isFull = this.#underWay + this.#countAside() >= maxUnsettled;
    if (!this.isOpen || this.isDeciding || isFull) return { kind: 'none' };
    const wait = this.receiver.isLoaded ? this.#wait() : 0;
    const [item] = this.#waiting;
    if (wait > 0 && item?.isUrgent !== true) {
      this.#rest(wait);
      return { kind: 'none' };
    }
    if (item === undefined) return { kind: this.#reading === undefined && this.#readable.length > 0 ? 'read' : 'none' };
    const places = this.receiver.isOnProbation ? 1 : this.#shared.quota.share();
    if (this.#begun.size >= places) return { kind: 'none' };
    this.#waiting.shift();
    this.#begun.add(item.id);
    this.#shared.quota.take();
    return { kind: 'begin', item };
  }

  /** @returns what is to be read, deliveries before replays; end it with `endReading` */
  beginReading(): Source | undefined {
    if (!this.isOpen) return undefined;
    [this.#reading] = this.#readable;
    if (this.#reading !== undefined) this.#unread.delete(this.#reading);
    return this.#reading;
  }

  get #readable(): Source[] {
    return (['deliveries', 'replays'] as const).filter((source) => this.#isUnread(source));
  }

  /** Whether there can be more of it, and it can be read now. */
  #isUnread(source: Source): boolean {
    const until = this.#failedReads.get(source)?.until ?? 0;
    return this.#unread.has(source) && until <= this.#shared.clock.now().getTime();
  }

  /** Deliveries that were read and are due. They wait here, even if somebody asks to read again meanwhile. */
  found(deliveries: readonly DeliveryWithBody[]): void {
    for (const delivery of deliveries) {
      if (this.#isKnown(delivery.id)) continue;
      if (this.#hasRoom()) this.#enqueue({ id: delivery.id, isUrgent: false, delivery });
      else this.#unread.add('deliveries');
    }
  }

  /** @param hasMore whether the same must be read again, also if nobody asked meanwhile */
  endReading(hasMore: boolean): void {
    if (this.#reading !== undefined) {
      this.#failedReads.delete(this.#reading);
      if (hasMore) this.#unread.add(this.#reading);
    }
    this.#reading = undefined;
    this.#shared.wake(this);
  }

  /** It failed with an unexpected error. It is repeated after a time, which doubles with each failure. */
  failReading(): void {
    const { clock, timing } = this.#shared;
    const source = this.#reading;
    const before = source && this.#failedReads.get(source);
    this.endReading(true);
    if (source === undefined) return;
    const pause = before === undefined ? timing.poll : Math.min(2 * before.pause, timing.search);
    const until = clock.now().getTime() + pause;
    this.#failedReads.set(source, { pause, until });
    this.#shared.schedule(this, until);
  }

  // A delivery with a place --------------------------------------------------------------------------------------

  /** Whether it is still to be attempted now, by what was just read. If not, it has left its place. */
  admit(item: WaitingDelivery, delivery: DeliveryWithBody | undefined): delivery is DeliveryWithBody {
    if (delivery?.status !== 'pending') {
      this.leave(item.id);
      return false;
    }
    const { attemptCount, nextAttemptAt } = delivery;
    if (item.isUrgent && attemptCount === 0) return true;
    if (nextAttemptAt !== undefined && nextAttemptAt > this.#shared.clock.now()) {
      this.leave(item.id, nextAttemptAt);
      return false;
    }
    const wait = this.#wait();
    if (wait === 0 && (this.#begun.size === 1 || !this.receiver.isOnProbation)) return true;
    this.giveUp(item);
    if (wait > 0) this.#rest(wait);
    return false;
  }

  /** It is not attempted now, but at a time, if there is one. */
  leave(id: string, at?: Date): void {
    this.#shared.quota.giveBack();
    this.settled(id, at);
  }

  /** It is not attempted, and still due. @param stamp if its attempt is counted already */
  giveUp(item: WaitingDelivery, stamp = item.stamp): void {
    this.#unread.add('deliveries');
    if (stamp === undefined) return this.leave(item.id);
    this.#shared.quota.giveBack();
    this.#begun.delete(item.id);
    this.#unstamp([item.id], stamp);
  }

  /** Nothing can be sent to the receiver. If its integration is not active, a nudge tells when that changes. */
  hold(item: WaitingDelivery): void {
    this.giveUp(item);
    this.#putBack();
    if (this.#interruptedUntil <= this.#shared.clock.now().getTime()) this.#unread.clear();
  }

  /** Its request has ended. */
  answered(id: string): void {
    this.#begun.delete(id);
    this.#settling.add(id);
    this.#shared.wake(this);
  }

  /** Its result is written. @param at when it is attempted again */
  settled(id: string, at?: Date): void {
    this.#begun.delete(id);
    this.#settling.delete(id);
    this.#shared.claimed.delete(id);
    if (at !== undefined) this.#shared.schedule(this, at.getTime(), id);
    this.#shared.wake(this);
  }

  /**
   * It failed with an unexpected error, which would come again at once. It is still due in the database, and is begun
   * again after a time, or when an operator changes something.
   * @returns whether nothing else is begun until then, because so many are set aside
   */
  setAside(id: string): boolean {
    const { clock, timing } = this.#shared;
    const until = clock.now().getTime() + timing.search;
    this.#aside.set(id, until);
    this.settled(id, new Date(until));
    return this.#aside.size >= maxUnsettled;
  }

  // Pauses -------------------------------------------------------------------------------------------------------

  /** Begins nothing before the decision is written: nothing more is sent after a 410. @param writing never rejects */
  decide(writing: Promise<void>): void {
    this.#decisions += 1;
    void writing.then(() => {
      this.#decisions -= 1;
      this.receiver.forgetSettings();
      this.#shared.wake(this);
    });
  }

  /** Begins nothing for a time. */
  interrupt(milliseconds: number): void {
    this.#interruptedUntil = this.#shared.clock.now().getTime() + milliseconds;
  }

  /** Begins nothing for a time, and reads what waits again afterwards. */
  retryIn(milliseconds: number): void {
    this.interrupt(milliseconds);
    this.#unread.add('deliveries');
    this.#rest(milliseconds);
  }

  /** Leaves what waits to the database for good. What is in progress is still settled. */
  close(): void {
    this.#isClosed = true;
    this.#putBack();
    this.#unread.clear();
  }

  /** Milliseconds until something can be sent; 0 if it can be sent now. */
  #wait(): number {
    const { clock, timing } = this.#shared;
    const { health } = this.receiver.state;
    const now = clock.now();
    const pause = health === undefined ? 0 : remainingWait(health, now, timing.breaker.longestOpen);
    return Math.max(0, this.#interruptedUntil - now.getTime(), pause);
  }

  /** Nothing can be begun for a time, so what waits is left to the database. */
  #rest(milliseconds: number): void {
    this.#putBack();
    const until = this.#shared.clock.now().getTime() + milliseconds;
    if (this.#restsUntil === until) return;
    this.#restsUntil = until;
    this.#shared.schedule(this, until);
  }

  #putBack(): void {
    const items = this.#waiting.splice(0);
    if (items.length > 0) this.#unread.add('deliveries');
    for (const [stamp, alike] of Map.groupBy(items, (item) => item.stamp)) {
      const ids = alike.map(({ id }) => id);
      if (stamp !== undefined) this.#unstamp(ids, stamp);
      else for (const id of ids) this.#shared.claimed.delete(id);
    }
  }

  /** They stay claimed until it is written. A later stamp that came before would leave them one attempt too many. */
  #unstamp(ids: readonly string[], stamp: number): void {
    for (const id of ids) this.#settling.add(id);
    void this.#shared.unstamp(ids, stamp).then(() => {
      for (const id of ids) this.settled(id);
      if (!this.#isClosed) this.lookFor('deliveries');
    });
  }
}
