import type { Delivery } from './deliveries/delivery.ts';

/**
 * Why deliveries wait: they are due, a later attempt is scheduled or the circuit breaker is open, or the integration is
 * paused or disabled.
 */
export const waitingStatuses = ['due', 'retrying', 'paused', 'disabled'] as const;
export type WaitingStatus = (typeof waitingStatuses)[number];

/** An attempt that has ended. */
export interface Attempted {
  readonly integrationId: string;
  /** The class of the status (`2xx` …), or the error word. */
  readonly outcome: string;
  readonly seconds: number;
  readonly at: Date;
  /** As it was before the attempt. */
  readonly delivery: Delivery;
  readonly url: string;
  readonly status: number | undefined;
}

/** What the delivery engine reports for metrics. Its members can be called often and must not throw. */
export interface WebhookObserver {
  attempted(attempt: Attempted): void;
  /** A delivery was dropped. */
  expired(): void;
  /**
   * A delivery is finished. `seconds` is the time since the event. It is undefined for replays, held and failed
   * deliveries, whose age does not depend on the service.
   */
  finished(status: 'delivered' | 'failed', delivery: Delivery, seconds?: number): void;
  /** Events were relayed; `seconds` is the waiting time of the oldest. */
  relayed(events: number, seconds: number): void;
  breakerOpened(): void;
  integrationDisabled(reason: string): void;
  /** Partitions that this process holds. */
  partitionsHeld(count: number): void;
  /**
   * The waiting deliveries of the whole database. `seconds` is the time since the first was due, or since it was
   * created if it is not due.
   */
  waiting(status: WaitingStatus, deliveries: number, seconds: number): void;
  /** Documents with waiting events at the last search. */
  outboxesWaiting(count: number): void;
}

export const silentObserver: WebhookObserver = {
  attempted: () => undefined,
  expired: () => undefined,
  finished: () => undefined,
  relayed: () => undefined,
  breakerOpened: () => undefined,
  integrationDisabled: () => undefined,
  partitionsHeld: () => undefined,
  waiting: () => undefined,
  outboxesWaiting: () => undefined,
};

/**
 * The part of a logger that the engine uses; a pino logger has it. Only ids and fixed words are logged, never bodies,
 * headers or URLs.
 */
export interface WebhookLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}
