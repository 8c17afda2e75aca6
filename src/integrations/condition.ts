import type { components } from '../../generated/types.ts';

/** Some deliveries that wait. */
export interface WaitingDeliveries {
  readonly count: number;
  /** When the first of them was made. */
  readonly oldestAt: Date;
}

/** Waiting deliveries of an integration. */
export interface Waiting extends WaitingDeliveries {
  /** Whether they were counted by samples: the oldest of them may be older than is said. */
  readonly isEstimated: boolean;
  /** Those of them that are due, and since when; undefined when there are none. */
  readonly due: { readonly count: number; readonly since: Date } | undefined;
  /** The others. */
  readonly later: WaitingDeliveries | undefined;
}

/** The condition of an integration's receiver with its current settings. */
export interface Condition {
  /** Attempts that failed since the last one that succeeded. */
  readonly consecutiveFailures: number;
  /** The last of them. */
  readonly lastFailure:
    | {
        readonly at: Date;
        /** Of the answer; undefined when there was none. */
        readonly status: number | undefined;
        /** Why there was no answer, or not all of it. */
        readonly error: components['schemas']['AttemptError'] | undefined;
      }
    | undefined;
  /** Set while the circuit breaker is open: until then nothing is sent. */
  readonly retryingUntil: Date | undefined;
  /** Undefined when nothing waits. */
  readonly waiting: Waiting | undefined;
}

/** The condition of a receiver without failures and waiting deliveries. */
export const soundCondition: Condition = {
  ...{ consecutiveFailures: 0, lastFailure: undefined },
  ...{ retryingUntil: undefined, waiting: undefined },
};
