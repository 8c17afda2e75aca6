import type { WebhookTiming } from '../timing.ts';

/** A failed attempt. */
export interface FailedAttempt {
  /** Failed attempts of the delivery before this one. */
  readonly failuresBefore: number;
  /** Milliseconds that the receiver asked for. */
  readonly retryAfter: number | undefined;
}

/**
 * When to make the next attempt.
 *
 * @param random a number of at least 0 and below 1
 * @returns milliseconds from now; undefined if that was the last attempt
 */
export function nextAttemptIn(
  { failuresBefore, retryAfter }: FailedAttempt,
  { schedule, jitter, longestRetryAfter }: Pick<WebhookTiming, 'schedule' | 'jitter' | 'longestRetryAfter'>,
  random: number,
): number | undefined {
  const wait = schedule[failuresBefore + 1];
  if (wait === undefined) return undefined;
  const spread = Math.round(wait * (1 + jitter * (2 * random - 1)));
  // Also randomised: a receiver sends the same time to all clients, which would otherwise return at the same moment.
  const asked = Math.min(retryAfter ?? 0, longestRetryAfter);
  const askedSpread = Math.min(Math.round(asked * (1 + (jitter / 2) * random)), longestRetryAfter);
  return Math.max(spread, askedSpread);
}
