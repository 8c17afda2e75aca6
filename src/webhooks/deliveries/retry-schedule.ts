import type { WebhookTiming } from '../timing.ts';

/** What is known of an attempt that failed. */
export interface FailedAttempt {
  /** Attempts of the delivery that failed before this one. */
  readonly failuresBefore: number;
  /** Milliseconds that the receiver asked to wait. */
  readonly retryAfter: number | undefined;
}

/**
 * When to make the next attempt.
 *
 * @param random a number from 0 up to 1
 * @returns milliseconds from now; undefined when that was the last attempt
 */
export function nextAttemptIn(
  { failuresBefore, retryAfter }: FailedAttempt,
  { schedule, jitter, longestRetryAfter }: Pick<WebhookTiming, 'schedule' | 'jitter' | 'longestRetryAfter'>,
  random: number,
): number | undefined {
  const wait = schedule[failuresBefore + 1];
  if (wait === undefined) return undefined;
  const spread = Math.round(wait * (1 + jitter * (2 * random - 1)));
  // Also spread: receivers send the same time to all clients, which would otherwise return at the same moment.
  const asked = Math.min(retryAfter ?? 0, longestRetryAfter);
  const askedSpread = Math.min(Math.round(asked * (1 + (jitter / 2) * random)), longestRetryAfter);
  return Math.max(spread, askedSpread);
}
