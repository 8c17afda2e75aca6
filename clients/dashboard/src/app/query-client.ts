import { QueryClient } from '@tanstack/react-query';
import { AnswerError } from 'prompt-gateway-client';
import { pace } from './pace.ts';

/** Calls are repeated by the client, so they are not repeated here. */
function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      // The service may be on this computer, without any network.
      queries: { retry: false, staleTime: 5_000, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  pace.onReturn(() => {
    void client.refetchQueries({
      type: 'active',
      stale: true,
      predicate: ({ observers }) => observers.some(({ options }) => options.refetchInterval !== undefined),
    });
  });
  return client;
}

/** The cache of what was read. */
export const queryClient: QueryClient = createQueryClient();

interface Polling {
  refetchInterval: (query: { state: { error: unknown } }) => number | false;
}

/**
 * Options of a query that is read again and again while the page is visible. It pauses while nobody is signed in, and
 * ends when what it reads is gone or refused.
 * @param used milliseconds between two reads while someone uses the page
 * @param idle the same while nobody does; `false`: nothing is read then
 */
export function every(used: number, idle: number | false): Polling {
  return { refetchInterval: ({ state }) => !isFinal(state.error) && pace.interval(used, idle) };
}

/** Whether a call was refused so that the same call is refused again. */
function isFinal(error: unknown): boolean {
  return error instanceof AnswerError && [401, 403, 404, 410].includes(error.status);
}

/** Reads a query again every 2 seconds: `useQuery({ …, ...live })`. For lists and records that people watch. */
export const live: Polling = every(2_000, 15_000);

/** Reads a query again every 10 seconds. For statistics, which the service itself writes every few seconds. */
export const liveStatistics: Polling = every(10_000, 60_000);
