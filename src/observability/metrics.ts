import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import packageJson from '../../package.json' with { type: 'json' };
import type { DatabaseObserver } from '../db/pool-watch.ts';
import type { StreamEnd } from '../http/answer-stream.ts';
import type { MemoryUse } from '../limits/memory-budget.ts';
import type { ProviderRegistry, QueueLoad } from '../providers/provider.ts';
import type { WebhookObserver } from '../webhooks/observer.ts';
import { createDatabaseMetrics } from './database-metrics.ts';
import { seriesOf } from './series.ts';
import { createWebhookMetrics } from './webhook-metrics.ts';

/** Labels of a paid call. `model` is one of the provider's list, or `other`, because callers can name any. */
export interface SpentTokens {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Prometheus metrics of this process. Label values come from the contract and configuration, never from callers. */
export interface Metrics {
  /** One answered request; `operation` is `none` if no operation was reached. */
  observeRequest(operation: string, status: number, seconds: number): void;
  /** One streamed answer that has ended, in addition to `observeRequest`. */
  observeStream(operation: string, end: StreamEnd): void;
  /** One call of a provider; `outcome` is `ok` or a problem type. */
  observeProviderCall(provider: string, outcome: string, seconds: number, spent?: SpentTokens): void;
  /** One attempt to call a provider, retries included; `outcome` is `ok`, `cancelled` or a problem type. */
  countProviderAttempt(provider: string, outcome: string): void;
  countCache(result: 'hit' | 'miss' | 'joined'): void;
  countRefereeDisagreement(operation: string): void;
  setTestRunsActive(count: number): void;
  setStreamsActive(count: number): void;
  /** Encrypted values in the database, by key; replaces the counts of before. */
  setStoredSecrets(counts: readonly { readonly keyId: string; readonly use: string; readonly values: number }[]): void;
  /** One answer that is a problem document. */
  countProblem(type: string): void;
  /** What is read when the metrics are rendered. */
  watch(readers: MetricReaders): void;
  /** What the connections to the database report. */
  readonly database: DatabaseObserver;
  /** What the delivery engine reports. */
  readonly webhooks: WebhookObserver;
  /** The text exposition format. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** Numbers that are kept elsewhere anyway. */
export interface MetricReaders {
  readonly providers: ProviderRegistry['load'];
  readonly memory: () => MemoryUse;
}

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'prompt_gateway_build_info',
    help: 'Always 1. The labels say what runs.',
    labelNames: ['version', 'node'] as const,
    registers,
  }).set({ version: packageJson.version, node: process.versions.node }, 1);
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request head to the answer, of streamed answers to their end, in seconds.',
    labelNames: ['operation', 'status'] as const,
    buckets: requestBuckets,
    registers,
  });
  const streams = new Counter({
    name: 'http_streamed_answers_total',
    help: 'Streamed answers that have ended: complete, error (the last event is a problem), failed (cut by the service), or closed (the connection was closed).',
    labelNames: ['operation', 'outcome'] as const,
    registers,
  });
  const streamedBytes = new Counter({
    name: 'http_streamed_bytes_total',
    help: 'Bytes sent in streamed answers that have ended.',
    labelNames: ['operation'] as const,
    registers,
  });
  const firstEvents = new Histogram({
    name: 'http_stream_first_event_seconds',
    help: 'Time until the first event of a streamed answer, from when the request was checked, in seconds.',
    labelNames: ['operation'] as const,
    buckets: requestBuckets,
    registers,
  });
  const streamsActive = new Gauge({
    name: 'http_event_streams_active',
    help: 'Streams of events in progress in this process, with those whose caller has left.',
    registers,
  });
  const providerCalls = new Histogram({
    name: 'provider_call_duration_seconds',
    help: 'Time of a provider call with its retries, in seconds.',
    labelNames: ['provider', 'outcome'] as const,
    buckets: requestBuckets,
    registers,
  });
  const attempts = new Counter({
    name: 'provider_attempts_total',
    help: 'Calls to providers, each retry and fallback counted, by outcome: ok, cancelled, or the problem type. An answer that then breaks its schema is ok.',
    labelNames: ['provider', 'outcome'] as const,
    registers,
  });
  const tokens = new Counter({
    name: 'provider_tokens_total',
    help: 'Tokens of answered provider calls, as the provider counts them.',
    labelNames: ['provider', 'model', 'direction'] as const,
    registers,
  });
  const cache = new Counter({
    name: 'invoke_cache_total',
    help: 'Invocations that allow caching, by result of the cache.',
    labelNames: ['result'] as const,
    registers,
  });
  const disagreements = new Counter({
    name: 'contract_referee_disagreements_total',
    help: 'Exchanges where the contract referee disagreed.',
    labelNames: ['operation'] as const,
    registers,
  });
  const problems = new Counter({
    name: 'http_problems_total',
    help: 'Answers that are problem documents, and streams that ended with one, by the type of the problem.',
    labelNames: ['type'] as const,
    registers,
  });
  let readers: MetricReaders | undefined;
  new Gauge({
    name: 'request_memory_reserved_bytes',
    help: 'Estimated memory of large bodies, invocations, test runs and large answers in progress, in bytes.',
    registers,
    collect() {
      this.set(readers?.memory().reserved ?? 0);
    },
  });
  new Gauge({
    name: 'request_memory_limit_bytes',
    help: 'The most such memory: REQUEST_MEMORY_MB, in bytes.',
    registers,
    collect() {
      this.set(readers?.memory().limit ?? 0);
    },
  });
  new Gauge({
    name: 'request_memory_waiting',
    help: 'Requests that wait for such memory.',
    registers,
    collect() {
      this.set(readers?.memory().waiting ?? 0);
    },
  });
  new Counter({
    name: 'request_memory_refused_total',
    help: 'Requests that were refused because such memory was used up: by their key (429) or by all keys (503).',
    labelNames: ['by'] as const,
    registers,
    collect() {
      this.reset();
      const { refused } = readers?.memory() ?? { refused: { key: 0, all: 0 } };
      this.inc({ by: 'key' }, refused.key);
      this.inc({ by: 'all' }, refused.all);
    },
  });
  const providerGauge = (name: string, help: string, member: keyof QueueLoad): void => {
    new Gauge({
      name,
      help,
      labelNames: ['provider'] as const,
      registers,
      collect() {
        for (const load of readers?.providers().providers ?? []) this.set({ provider: load.provider }, load[member]);
      },
    });
  };
  providerGauge('provider_calls_active', 'Calls of a provider in progress, without streamed ones.', 'active');
  providerGauge(
    'provider_calls_waiting',
    'Calls that wait because the provider has PROVIDER_CONCURRENCY calls in progress.',
    'waiting',
  );
  providerGauge('provider_calls_limit', 'The most calls of a provider in progress: PROVIDER_CONCURRENCY.', 'limit');
  const streamGauge = (name: string, help: string, member: keyof QueueLoad): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(readers?.providers().streams[member] ?? 0);
      },
    });
  };
  streamGauge('provider_streams_active', 'Streamed calls of all providers in progress.', 'active');
  streamGauge('provider_streams_waiting', 'Streamed calls that wait for a place.', 'waiting');
  streamGauge('provider_streams_limit', 'The most streamed calls in progress.', 'limit');
  const testRuns = new Gauge({ name: 'test_runs_active', help: 'Test runs in progress in this process.', registers });

  const storedSecrets = new Gauge({
    name: 'stored_secrets',
    help: 'Secrets and headers of integrations in the database, by the key that encrypts them: current, former (in SECRETS_KEY, after the current key) or missing.',
    labelNames: ['key_id', 'key'] as const,
    registers,
  });

  const requestSeries = seriesOf(requests);
  const attemptSeries = seriesOf(attempts);
  const callSeries = seriesOf(providerCalls);
  const tokenSeries = seriesOf(tokens);
  return {
    observeRequest: (operation, status, seconds) => {
      requestSeries(operation, String(status)).observe(seconds);
    },
    observeStream: (operation, { outcome, bytes, firstMs }) => {
      streams.labels(operation, outcome).inc();
      streamedBytes.labels(operation).inc(bytes);
      if (firstMs !== undefined) firstEvents.labels(operation).observe(firstMs / 1000);
    },
    observeProviderCall: (provider, outcome, seconds, spent) => {
      callSeries(provider, outcome).observe(seconds);
      if (spent === undefined) return;
      tokenSeries(provider, spent.model, 'input').inc(spent.inputTokens);
      tokenSeries(provider, spent.model, 'output').inc(spent.outputTokens);
    },
    countProviderAttempt: (provider, outcome) => {
      attemptSeries(provider, outcome).inc();
    },
    countCache: (result) => {
      cache.labels(result).inc();
    },
    countRefereeDisagreement: (operation) => {
      disagreements.labels(operation).inc();
    },
    setTestRunsActive: (count) => {
      testRuns.set(count);
    },
    setStreamsActive: (count) => {
      streamsActive.set(count);
    },
    setStoredSecrets: (counts) => {
      storedSecrets.reset();
      for (const { keyId, use, values } of counts) storedSecrets.labels(keyId, use).set(values);
    },
    countProblem: (type) => {
      problems.labels(type).inc();
    },
    watch: (given) => {
      readers = given;
    },
    database: createDatabaseMetrics(registry),
    webhooks: createWebhookMetrics(registry),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
