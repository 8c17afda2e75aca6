import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { NotFoundError, type Schemas } from 'prompt-gateway-client';
import { gateway } from '../../../app/gateway.ts';
import { live } from '../../../app/query-client.ts';
import { versioned, type Versioned } from '../../../shared/versioned.ts';
import { promptKeys } from '../prompt-queries.ts';

export const gateKeys = {
  gate: (id: string, name: string) => [...promptKeys.label(id, name), 'gate'] as const,
  version: (id: string, name: string, version: number) => [...gateKeys.gate(id, name), version] as const,
};

/** The gate of a label with its `ETag`; `null` if it has none. Nothing is read without a name. */
export function useGate(promptId: string, name: string): UseQueryResult<Versioned<Schemas['Gate']> | null> {
  return useQuery({
    queryKey: gateKeys.gate(promptId, name),
    queryFn: async ({ signal }) => {
      try {
        return await versioned(gateway.gates.get(promptId, name, { signal }));
      } catch (error) {
        if (error instanceof NotFoundError) return null;
        throw error;
      }
    },
    enabled: name !== '',
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
