import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../../app/gateway.ts';
import { liveStatistics } from '../../app/query-client.ts';
import { useScope } from '../../app/session-context.ts';
import type { Span } from '../../shared/span-switch.tsx';

/** What the service did in a span of time. */
export type Statistics = Awaited<ReturnType<typeof gateway.service.getStatistics>>;

/** Numbers of an interval, or of the whole span. */
export type Counts = Schemas['ServiceCounts'];

const overviewKey = ['overview'] as const;

/** Integrations that are read. With more, the health of the rest is on the list of integrations only. */
const mostIntegrations = 500;
const mostFailures = 5;

export function useStatistics(span: Span, isEnabled = true): UseQueryResult<Statistics, unknown> {
  return useQuery({
    queryKey: [...overviewKey, 'statistics', span],
    queryFn: ({ signal }) => gateway.service.getStatistics({ span }, { signal }),
    enabled: isEnabled,
    ...liveStatistics,
  });
}

/** The integrations with their health; none is read for a key that may not. */
export function useIntegrations(): UseQueryResult<Schemas['Integration'][], unknown> {
  return useQuery({
    queryKey: [...overviewKey, 'integrations'],
    queryFn: ({ signal }) => gateway.integrations.list({ limit: 100 }, { signal }).toArray({ limit: mostIntegrations }),
    enabled: useScope('integrations:read'),
    ...liveStatistics,
  });
}

/** Invocations that failed in the last hour, at most this number; none is read for a key that may not. */
export const mostFailedCalls = 100;

export function useFailedCalls(): UseQueryResult<{ since: string; failed: Schemas['Invocation'][] }, unknown> {
  return useQuery({
    queryKey: [...overviewKey, 'failed-calls'],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - 3_600_000).toISOString();
      const { data } = await gateway.invocations.list({ status: 'failed', since, limit: mostFailedCalls }, { signal });
      return { since, failed: data };
    },
    enabled: useScope('invocations:read'),
    ...liveStatistics,
  });
}

/** The budgets that refuse calls; none is read for a key that may not. */
export function useRefusingBudgets(): UseQueryResult<Schemas['Budget'][], unknown> {
  return useQuery({
    queryKey: [...overviewKey, 'refusing-budgets'],
    queryFn: async ({ signal }) => {
      const found = await gateway.budgets.list({ limit: 100 }, { signal }).toArray({ limit: 1_000 });
      return found.filter(({ current }) => current.refusing !== undefined);
    },
    enabled: useScope('budgets:read'),
    ...liveStatistics,
  });
}

/** The last deliveries that have failed, for good or up to now; none is read for a key that may not. */
export function useFailedDeliveries(): UseQueryResult<Schemas['DeliveryListItem'][], unknown> {
  return useQuery({
    queryKey: [...overviewKey, 'failed-deliveries'],
    queryFn: async ({ signal }) => {
      const lists = (['retrying', 'failed'] as const).map((status) =>
        gateway.deliveries.listAll({ status, limit: mostFailures }, { signal }),
      );
      const found = (await Promise.all(lists)).flatMap(({ data }) => data);
      return found.sort((a, b) => b.created_at.localeCompare(a.created_at)).slice(0, mostFailures);
    },
    enabled: useScope('integrations:read'),
    ...liveStatistics,
  });
}

/**
 * Whether there is something of a kind. Keys that may not read it do not ask.
 * @param name of the kind, for the cache
 */
export function useExistence(
  name: string,
  find: (options: { signal: AbortSignal }) => Promise<boolean>,
  isEnabled: boolean,
): UseQueryResult<boolean, unknown> {
  return useQuery({
    queryKey: [...overviewKey, 'exists', name],
    queryFn: ({ signal }) => find({ signal }),
    enabled: isEnabled,
    ...liveStatistics,
  });
}
