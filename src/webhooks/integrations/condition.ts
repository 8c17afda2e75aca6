import type { components } from '../../../generated/types.ts';

export interface WaitingDeliveries {
  readonly count: number;
  /** When the oldest of them was created. */
  readonly oldestAt: Date;
}

export interface WaitingSummary extends WaitingDeliveries {
  /** Whether only a part of them was read. Then the oldest can be older than the given time. */
  readonly isEstimated: boolean;
  /** Those that are due, and since when; undefined if there are none. */
  readonly due: { readonly count: number; readonly since: Date } | undefined;
  /** The others. */
  readonly later: WaitingDeliveries | undefined;
}

/** The condition of an integration's receiver under its current settings. */
export interface Condition {
  /** Failed attempts since the last successful one. */
  readonly consecutiveFailures: number;
  /** The time of the first failure after the last success. */
  readonly failingSince: Date | undefined;
  readonly lastFailure:
    | {
        readonly at: Date;
        /** Status of the answer; undefined if there was none. */
        readonly status: number | undefined;
        /** Why there was no answer, or only a part of it. */
        readonly error: components['schemas']['AttemptError'] | undefined;
      }
    | undefined;
  /** The newest delivery whose last attempt failed, with that attempt; undefined if `lastFailure` is, and in lists. */
  readonly failingDelivery: components['schemas']['FailingDelivery'] | undefined;
  /** Share of the attempts of the last day that succeeded; undefined if there were none. */
  readonly successRate: number | undefined;
  /** When the last attempt ended, under whatever settings. */
  readonly lastAttemptAt: Date | undefined;
  readonly lastSuccessAt: Date | undefined;
  /** Set while the circuit breaker is open. Until then nothing is sent. */
  readonly retryingUntil: Date | undefined;
  /** Undefined if nothing waits. */
  readonly waiting: WaitingSummary | undefined;
}

/** The condition of a receiver without attempts and waiting deliveries. */
export const soundCondition: Condition = {
  successRate: undefined,
  consecutiveFailures: 0,
  failingSince: undefined,
  lastFailure: undefined,
  failingDelivery: undefined,
  lastAttemptAt: undefined,
  lastSuccessAt: undefined,
  retryingUntil: undefined,
  waiting: undefined,
};
