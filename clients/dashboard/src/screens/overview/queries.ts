import { queryOptions, useQuery, type FetchQueryOptions, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../../app/gateway.ts';
import { liveStatistics } from '../../app/query-client.ts';
import { useReachesAll, useScope } from '../../app/session-context.ts';
import type { Span } from '../../shared/span-switch.tsx';

/** What the service did in a span of time. */
export type Statistics = Awaited<ReturnType<typeof gateway.service.getStatistics>>;

/** Numbers of an interval, or of the whole span. */
export type Counts = Schemas['ServiceCounts'];

const overviewKey = ['overview'] as const;

const mostFailures = 5;

export function useStatistics(span: Span, isEnabled = true): UseQueryResult<Statistics, unknown> {
  return useQuery({ ...statisticsQuery(span), enabled: isEnabled, ...liveStatistics });
}

export function statisticsQuery(span: Span): FetchQueryOptions<Statistics> {
  return {
    queryKey: [...overviewKey, 'statistics', span],
    queryFn: ({ signal }) => gateway.service.getStatistics({ span }, { signal }),
  };
}

/** What fails now; nothing is read for a key with limits. */
export function useAttention(): UseQueryResult<Schemas['Attention'], unknown> {
  return useQuery({ ...attentionQuery, enabled: useReachesAll(), ...liveStatistics });
}

export const attentionQuery = queryOptions({
  queryKey: [...overviewKey, 'attention'],
  queryFn: ({ signal }) => gateway.service.getAttention({ signal }),
});

/** The last deliveries that have failed, for good or up to now; none is read for a key that may not. */
export function useFailedDeliveries(): UseQueryResult<Schemas['DeliveryListItem'][], unknown> {
  return useQuery({ ...failedDeliveriesQuery, enabled: useScope('integrations:read'), ...liveStatistics });
}

export const failedDeliveriesQuery = queryOptions({
  queryKey: [...overviewKey, 'failed-deliveries'],
  queryFn: async ({ signal }) => {
    const lists = (['retrying', 'failed'] as const).map((status) =>
      gateway.deliveries.list({ status, limit: mostFailures }, { signal }),
    );
    const found = (await Promise.all(lists)).flatMap(({ data }) => data);
    return found.sort((a, b) => b.created_at.localeCompare(a.created_at)).slice(0, mostFailures);
  },
});

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
