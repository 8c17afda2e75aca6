import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useEffect } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { live } from '../../../app/query-client.ts';
import { promptKeys } from '../prompt-queries.ts';

export type Canary = Schemas['Canary'];

/**
 * The canary of a label with what is counted, read again while it runs.
 * @param listed as the list of labels has it, which counts it only at its end
 */
export function useCanary(promptId: string, name: string, listed: Canary): { canary: Canary; error: unknown } {
  const queryClient = useQueryClient();
  const isRunning = listed.ended === undefined;
  const { data, error } = useQuery({
    queryKey: [...promptKeys.label(promptId, name), 'canary'],
    queryFn: ({ signal }) => gateway.labels.getCanary(promptId, name, { signal }),
    enabled: isRunning,
    refetchInterval: (query) => query.state.data?.ended === undefined && live.refetchInterval(query),
  });
  const hasEnded = isRunning && (data?.ended !== undefined || error !== null);
  // What the label names can be another version since then.
  useEffect(() => {
    if (hasEnded) void queryClient.invalidateQueries({ queryKey: promptKeys.labels(promptId), exact: true });
  }, [hasEnded, queryClient, promptId]);
  const isCurrent = isRunning && data?.id === listed.id;
  return { canary: isCurrent ? data : listed, error: isRunning ? error : null };
}
