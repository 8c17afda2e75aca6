import type { QueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { Versioned } from '../../shared/versioned.ts';

/** Keys of what these screens read. A change invalidates `locationsKey`, and with it everything below. */
export const locationsKey = ['locations'] as const;

/** The key of one location, read with its ETag. */
export function locationKey(id: string): readonly string[] {
  return [...locationsKey, id];
}

/** Shows the answer of a change at once, and reads the lists again. */
export function storeLocation(queryClient: QueryClient, saved: Versioned<Schemas['Location']>): void {
  queryClient.setQueryData(locationKey(saved.data.id), saved);
  void queryClient.invalidateQueries({ queryKey: locationsKey });
}
