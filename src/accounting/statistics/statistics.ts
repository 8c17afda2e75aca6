/**
 * Statistics of the last hour and day: of the service, of integrations, of providers and of prompts. `ofIntegrations(ids)` has the
 * deliveries of the last day for up to 100 integrations with two commands; lists use it.
 *
 * The process counts in memory (`requested`, `recorded`, the observer of `observing`) and writes the counts every few
 * seconds (`flush`); readers add up what all processes have written. So statistics are some seconds old, and a process
 * that is killed loses the counts of its last seconds.
 */
import { fromStored } from '../../base/runtime/money.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import { within } from '../../base/runtime/within.ts';
import { waitingStatuses, type WaitingStatus, type WebhookObserver } from '../../webhooks/observer.ts';
import type { InvocationDocument } from '../invocations/invocation.ts';
import type { ProviderHealth, RecentCalls } from '../../models/provider-health.ts';
import { createCollector } from './collector.ts';
import { sumOf, type Counts, type CountedKind } from './counts.ts';
import { firstShown, grains, intervalAt, startOf, type Grain } from './intervals.ts';
import { createProviderHealths, type EndedCall } from './provider-health.ts';
import type { ProviderHealthStore } from './provider-health-store.ts';
import type { StatisticsStore, Subject, Tally } from './statistics-store.ts';

/** The last hour in minutes, or the last day in quarters of an hour. */
export type StatisticsSpan = 'hour' | 'day';

/** Counts of an interval, or of several that begin with it. */
export interface Counted<K extends CountedKind> {
  readonly at: Date;
  readonly counts: Counts<K>;
}

/** Counts of a span. */
export interface Series<K extends CountedKind> {
  readonly intervalSeconds: number;
  readonly total: Counted<K>;
  /** One for each interval, the oldest first. The last interval is in progress. */
  readonly points: readonly Counted<K>[];
}

/** Waiting deliveries of all integrations when they were last measured. */
export interface Backlog {
  readonly measuredAt: Date;
  readonly counts: Readonly<Record<WaitingStatus, number>>;
  /** Undefined if none wait. */
  readonly oldestAt: Date | undefined;
}

/** Deliveries to an integration that were created in the last day and have ended. */
export interface RecentDeliveries {
  readonly deliveries_succeeded: number;
  readonly deliveries_failed: number;
}

/** What is counted of the record of an invocation. */
export type CountedRecord = Pick<
  InvocationDocument,
  'created_at' | 'status' | 'prompt_id' | 'prompt_version' | 'cached' | 'latency_ms' | 'usage' | 'cost'
> & { readonly attempts: readonly Pick<InvocationDocument['attempts'][number], 'usage_source' | 'cost'>[] };

/** What is counted where it happens. The methods only add numbers. */
export interface Observer {
  /** One answered request. @param isCut whether it is a stream that failed */
  requested(status: number, isCut: boolean): void;
  /** One invocation, when its record is final, in the interval in which it began: numbers and lists are the same. */
  recorded(record: CountedRecord): void;
  /** One call to a provider, when it has ended. One that was canceled is not counted. */
  called(call: EndedCall): void;
  /** Feedback on an answer of a version of a prompt. @param score from -1 to 1 */
  rated(promptId: string, version: number | undefined, score: number): void;
  /** Also counts attempts and remembers the backlog. @returns the observer to use in place of the given one */
  observing(observer: WebhookObserver): WebhookObserver;
}

export interface Statistics extends Observer {
  /** Writes what was counted. @throws {ProblemError} database-unavailable; the next call writes it */
  flush(): Promise<void>;
  /** Writes what was counted before the process stops, if the database takes it within this many milliseconds. */
  close(timeoutMs: number): Promise<void>;

  ofService(span: StatisticsSpan): Promise<Series<'service'>>;
  /** Undefined if this process has not measured it yet. */
  backlog(): Backlog | undefined;
  ofIntegration(id: string, span: StatisticsSpan): Promise<Series<'integration'>>;
  /** @param most versions to return by themselves, the latest first */
  ofPrompt(id: string, span: StatisticsSpan, most: number): Promise<PromptSeries>;
  /** The deliveries of the last day of each of up to 100 integrations, by their ids, with at most two commands. */
  ofIntegrations(ids: readonly string[]): Promise<ReadonlyMap<string, RecentDeliveries>>;
  /** Providers that were called in the last 30 days, with the calls of the last hour. */
  ofProviders(ids: readonly string[]): Promise<ReadonlyMap<string, ProviderHealth & RecentCalls>>;
}

export interface PromptSeries extends Series<'prompt'> {
  readonly versions: readonly (Series<'prompt'> & { readonly version: number })[];
}

export interface StatisticsDependencies {
  readonly store: StatisticsStore;
  readonly healthStore: ProviderHealthStore;
  readonly clock: Clock;
  readonly random: Random;
}

const service = '';

export function createStatistics({ store, healthStore, clock, random }: StatisticsDependencies): Statistics {
  const { count, flush, close } = createCollector({ store, clock, random });
  const health = createProviderHealths(healthStore, clock);
  let measured: { readonly at: Date; readonly counts: Record<WaitingStatus, number>; oldest: number } | undefined;

  const read = async (
    subject: Subject,
    span: StatisticsSpan,
  ): Promise<{ grain: Grain; from: number; tallies: Tally[] }> => {
    const grain = span === 'hour' ? 'minute' : 'quarter';
    const at = clock.now().getTime();
    const from = firstShown(grain, at);
    return { grain, from, tallies: await store.find([subject], grain, from, intervalAt(grain, at)) };
  };

  return {
    requested(status, isCut) {
      const isServerError = status >= 500 || isCut;
      count('service', service, {
        requests: 1,
        ...(isServerError ? { server_errors: 1 } : status >= 400 ? { client_errors: 1 } : {}),
      });
    },
    recorded({ created_at: at, status, prompt_id: promptId, prompt_version: version, cached, ...record }) {
      const { latency_ms: latency = 0, usage, cost, attempts } = record;
      const counts = {
        invocations: 1,
        cached: Number(cached),
        canceled: Number(status === 'cancelled'),
        interrupted: Number(status === 'interrupted'),
        input_tokens: usage?.inputTokens ?? 0,
        output_tokens: usage?.outputTokens ?? 0,
        without_usage: Number(attempts.some((call) => call.usage_source !== 'provider' && call.cost !== 0)),
        nanodollars: cost === undefined ? 0 : Number(fromStored(cost)),
        without_cost: Number(cost === undefined),
      };
      const errors = Number(status === 'failed');
      const milliseconds = status === 'succeeded' && !cached ? latency : 0;
      count('service', service, { ...counts, invocation_errors: errors }, { at });
      // A draft is of no version.
      if (promptId !== undefined) count('prompt', promptId, { ...counts, errors, milliseconds }, { version, at });
    },
    called(call) {
      count('provider', call.provider, call.failure === undefined ? { succeeded: 1 } : { failed: 1 }, {
        at: call.began,
      });
      health.called(call);
    },
    rated(promptId, version, score) {
      count('prompt', promptId, { feedback: 1, millipoints: Math.round(score * 1_000) }, { version });
    },
    observing: (observer) => ({
      ...observer,
      attempted(attempt) {
        observer.attempted(attempt);
        const { integrationId, outcome, seconds } = attempt;
        const isSuccess = outcome === '2xx';
        count('integration', integrationId, {
          milliseconds: Math.round(seconds * 1_000),
          ...(isSuccess ? { succeeded: 1 } : { failed: 1 }),
        });
        count('service', service, isSuccess ? { attempts_succeeded: 1 } : { attempts_failed: 1 });
      },
      finished(status, delivery, seconds) {
        observer.finished(status, delivery, seconds);
        const { integrationId, createdAt: at } = delivery;
        const ended = status === 'delivered' ? { deliveries_succeeded: 1 } : { deliveries_failed: 1 };
        count('integration', integrationId, ended, { at });
        count('service', service, ended, { at });
      },
      waiting(status, deliveries, seconds) {
        observer.waiting(status, deliveries, seconds);
        const at = clock.now();
        // The statuses are reported one after the other, beginning with the first.
        if (measured === undefined || status === waitingStatuses[0]) {
          measured = { at, counts: { due: 0, retrying: 0, paused: 0, disabled: 0 }, oldest: Infinity };
        }
        measured.counts[status] = deliveries;
        if (deliveries > 0) measured.oldest = Math.min(measured.oldest, at.getTime() - seconds * 1_000);
      },
    }),

    async flush() {
      await Promise.all([flush(), health.flush()]);
    },
    async close(timeoutMs) {
      const closed = Promise.all([close(), health.flush()]).catch(() => undefined);
      await within<unknown, undefined>(timeoutMs, closed, () => undefined);
    },

    async ofService(span) {
      const { grain, from, tallies } = await read({ kind: 'service', id: service }, span);
      return toSeries('service', grain, from, tallies);
    },
    backlog() {
      if (measured === undefined) return undefined;
      const { at: measuredAt, counts, oldest } = measured;
      return { measuredAt, counts, oldestAt: oldest === Infinity ? undefined : new Date(oldest) };
    },
    async ofIntegration(id, span) {
      const { grain, from, tallies } = await read({ kind: 'integration', id }, span);
      return toSeries('integration', grain, from, tallies);
    },
    async ofPrompt(id, span, most) {
      const { grain, from, tallies } = await read({ kind: 'prompt', id }, span);
      const numbers = [...new Set(tallies.map(({ version }) => version))].filter((version) => version > 0);
      const versions = numbers
        .sort((a, b) => b - a)
        .slice(0, most)
        .map((version) => {
          const own = tallies.filter((tally) => tally.version === version);
          return { version, ...toSeries('prompt', grain, from, own) };
        });
      return { ...toSeries('prompt', grain, from, tallies), versions };
    },
    async ofIntegrations(ids) {
      const subjects = ids.map((id): Subject => ({ kind: 'integration', id }));
      const at = clock.now().getTime();
      const tallies = await store.find(subjects, 'quarter', firstShown('quarter', at), intervalAt('quarter', at));
      const byId = Map.groupBy(tallies, ({ subject }) => subject.id);
      return new Map(ids.map((id): [string, RecentDeliveries] => [id, sum('integration', byId.get(id) ?? [])]));
    },
    async ofProviders(ids) {
      const found = await health.of(ids);
      const subjects = [...found.keys()].map((id): Subject => ({ kind: 'provider', id }));
      const at = clock.now().getTime();
      const tallies = await store.find(subjects, 'minute', firstShown('minute', at), intervalAt('minute', at));
      const byId = Map.groupBy(tallies, ({ subject }) => subject.id);
      return new Map([...found].map(([id, state]) => [id, { ...state, ...sum('provider', byId.get(id) ?? []) }]));
    },
  };
}

function toSeries<K extends CountedKind>(kind: K, grain: Grain, from: number, tallies: readonly Tally[]): Series<K> {
  const { kept, milliseconds } = grains[grain];
  const byInterval = Map.groupBy(tallies, ({ interval }) => interval);
  const points = Array.from({ length: kept }, (_, index) => ({
    at: startOf(grain, from + index),
    counts: sum(kind, byInterval.get(from + index) ?? []),
  }));
  return {
    intervalSeconds: milliseconds / 1_000,
    total: { at: startOf(grain, from), counts: sum(kind, tallies) },
    points,
  };
}

function sum<K extends CountedKind>(kind: K, tallies: readonly Tally[]): Counts<K> {
  return sumOf(
    kind,
    tallies.map(({ counts }) => counts),
  );
}
