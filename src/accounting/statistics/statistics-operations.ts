import type { components, operations } from '../../../generated/types.ts';
import { showMoney } from '../../base/runtime/money.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import type { Integrations } from '../../webhooks/integrations/integrations.ts';
import type { PromptIds } from '../invocations/prompt-ids.ts';
import type { CountedKind } from './counts.ts';
import type { Backlog, Counted, Series, Statistics } from './statistics.ts';

type Schemas = components['schemas'];
type ServiceStatistics = operations['getStatistics']['responses'][200]['content']['application/json'];
type StatisticsOperations = Pick<
  OperationHandlers,
  'getStatistics' | 'getIntegrationStatistics' | 'getPromptStatistics'
>;

export interface StatisticsOperationsDependencies {
  readonly statistics: Pick<Statistics, 'ofService' | 'backlog' | 'ofIntegration' | 'ofPrompt'>;
  readonly integrations: Pick<Integrations, 'get'>;
  readonly prompts: Pick<PromptIds, 'get'>;
}

/** Versions of a prompt that an answer has at most. */
const maxVersions = 20;

export function statisticsOperations({
  statistics,
  integrations,
  prompts,
}: StatisticsOperationsDependencies): StatisticsOperations {
  return {
    async getStatistics({ query: { span = 'hour' } }) {
      const series = await statistics.ofService(span);
      const backlog = statistics.backlog();
      return {
        status: 200,
        body: {
          ...showSeries(series, showService),
          ...(backlog === undefined ? {} : { waiting: showBacklog(backlog) }),
        },
      };
    },
    async getIntegrationStatistics({ path, query: { span = 'hour' } }) {
      const { id } = await integrations.get(path.id);
      return { status: 200, body: showSeries(await statistics.ofIntegration(id, span), showAttempts) };
    },
    async getPromptStatistics({ path, query: { span = 'hour' } }) {
      const { id } = await prompts.get(path.slugOrId);
      const { versions, ...all } = await statistics.ofPrompt(id, span, maxVersions);
      return {
        status: 200,
        body: {
          ...showSeries(all, showInvocations),
          versions: versions.map(({ version, ...series }) => {
            const { totals, points } = showSeries(series, showInvocations);
            return { version, totals, points };
          }),
        },
      };
    },
  };
}

function showSeries<K extends CountedKind, Shown>(
  { intervalSeconds, total, points }: Series<K>,
  show: (counted: Counted<K>) => Shown,
): { interval_seconds: number; totals: Shown; points: Shown[] } {
  return { interval_seconds: intervalSeconds, totals: show(total), points: points.map(show) };
}

function showService({ at, counts }: Counted<'service'>): Schemas['ServiceCounts'] {
  const { nanodollars, ...shown } = counts;
  return { at: at.toISOString(), ...shown, cost: showMoney(BigInt(nanodollars)) };
}

function showAttempts({ at, counts }: Counted<'integration'>): Schemas['AttemptCounts'] {
  const { milliseconds, ...shown } = counts;
  const latency = averageLatency(milliseconds, shown.succeeded + shown.failed);
  return { at: at.toISOString(), ...shown, ...latency };
}

function showInvocations({ at, counts }: Counted<'prompt'>): Schemas['InvocationCounts'] {
  const { milliseconds, nanodollars, feedback, millipoints, ...shown } = counts;
  const { invocations, errors, cached, canceled, interrupted } = shown;
  const answered = invocations - errors - cached - canceled - interrupted;
  const cost = showMoney(BigInt(nanodollars));
  const rated = feedback === 0 ? {} : { feedback, average_score: Math.round(millipoints / feedback) / 1_000 };
  return { at: at.toISOString(), ...shown, cost, ...averageLatency(milliseconds, answered), ...rated };
}

function averageLatency(milliseconds: number, count: number): { average_latency_ms?: number } {
  return count === 0 ? {} : { average_latency_ms: Math.round(milliseconds / count) };
}

function showBacklog({ measuredAt, counts, oldestAt }: Backlog): NonNullable<ServiceStatistics['waiting']> {
  const { due, retrying, paused, disabled } = counts;
  return {
    measured_at: measuredAt.toISOString(),
    count: due + retrying + paused + disabled,
    due,
    retrying,
    held: paused + disabled,
    ...(oldestAt === undefined ? {} : { oldest_at: oldestAt.toISOString() }),
  };
}
