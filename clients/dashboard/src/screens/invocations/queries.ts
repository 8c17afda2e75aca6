import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../../app/gateway.ts';

/** Keys of what these screens read. */
export const invocationsKey = ['invocations'] as const;

/** Key of what was asked and answered. */
export const contentKey = (id: string) => [...invocationsKey, id, 'content'] as const;

/** What was asked and answered. It is read once, because each reading is recorded. @param id nothing is read without */
export function useContent(id: string | undefined): UseQueryResult<Schemas['KeptContent']> {
  return useQuery({
    queryKey: contentKey(id ?? ''),
    queryFn: ({ signal }) => gateway.invocations.getContent(id ?? '', { signal }),
    enabled: id !== undefined,
    staleTime: Infinity,
    retry: false,
  });
}

/** The short name of a problem: the last part of its type, which is also the value of the filter. */
export function problemName(type: string): string {
  return type.slice(type.lastIndexOf(':') + 1);
}
