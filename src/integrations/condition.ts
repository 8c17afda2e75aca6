import type { components } from '../../generated/types.ts';

/** How the receiver of an integration is doing, under its present settings. */
export interface Condition {
  /** Tries that failed since the last one that succeeded. */
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
}

export const soundCondition: Condition = { consecutiveFailures: 0, lastFailure: undefined, retryingUntil: undefined };
