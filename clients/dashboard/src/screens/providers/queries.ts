import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../../app/gateway.ts';

/** Reads all providers. They change only when the service starts. */
export function useProviders(isEnabled = true): UseQueryResult<Schemas['Provider'][]> {
  return useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => gateway.providers.list({ signal }),
    staleTime: 60_000,
    enabled: isEnabled,
  });
}
