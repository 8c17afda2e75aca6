import { isOurs, type SendError } from '../sending/send-error.ts';
import type { WebhookTiming } from '../timing.ts';

/** The failure of an attempt. */
export interface FailedAttempts {
  readonly at: Date;
  /** Status of the answer; undefined if there was none. */
  readonly status: number | undefined;
  readonly error: SendError | undefined;
}

/**
 * The condition of a receiver for one revision of its integration's settings. It is stored with the lane, so it
 * survives restarts and moves with the lease.
 */
export interface LaneHealth {
  readonly settingsRevision: number;
  /** The time of the first failure after the last success. */
  readonly failingSince: Date | undefined;
  /** When a warning was given since the first failure. */
  readonly warnedAt: Date | undefined;
  readonly failuresInARow: number;
  /** The last failure. */
  readonly lastFailure: FailedAttempts | undefined;
  /** The circuit breaker's state: undefined is closed. */
  readonly open: { readonly until: Date; readonly milliseconds: number } | undefined;
}

/** The condition without any failures. */
export function newHealth(settingsRevision: number): LaneHealth {
  return {
    settingsRevision,
    failingSince: undefined,
    warnedAt: undefined,
    failuresInARow: 0,
    lastFailure: undefined,
    open: undefined,
  };
}

export function afterSuccess({ settingsRevision }: LaneHealth): LaneHealth {
  return newHealth(settingsRevision);
}

/**
 * Counts a failure. After some consecutive failures the breaker opens: sending pauses. Then one attempt is sent as a
 * probe; if it fails too, the breaker opens for twice as long.
 *
 * @param retryAfter milliseconds that the receiver asked to wait (429, 503): the whole lane then waits
 */
export function afterFailure(
  health: LaneHealth,
  failure: FailedAttempts,
  retryAfter: number | undefined,
  { breaker, longestRetryAfter, jitter }: Pick<WebhookTiming, 'breaker' | 'longestRetryAfter' | 'jitter'>,
  random: number,
): LaneHealth {
  const { at } = failure;
  const failuresInARow = health.failuresInARow + 1;
  // Without our proxy nothing can be sent, so the lane pauses; but the receiver is not disabled for it.
  const failingSince = health.failingSince ?? (isOurs(failure.error) ? undefined : at);
  const failing = { ...health, failuresInARow, lastFailure: failure, failingSince };
  // Requests that were in progress when it opened do not count.
  const isOpen = health.open !== undefined && health.open.until > at;
  const asked = Math.min(retryAfter ?? 0, longestRetryAfter, breaker.longestOpen);
  const milliseconds = isOpen ? health.open.milliseconds : nextOpening(health, failuresInARow, breaker);
  // Receivers that failed at the same moment are not all probed at the same moment.
  const until = isOpen ? health.open.until.getTime() : at.getTime() + Math.round(milliseconds * (1 - jitter * random));
  const untilAsked = Math.max(until, at.getTime() + asked);
  if (milliseconds === 0 && asked === 0) return failing;
  return { ...failing, open: { until: new Date(untilAsked), milliseconds } };
}

function nextOpening(
  { open }: LaneHealth,
  failuresInARow: number,
  { failures, firstOpen, longestOpen }: WebhookTiming['breaker'],
): number {
  if (failuresInARow < failures) return 0;
  return open === undefined || open.milliseconds === 0 ? firstOpen : Math.min(open.milliseconds * 2, longestOpen);
}

/** Milliseconds until something can be sent; 0 if it can be sent now. */
export function remainingWait({ open }: LaneHealth, now: Date, longest: number): number {
  if (open === undefined) return 0;
  // The lane may come from a process whose clock is ahead.
  return Math.min(Math.max(open.until.getTime() - now.getTime(), 0), longest);
}

/** Whether the next request is a probe: the breaker was open, and no attempt has succeeded since. */
export function isProbing({ open }: LaneHealth): boolean {
  return open !== undefined;
}

/** The decision about a receiver that always fails. */
export type FailingDecision =
  | { readonly action: 'none' }
  | { readonly action: 'warn'; readonly failingSince: Date; readonly disablesAt: Date }
  | { readonly action: 'disable'; readonly failingSince: Date };

/** Decides after a failure. An integration is disabled only some time after a warning. */
export function decide(
  { failingSince, warnedAt }: LaneHealth,
  at: Date,
  { failing: { warnAfter, disableAfter, leastNotice } }: Pick<WebhookTiming, 'failing'>,
): FailingDecision {
  if (failingSince === undefined) return { action: 'none' };
  const lasted = at.getTime() - failingSince.getTime();
  if (warnedAt === undefined) {
    if (lasted < warnAfter) return { action: 'none' };
    const disablesAt = Math.max(failingSince.getTime() + disableAfter, at.getTime() + leastNotice);
    return { action: 'warn', failingSince, disablesAt: new Date(disablesAt) };
  }
  const noticed = at.getTime() - warnedAt.getTime();
  return lasted >= disableAfter && noticed >= leastNotice ? { action: 'disable', failingSince } : { action: 'none' };
}
