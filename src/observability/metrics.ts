import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { problems as problemTypes } from '../../generated/problems.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { BlobOperation } from '../storage/blobs/create-blob-store.ts';
import type { BudgetUse } from '../accounting/budgets/budget-uses.ts';
import type { MigrationProgress } from '../storage/db/migrator.ts';
import type { DatabaseObserver } from '../storage/db/pool-watch.ts';
import type { CallObserver } from '../prompts/generation/call-observer.ts';
import type { StreamEnd } from '../http/answer-stream.ts';
import type { MemoryUse } from '../base/limits/memory-budget.ts';
import { failureTypes } from '../models/call/failures.ts';
import type { ProviderRegistry, QueueLoad } from '../models/provider.ts';
import type { WebhookObserver } from '../webhooks/observer.ts';
import { createDatabaseMetrics } from './database-metrics.ts';
import { metricSet } from './metric-set.ts';
import { createWebhookMetrics } from './webhook-metrics.ts';

/** Prometheus metrics of this process. Label values come from the contract and configuration, never from callers. */
export interface Metrics extends CallObserver {
  /** One answered request; `operation` is `none` if no operation was reached. */
  observeRequest(operation: string, status: number, seconds: number): void;
  /** One streamed answer that has ended, in addition to `observeRequest`. */
  observeStream(operation: string, end: StreamEnd): void;
  /** Counts a call under budgets that has cost more than was reserved for it. */
  countExcess(provider: string, model: string): void;
  /** Counts a call whose provider gave numbers of tokens that are not plausible. `model` as of {@link SpentTokens}. */
  countImplausible(provider: string, model: string): void;
  /** One attempt to call a provider, retries included; `outcome` is `succeeded`, `canceled` or a problem type. */
  countProviderAttempt(provider: string, outcome: string): void;
  countRefereeDisagreement(operation: string): void;
  setTestRunsActive(count: number): void;
  setEvaluationsActive(count: number): void;
  setStreamsActive(count: number): void;
  /** Encrypted values in the database, by key; replaces the counts of before. */
  setStoredSecrets(counts: readonly { readonly keyId: string; readonly use: string; readonly values: number }[]): void;
  /** An operation of the storage for results of test runs failed. */
  countStorageError(operation: BlobOperation): void;
  /** Stored records of invocations whose processes ended before them. */
  countInterrupted(invocations: number): void;
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
  readonly budgets: () => readonly BudgetUse[];
  readonly migration: () => MigrationProgress | undefined;
}

/** The outcomes of a call of a provider. */
const attemptOutcomes = ['succeeded', 'canceled', ...failureTypes];
const storageOperations: readonly BlobOperation[] = ['put', 'open', 'delete', 'check'];

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const set = metricSet(registry);
  const { counter, counting, gauge, histogram, reading } = set;
  gauge(
    'prompt_gateway_build_info',
    'Always 1. The labels say what runs.',
    'version',
    'node',
  )(packageJson.version, process.versions.node).set(1);
  const requests = histogram(
    'http_request_duration_seconds',
    'Time from the request head to the answer, of streamed answers to their end, in seconds.',
    requestBuckets,
    'operation',
    'status',
  );
  const streams = counter(
    'http_streamed_answers_total',
    'Streamed answers that have ended: succeeded, error (the last event is a problem), failed (cut by the service), or closed (the connection was closed).',
    'operation',
    'outcome',
  );
  const streamedBytes = counter(
    'http_streamed_bytes_total',
    'Bytes sent in streamed answers that have ended.',
    'operation',
  );
  const firstEvents = histogram(
    'http_stream_first_event_seconds',
    'Time until the first event of a streamed answer, from when the request was checked, in seconds.',
    requestBuckets,
    'operation',
  );
  const streamsActive = gauge(
    'http_event_streams_active',
    'Streams of events in progress in this process, with those whose caller has left.',
  );
  const providerCalls = histogram(
    'provider_call_duration_seconds',
    'Time of a provider call with its retries, in seconds.',
    requestBuckets,
    'provider',
    'outcome',
  );
  const attempts = counter(
    'provider_attempts_total',
    'Calls to providers, each retry and fallback counted, by outcome: succeeded, canceled, or the problem type.',
    'provider',
    'outcome',
  );
  const tokens = counter(
    'provider_tokens_total',
    'Tokens of answered provider calls, as the provider counts them.',
    'provider',
    'model',
    'direction',
  );
  const cost = counter(
    'provider_cost_dollars_total',
    'What provider calls cost with their retries, in US dollars, as far as it is known.',
    'provider',
    'model',
  );
  const unpriced = counter(
    'provider_calls_without_cost_total',
    'Provider calls whose cost is unknown: no price, or neither tokens nor a limit of output tokens.',
    'provider',
    'model',
  );
  const excesses = counter(
    'provider_calls_above_ceiling_total',
    'Calls under budgets that have cost more than the most that was reserved for them. Their models are blocked.',
    'provider',
    'model',
  );
  const implausible = counter(
    'provider_calls_implausible_usage_total',
    'Calls whose provider gave numbers of tokens that are not plausible. They count as if it had given none.',
    'provider',
    'model',
  );
  const cache = counter('invoke_cache_total', 'Invocations that allow caching, by result of the cache.', 'result');
  for (const result of ['hit', 'miss', 'joined']) cache(result);
  const interrupted = counter(
    'invocations_interrupted_total',
    'Invocations whose process ended before they did. The process that stores their records counts them.',
  );
  const storageErrors = counter(
    'object_storage_errors_total',
    'Failures of the storage for results of test runs: put, open, delete, or check (of readiness, and before a test run).',
    'operation',
  );
  for (const operation of storageOperations) storageErrors(operation);
  const disagreements = counter(
    'contract_referee_disagreements_total',
    'Exchanges where the contract referee disagreed.',
    'operation',
  );
  const problems = counter(
    'http_problems_total',
    'Answers that are problem documents, and streams that ended with one, by the type of the problem.',
    'type',
  );
  for (const type of Object.keys(problemTypes)) problems(type);
  let readers: MetricReaders = {
    providers: () => ({ providers: [], streams: { active: 0, waiting: 0, limit: 0 } }),
    memory: () => ({ reserved: 0, limit: 0, waiting: 0, refused: { key: 0, all: 0 } }),
    budgets: () => [],
    migration: () => undefined,
  };
  const memory = (name: string, help: string, member: 'reserved' | 'limit' | 'waiting'): void => {
    reading(`request_memory_${name}`, help, () => [[readers.memory()[member]]]);
  };
  memory(
    'reserved_bytes',
    'Estimated memory of large bodies, invocations, test runs and large answers in progress, in bytes.',
    'reserved',
  );
  memory('limit_bytes', 'The most such memory: REQUEST_MEMORY_MB, in bytes.', 'limit');
  memory('waiting', 'Requests that wait for such memory.', 'waiting');
  counting(
    'request_memory_refused_total',
    'Requests that were refused because such memory was used up: by their key (429) or by all keys (503).',
    () => {
      const { refused } = readers.memory();
      return [
        [refused.key, 'key'],
        [refused.all, 'all'],
      ];
    },
    'by',
  );
  const ofBudgets = (valueOf: (use: BudgetUse) => number) => (): [number, string][] =>
    readers.budgets().map((use) => [valueOf(use), use.name]);
  reading(
    'budget_limit_dollars',
    'The limit of a budget, in US dollars.',
    ofBudgets(({ limit }) => limit / 1e9),
    'budget',
  );
  reading(
    'budget_spent_dollars',
    'What is spent of a budget in its current period, in US dollars, some seconds ago.',
    ofBudgets(({ spent }) => Number(spent) / 1e9),
    'budget',
  );
  counting(
    'budget_calls_refused_total',
    'Calls that this process refused because of a budget.',
    ofBudgets(({ refused }) => refused),
    'budget',
  );
  reading(
    'database_migration_tasks_left',
    'Tasks of the migration to this release that are left, for this process or another one.',
    () => {
      const { total = 0, done = 0 } = readers.migration() ?? {};
      return [[total - done]];
    },
  );
  const calls = (member: keyof QueueLoad, help: string): void => {
    const read = (): [number, string][] => readers.providers().providers.map((load) => [load[member], load.provider]);
    reading(`provider_calls_${member}`, help, read, 'provider');
  };
  calls('active', 'Calls of a provider in progress, without streamed ones.');
  calls('waiting', 'Calls that wait because the provider has PROVIDER_CONCURRENCY calls in progress.');
  calls('limit', 'The most calls of a provider in progress: PROVIDER_CONCURRENCY.');
  const streamedCalls = (member: keyof QueueLoad, help: string): void => {
    reading(`provider_streams_${member}`, help, () => [[readers.providers().streams[member]]]);
  };
  streamedCalls('active', 'Streamed calls of all providers in progress.');
  streamedCalls('waiting', 'Streamed calls that wait for a place.');
  streamedCalls('limit', 'The most streamed calls in progress.');
  const testRuns = gauge('test_runs_active', 'Test runs in progress in this process.');
  const evaluations = gauge('evaluations_active', 'Evaluations that this process plans or runs.');
  const storedSecrets = new Gauge({
    name: 'stored_secrets',
    help: 'Secrets and headers of integrations in the database, by the key that encrypts them: current, former (in SECRETS_KEY, after the current key) or missing.',
    labelNames: ['key_id', 'key'] as const,
    registers,
  });
  return {
    observeRequest: (operation, status, seconds) => {
      requests(operation, String(status)).observe(seconds);
    },
    observeStream: (operation, { outcome, bytes, firstMs }) => {
      streams(operation, outcome).inc();
      streamedBytes(operation).inc(bytes);
      if (firstMs !== undefined) firstEvents(operation).observe(firstMs / 1000);
    },
    observeProviderCall: (provider, outcome, seconds, spent) => {
      providerCalls(provider, outcome).observe(seconds);
      if (spent === undefined) return;
      const { model, inputTokens, outputTokens, cost: paid } = spent;
      if (paid === undefined) unpriced(provider, model).inc();
      else cost(provider, model).inc(Number(paid) / 1e9);
      if (inputTokens !== undefined) tokens(provider, model, 'input').inc(inputTokens);
      if (outputTokens !== undefined) tokens(provider, model, 'output').inc(outputTokens);
    },
    countProviderAttempt: (provider, outcome) => {
      attempts(provider, outcome).inc();
    },
    countExcess: (provider, model) => {
      excesses(provider, model).inc();
    },
    countImplausible: (provider, model) => {
      implausible(provider, model).inc();
    },
    countCache: (result) => {
      cache(result).inc();
    },
    countRefereeDisagreement: (operation) => {
      disagreements(operation).inc();
    },
    setTestRunsActive: (count) => {
      testRuns().set(count);
    },
    setEvaluationsActive: (count) => {
      evaluations().set(count);
    },
    setStreamsActive: (count) => {
      streamsActive().set(count);
    },
    setStoredSecrets: (counts) => {
      storedSecrets.reset();
      for (const { keyId, use, values } of counts) storedSecrets.labels(keyId, use).set(values);
    },
    countStorageError: (operation) => {
      storageErrors(operation).inc();
    },
    countInterrupted: (invocations) => {
      interrupted().inc(invocations);
    },
    countProblem: (type) => {
      problems(type).inc();
    },
    watch: (given) => {
      readers = given;
      for (const { provider } of given.providers().providers) {
        for (const outcome of attemptOutcomes) attempts(provider, outcome);
      }
    },
    database: createDatabaseMetrics(set),
    webhooks: createWebhookMetrics(set),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
