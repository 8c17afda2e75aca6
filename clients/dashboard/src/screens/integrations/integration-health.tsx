import { Paper, SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { Chart } from '../../shared/chart.tsx';
import { useFilters } from '../../shared/filters.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { RelativeTime } from '../../shared/relative-time.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { integrationKey } from './queries.ts';

/** Figures of an integration: success rate, last attempts, what waits. */
export function IntegrationHealth({ integration }: { integration: Schemas['Integration'] }): ReactNode {
  const { detail: texts, neverSent, noAttempts } = useTexts().integrations;
  const format = useFormat();
  const { success_rate, last_attempt_at, last_success_at, waiting, consecutive_failures, last_error } = integration;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
      <Figure label={texts.successRate}>
        {success_rate === undefined ? noAttempts : format.percent(success_rate)}
      </Figure>
      <Figure label={texts.lastSuccess}>
        <RelativeTime value={last_success_at} empty={neverSent} />
      </Figure>
      <Figure label={texts.lastAttempt}>
        <RelativeTime value={last_attempt_at} empty={neverSent} />
      </Figure>
      <Figure
        label={texts.waiting}
        note={
          waiting !== undefined && (
            <>
              {texts.waitingSince} <RelativeTime value={waiting.oldest_at} />
            </>
          )
        }
      >
        {waiting?.estimated === true && `${texts.estimated} `}
        {format.number(waiting?.count ?? 0)}
      </Figure>
      <Figure label={texts.failures} note={last_error !== undefined && lastErrorText(last_error, texts)}>
        {format.number(consecutive_failures)}
      </Figure>
    </SimpleGrid>
  );
}

function lastErrorText(error: Schemas['IntegrationError'], texts: { status: (code: string) => string }): string {
  return error.error ?? (error.status_code === undefined ? '' : texts.status(String(error.status_code)));
}

function Figure({ label, note, children }: { label: string; note?: ReactNode; children: ReactNode }): ReactNode {
  return (
    <Paper withBorder p="sm">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600} size="lg">
        {children}
      </Text>
      {note !== undefined && note !== false && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </Paper>
  );
}

/** Attempts of the last hour or day, as a chart. */
export function IntegrationChart({ id, search }: { id: string; search: { span?: 'hour' | 'day' } }): ReactNode {
  const { detail: texts } = useTexts().integrations;
  const format = useFormat();
  const filters = useFilters(search);
  const span = search.span ?? 'hour';
  const statistics = useQuery({
    queryKey: [...integrationKey(id), 'statistics', span],
    queryFn: ({ signal }) => gateway.integrations.getStatistics(id, { span }, { signal }),
    refetchInterval: 10_000,
  });
  const latency = statistics.data?.totals.average_latency_ms;
  const spans = (
    <SegmentedControl
      size="xs"
      w="fit-content"
      aria-label={texts.span}
      value={span}
      onChange={(value) => {
        filters.set('span', value === 'hour' ? undefined : value);
      }}
      data={(['hour', 'day'] as const).map((value) => ({ value, label: texts.spans[value] }))}
    />
  );
  return (
    <Paper withBorder p="md">
      {statistics.isError ? (
        <>
          {spans}
          <ProblemAlert error={statistics.error} onRetry={() => void statistics.refetch()} />
        </>
      ) : (
        <Chart
          type="bar"
          isStacked
          label={texts.chart}
          summary={
            <>
              {latency !== undefined && (
                <Text size="xs" c="dimmed" visibleFrom="sm">
                  {texts.latency} {format.duration(latency)}
                </Text>
              )}
              {spans}
            </>
          }
          points={(statistics.data?.points ?? []).map(({ at, succeeded, failed }) => ({ at, succeeded, failed }))}
          x="at"
          formatX={format.time}
          formatY={(value) => format.number(value)}
          series={[
            { name: 'succeeded', label: texts.succeeded, color: 'teal.6' },
            { name: 'failed', label: texts.failed, color: 'red.6' },
          ]}
        />
      )}
    </Paper>
  );
}
