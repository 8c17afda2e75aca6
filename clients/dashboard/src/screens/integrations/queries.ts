import type { QueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { Versioned } from '../../shared/versioned.ts';

/** Keys of what these screens read. A change invalidates `integrationsKey`, and with it everything below. */
export const integrationsKey = ['integrations'] as const;

/** The key of one integration, read with its ETag. */
export function integrationKey(id: string): readonly string[] {
  return [...integrationsKey, id];
}

/** Shows the answer of a change at once, and reads the lists again. */
export function storeIntegration(queryClient: QueryClient, saved: Versioned<Schemas['Integration']>): void {
  queryClient.setQueryData(integrationKey(saved.data.id), saved);
  void queryClient.invalidateQueries({ queryKey: integrationsKey });
}
