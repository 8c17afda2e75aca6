import type { WebhookObserver } from '../webhooks/observer.ts';
import type { MetricSet } from './metric-set.ts';

/** From a millisecond for a receiver on the loopback to days for the last attempt of a schedule. */
const deliveryBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 600, 3_600, 36_000, 86_400, 345_600];
const tryBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/**
 * Metrics of the delivery engine of this process, and of waiting deliveries in the database. No label names an
 * integration, because there can be thousands.
 */
export function createWebhookMetrics({ counter, gauge, histogram }: MetricSet): WebhookObserver {
  const attempts = histogram(
    'webhook_attempt_duration_seconds',
    'Duration of one attempt to deliver an event, in seconds, by status class, or by error if there was no answer.',
    tryBuckets,
    'outcome',
  );
  const delivered = histogram(
    'webhook_delivery_duration_seconds',
    'Time from an event to its successful delivery, in seconds. Does not count replays, or deliveries created before the integration was last changed or enabled.',
    deliveryBuckets,
  );
  const finished = counter(
    'webhook_deliveries_finished_total',
    'Finished deliveries, by their final status.',
    'status',
  );
  for (const status of ['delivered', 'failed', 'expired']) finished(status);
  const relayed = counter('webhook_events_relayed_total', 'Events relayed from outboxes.');
  const lag = histogram(
    'webhook_relay_lag_seconds',
    'Time that the oldest event of a batch waited in its outbox, in seconds.',
    deliveryBuckets,
  );
  const opened = counter(
    'webhook_circuit_breakers_opened_total',
    'Times that a circuit breaker opened because attempts failed in a row.',
  );
  const disabled = counter(
    'webhook_integrations_disabled_total',
    'Integrations that the service disabled, by reason.',
    'reason',
  );
  for (const reason of ['gone', 'failing']) disabled(reason);
  const partitions = gauge(
    'webhook_partitions_held',
    'Partitions of integrations that this process sends to. All processes together hold 64.',
  );
  const waiting = gauge(
    'webhook_deliveries_waiting',
    'Deliveries in the database that wait: because they are due, for a retry, or because their integration is paused or disabled. Large numbers are estimates.',
    'status',
  );
  const oldest = gauge(
    'webhook_oldest_waiting_seconds',
    'Age of the oldest waiting delivery, in seconds. For the status due: time since the first delivery became due. 0 if there is none.',
    'status',
  );
  const outboxes = gauge('webhook_outboxes_waiting', 'Documents in the database whose outbox is not empty.');
  return {
    attempted: ({ outcome, seconds }) => {
      attempts(outcome).observe(seconds);
    },
    expired: () => {
      finished('expired').inc();
    },
    finished: (status, _delivery, seconds) => {
      finished(status).inc();
      if (seconds !== undefined) delivered().observe(seconds);
    },
    relayed: (events, seconds) => {
      relayed().inc(events);
      lag().observe(seconds);
    },
    breakerOpened: () => {
      opened().inc();
    },
    integrationDisabled: (reason) => {
      disabled(reason).inc();
    },
    partitionsHeld: (count) => {
      partitions().set(count);
    },
    waiting: (status, deliveries, seconds) => {
      waiting(status).set(deliveries);
      oldest(status).set(seconds);
    },
    outboxesWaiting: (count) => {
      outboxes().set(count);
    },
  };
}
