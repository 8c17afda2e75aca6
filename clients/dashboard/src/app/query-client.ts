import { QueryClient } from '@tanstack/react-query';
import { AuthenticationError } from 'prompt-gateway-client';

/** Makes the cache of what was read. Calls are repeated by the client, so they are not repeated here. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // The service may be on this computer, without any network.
      queries: { retry: false, staleTime: 5_000, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}

/**
 * Options of a query that is read again every 2 seconds while the page is visible: `useQuery({ …, ...live })`. It pauses
 * while nobody is signed in.
 */
export const live = {
  refetchInterval: ({ state }: { state: { error: unknown } }): number | false =>
    state.error instanceof AuthenticationError ? false : 2_000,
};
