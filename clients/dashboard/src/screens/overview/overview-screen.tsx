import { SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useReachesAll, useScope } from '../../app/session-context.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { SpanSwitch } from '../../shared/span-switch.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { Attention } from './attention.tsx';
import { Charts } from './charts.tsx';
import { FailedDeliveries } from './failed-deliveries.tsx';
import { Figures } from './figures.tsx';
import { FirstStepsPanel } from './first-steps.tsx';
import { ProviderStatus } from './provider-status.tsx';
import { useStatistics, type Statistics } from './queries.ts';
import { useFirstSteps } from './use-first-steps.ts';

const route = getRouteApi('/overview');

/** What the service does, and what needs attention. In a new installation: what to do first. */
export function OverviewScreen(): ReactNode {
  const { overview: texts } = useTexts();
  const search = route.useSearch();
  const span = search.span ?? 'hour';
  const statistics = useStatistics(span);
  const day = useStatistics('day', span === 'hour');
  const reachesAll = useReachesAll();
  const canSeeIntegrations = useScope('integrations:read');
  const canSeeProviders = useScope('prompts:read');
  const { data } = statistics;
  const isQuiet = data !== undefined && isWithoutWork(data);
  const firstSteps = useFirstSteps(isQuiet);
  const isNew = isQuiet && firstSteps.steps.some(({ isDone }) => isDone !== true);
  return (
    <Page title={texts.title} description={texts.description} actions={<SpanSwitch search={search} />}>
      {statistics.isError && <ProblemAlert error={statistics.error} onRetry={() => void statistics.refetch()} />}
      <Stack gap="sm">
        {data !== undefined && reachesAll && <Attention isBrief={isNew} />}
        {data === undefined ? (
          !statistics.isError && <Loading />
        ) : (
          <>
            {isNew && <FirstStepsPanel {...firstSteps} />}
            <Figures span={span} statistics={data} day={day.data} />
          </>
        )}
        {data !== undefined && !isNew && <Charts points={data.points} />}
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm" style={{ alignItems: 'start' }}>
          {canSeeIntegrations && <FailedDeliveries />}
          {canSeeProviders && <ProviderStatus />}
        </SimpleGrid>
      </Stack>
    </Page>
  );
}

/** Requests alone do not count: signing in is one. */
function isWithoutWork({ totals }: Statistics): boolean {
  return totals.invocations + totals.attempts_succeeded + totals.attempts_failed === 0;
}

function Loading(): ReactNode {
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 3 }} spacing="sm">
        {Array.from({ length: 6 }, (_, index) => (
          <Skeleton key={index} height={88} radius="lg" />
        ))}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
        <Skeleton height={280} radius="lg" />
        <Skeleton height={280} radius="lg" />
      </SimpleGrid>
    </>
  );
}
