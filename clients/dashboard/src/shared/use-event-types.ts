import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../app/gateway.ts';

/** All types of events, which change only with the service. @param isWanted false reads nothing */
export function useEventTypes(isWanted = true): UseQueryResult<Schemas['EventType'][]> {
  return useQuery({
    queryKey: ['event-types'],
    queryFn: ({ signal }) => gateway.eventTypes.list({ limit: 100 }, { signal }).toArray({ limit: 1_000 }),
    staleTime: Infinity,
    enabled: isWanted,
  });
}
