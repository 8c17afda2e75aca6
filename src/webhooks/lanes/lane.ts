import type { ReceiverSettings } from '../integrations/directory.ts';
import type { DeliveryWithBody } from '../deliveries/delivery.ts';
import { partitionOf } from '../partitions/partition.ts';
import type { WebhookTiming } from '../timing.ts';
import { isProbing, newHealth, remainingWait, type LaneHealth } from './health.ts';
import type { LaneState } from './health-store.ts';

/** A delivery that will be begun. */
export interface Waiting {
  readonly id: string;
  /** Attempted even while the circuit breaker is open, if it was not attempted before. */
  readonly isUrgent: boolean;
  /** Undefined if it must be read first. */
  readonly delivery?: DeliveryWithBody | undefined;
  /** Set if it was created with an attempt begun. */
  readonly stamp?: number | undefined;
}

/** The settings that attempts use, and when they were read, on the monotonic clock. */
export interface KnownReceiver {
  readonly receiver: ReceiverSettings;
  /** Of the integration that they were opened from. */
  readonly revision: number;
  readonly readAt: number;
}

/**
 * What this process knows about the deliveries of one integration. There is one only while this process holds the
 * integration's partition, and only after it had work.
 */
export interface Lane {
  readonly integrationId: string;
  readonly partition: number;
  /** To be begun, in this order. */
  waiting: Waiting[];
  /** Whether the database can have due deliveries that do not wait here. */
  mayHaveMore: boolean;
  /** Whether it can have running replays. */
  isReplaying: boolean;
  /** Whether its deliveries or replays are being read. */
  isReading: boolean;
  /** Requests in progress, and places for those that are about to begin. */
  posting: number;
  /** Deliveries that were begun and are not settled. */
  readonly underWay: Set<string>;
  /** Decisions about the receiver that are being written. Nothing is begun meanwhile: nothing more is sent after a 410. */
  decisions: number;
  /** Whether `health` and `activity` are read. */
  isLoaded: boolean;
  health: LaneHealth | undefined;
  activity: LaneState['activity'];
  known: KnownReceiver | undefined;
  /** Milliseconds since the epoch: until then nothing is begun, because it could not be. */
  interruptedUntil: number;
  /** Milliseconds since the epoch: the agenda wakes it then, because nothing can be begun before. */
  wakesAt: number;
}

export function createLane(integrationId: string): Lane {
  return {
    integrationId,
    partition: partitionOf(integrationId),
    waiting: [],
    mayHaveMore: false,
    isReplaying: false,
    isReading: false,
    posting: 0,
    underWay: new Set(),
    decisions: 0,
    isLoaded: false,
    health: undefined,
    activity: { lastAttemptAt: undefined, lastSuccessAt: undefined },
    known: undefined,
    interruptedUntil: 0,
    wakesAt: 0,
  };
}

export function hasWork({ waiting, mayHaveMore, isReplaying }: Lane): boolean {
  return waiting.length > 0 || mayHaveMore || isReplaying;
}

/** Whether nothing is known that would have to be read again. */
export function isIdle(lane: Lane): boolean {
  return !hasWork(lane) && !lane.isReading && lane.underWay.size === 0 && lane.decisions === 0;
}

/** Counts under other settings are ignored. Older settings come from a batch that was read earlier. */
export function healthUnder(lane: Lane, settingsRevision: number): LaneHealth | undefined {
  if (lane.health === undefined || lane.health.settingsRevision < settingsRevision) {
    lane.health = newHealth(settingsRevision);
  }
  return lane.health.settingsRevision === settingsRevision ? lane.health : undefined;
}

/** Milliseconds until something can be sent; 0 if it can be sent now. */
export function waitOf(lane: Lane, now: Date, { breaker }: Pick<WebhookTiming, 'breaker'>): number {
  const interrupted = Math.max(0, lane.interruptedUntil - now.getTime());
  if (lane.health === undefined) return interrupted;
  return Math.max(interrupted, remainingWait(lane.health, now, breaker.longestOpen));
}

/** Whether the receiver failed so often that it gets one request at a time. */
export function isOnProbation(lane: Lane): boolean {
  return lane.health !== undefined && isProbing(lane.health);
}
