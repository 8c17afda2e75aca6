import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { WebhookObserver } from '../webhooks/observer.ts';
import { seriesOf } from './series.ts';

/** From a millisecond for a receiver on the loopback to days for the last attempt of a schedule. */
const deliveryBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 600, 3_600, 36_000, 86_400, 345_600];
const tryBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/**
 * Metrics of the delivery engine of this process, and of waiting deliveries in the database. No label names an
 * integration, because there can be thousands.
 */
export function createWebhookMetrics(registry: Registry): WebhookObserver {
  const registers = [registry];
  const attempts = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Duration of one attempt to deliver an event, in seconds, by status class, or by error if there was no answer.',
    labelNames: ['outcome'] as const,
    buckets: tryBuckets,
    registers,
  });
  const delivered = new Histogram({
    name: 'webhook_delivery_duration_seconds',
    help: 'Time from an event to its successful delivery, in seconds. Does not count replays, or deliveries created before the integration was last changed or enabled.',
    buckets: deliveryBuckets,
    registers,
  });
  const finished = new Counter({
    name: 'webhook_deliveries_finished_total',
    help: 'Finished deliveries, by their final status.',
    labelNames: ['status'] as const,
    registers,
  });
  const relayed = new Counter({
    name: 'webhook_events_relayed_total',
    help: 'Events relayed from outboxes.',
    registers,
  });
  const lag = new Histogram({
    name: 'webhook_relay_lag_seconds',
    help: 'Time that the oldest event of a batch waited in its outbox, in seconds.',
    buckets: deliveryBuckets,
    registers,
  });
  const opened = new Counter({
    name: 'webhook_circuit_breakers_opened_total',
    help: 'Times that a circuit breaker opened because attempts failed in a row.',
    registers,
  });
  const disabled = new Counter({
    name: 'webhook_integrations_disabled_total',
    help: 'Integrations that the service disabled, by reason.',
    labelNames: ['reason'] as const,
    registers,
  });
  const lanes = new Gauge({
    name: 'webhook_lanes_held',
    help: 'Integrations that this process sends to.',
    registers,
  });
  const waiting = new Gauge({
    name: 'webhook_deliveries_waiting',
    help: 'Deliveries in the database that wait: because they are due, for a retry, or because their integration is paused or disabled. Large numbers are estimates.',
    labelNames: ['status'] as const,
    registers,
  });
  const oldest = new Gauge({
    name: 'webhook_oldest_waiting_seconds',
    help: 'Age of the oldest waiting delivery, in seconds. For the status due: time since the first delivery became due. 0 if there is none.',
    labelNames: ['status'] as const,
    registers,
  });
  const outboxes = new Gauge({
    name: 'webhook_outboxes_waiting',
    help: 'Documents in the database whose outbox is not empty.',
    registers,
  });
  const attemptSeries = seriesOf(attempts);
  const finishedSeries = seriesOf(finished);
  return {
    attempted: (_integrationId, outcome, seconds) => {
      attemptSeries(outcome).observe(seconds);
    },
    finished: (status, seconds) => {
      finishedSeries(status).inc();
      if (seconds !== undefined) delivered.observe(seconds);
    },
    relayed: (events, seconds) => {
      relayed.inc(events);
      lag.observe(seconds);
    },
    breakerOpened: () => {
      opened.inc();
    },
    integrationDisabled: (reason) => {
      disabled.labels(reason).inc();
    },
    lanesHeld: (count) => {
      lanes.set(count);
    },
    waiting: (status, deliveries, seconds) => {
      waiting.labels(status).set(deliveries);
      oldest.labels(status).set(seconds);
    },
    outboxesWaiting: (count) => {
      outboxes.set(count);
    },
  };
}
