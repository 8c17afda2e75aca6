import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../../../app/gateway.ts';
import { live } from '../../../app/query-client.ts';
import { promptKeys } from '../prompt-queries.ts';

export const gateKeys = {
  gates: (id: string) => [...promptKeys.labels(id), 'gates'] as const,
  gate: (id: string, name: string) => [...promptKeys.label(id, name), 'gate'] as const,
  version: (id: string, name: string, version: number) => [...gateKeys.gate(id, name), version] as const,
};

/** The gates of a prompt, by the names of their labels. It has at most 20. */
export function useGates(promptId: string): UseQueryResult<Schemas['Gate'][]> {
  return useQuery({
    queryKey: gateKeys.gates(promptId),
    queryFn: async ({ signal }) => (await gateway.gates.list(promptId, { limit: 100 }, { signal })).data,
  });
}

/** What the gate of a label says of a version; read again while an evaluation runs. */
export function useGatedVersion(
  promptId: string,
  name: string,
  version: number,
  isGated: boolean,
): UseQueryResult<Schemas['GatedVersion']> {
  return useQuery({
    queryKey: gateKeys.version(promptId, name, version),
    queryFn: ({ signal }) => gateway.gates.getVersion(promptId, name, version, { signal }),
    enabled: isGated,
    refetchInterval: (query) =>
      query.state.data?.comparisons.some(({ status }) => status === 'running') === true && live.refetchInterval(query),
  });
}
