import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../../../app/gateway.ts';
import { useScope } from '../../../app/session-context.ts';

/** The key of all budgets. A change invalidates it, and with it everything below. */
export const budgetsKey = ['budgets'] as const;

/** As many as a service can have. */
const mostBudgets = 1_000;

/** All budgets. */
export function readBudgets(options: { signal?: AbortSignal } = {}): Promise<Schemas['Budget'][]> {
  return gateway.budgets.list({ limit: 100 }, options).toArray({ limit: mostBudgets });
}

/** Prompts that are known by name. Others are shown by their id. */
const known = 500;

/** The prompts by name; none for a key that may not read them. */
export function usePromptNames(): UseQueryResult<Schemas['Prompt'][], unknown> {
  return useQuery({
    queryKey: ['prompts', 'names'],
    queryFn: ({ signal }) => gateway.prompts.list({ limit: 100 }, { signal }).toArray({ limit: known }),
    staleTime: 60_000,
    enabled: useScope('prompts:read'),
  });
}
