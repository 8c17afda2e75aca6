import { Alert } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { useTexts } from '../shared/texts.tsx';
import { gateway } from './gateway.ts';
import { pace } from './pace.ts';
import classes from './shell.module.css';

/** Asks again and again whether the service answers, while someone uses the page or it does not. */
export function useReachability(): UseQueryResult {
  return useQuery({
    queryKey: ['reachability'],
    queryFn: ({ signal }) => gateway.service.getLiveness({ signal, timeout: 2_000, maxRetries: 0 }),
    refetchInterval: ({ state }) => (state.error === null ? pace.interval(2_000, false) : pace.interval(1_000, 5_000)),
  });
}

/** Says within some seconds that the service does not answer. When it does again, what failed meanwhile is read again. */
export function Reachability(): ReactNode {
  const { reachability: texts } = useTexts().shell;
  const queryClient = useQueryClient();
  const { isError, refetch } = useReachability();

  useEffect(() => {
    const check = (): void => void refetch();
    // The service may be on this computer, so only an answer decides.
    for (const event of ['online', 'offline']) addEventListener(event, check);
    return () => {
      for (const event of ['online', 'offline']) removeEventListener(event, check);
    };
  }, [refetch]);

  useEffect(() => {
    if (isError) return;
    void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, [isError, queryClient]);

  if (!isError) return null;
  return (
    <Alert color="red" role="alert" icon={<IconPlugConnectedX />} className={classes.unreachable}>
      {navigator.onLine ? texts.unreachable : texts.offline}
    </Alert>
  );
}
