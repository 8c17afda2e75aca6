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

interface Polling {
  refetchInterval: (query: { state: { error: unknown } }) => number | false;
}

/**
 * Options of a query that is read again and again while the page is visible. It pauses while nobody is signed in.
 * @param milliseconds between two reads
 */
function every(milliseconds: number): Polling {
  return { refetchInterval: ({ state }) => (state.error instanceof AuthenticationError ? false : milliseconds) };
}

/** Reads a query again every 2 seconds: `useQuery({ …, ...live })`. For lists and records that people watch. */
export const live: Polling = every(2_000);

/** Reads a query again every 10 seconds. For statistics, which the service itself writes every few seconds. */
export const liveStatistics: Polling = every(10_000);
