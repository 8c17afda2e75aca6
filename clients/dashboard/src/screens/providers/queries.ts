import { queryOptions, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../../app/gateway.ts';
import { liveStatistics } from '../../app/query-client.ts';

export const providersKey = ['providers'] as const;

/** Reads all providers, with their health. */
export function useProviders(isEnabled = true): UseQueryResult<Schemas['Provider'][], unknown> {
  return useQuery({ ...providersQuery, enabled: isEnabled, ...liveStatistics });
}

export const providersQuery = queryOptions({
  queryKey: providersKey,
  queryFn: ({ signal }) => gateway.providers.list({ signal }),
});
