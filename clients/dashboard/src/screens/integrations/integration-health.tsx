import { Paper, SimpleGrid, Text } from '@mantine/core';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { liveStatistics } from '../../app/query-client.ts';
import { Chart } from '../../shared/chart.tsx';
import { CountLink } from '../../shared/count-link.tsx';
import { spanOf } from '../../shared/counted-span.ts';
import { Figure } from '../../shared/figure.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { Time } from '../../shared/time.tsx';
import { SpanSwitch, type Span } from '../../shared/span-switch.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { useOutcomeText } from '../deliveries/outcome-words.tsx';
import { integrationKey } from './queries.ts';

/** Figures of an integration: success rate, last attempts, what waits. */
export function IntegrationHealth({ integration }: { integration: Schemas['Integration'] }): ReactNode {
  const { detail: texts, neverSent, noAttempts } = useTexts().integrations;
  const format = useFormat();
  const count = useWaitingCount(integration);
  const outcomeText = useOutcomeText();
  const { success_rate, last_attempt_at, last_success_at, waiting, consecutive_failures, last_error } = integration;
  const recent = useIntegrationStatistics(integration.id, 'day').data;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
      <Figure label={texts.successRate} note={recent && <Ended id={integration.id} recent={recent} />}>
        {success_rate === undefined ? noAttempts : format.percent(success_rate)}
      </Figure>
      <Figure label={texts.lastSuccess}>
        <Time value={last_success_at} empty={neverSent} />
      </Figure>
      <Figure label={texts.lastAttempt}>
        <Time value={last_attempt_at} empty={neverSent} />
      </Figure>
      <Figure
        label={texts.waiting}
        note={
          waiting !== undefined && (
            <>
              {texts.waitingSince} <Time value={waiting.oldest_at} />
            </>
          )
        }
      >
        <CountLink
          count={waiting?.count ?? 0}
          to="/deliveries"
          search={{ integration_id: integration.id, status: 'waiting' }}
        >
          {count}
        </CountLink>
      </Figure>
      <Figure label={texts.failures} note={last_error !== undefined && lastErrorText(last_error, texts, outcomeText)}>
        {format.number(consecutive_failures)}
      </Figure>
    </SimpleGrid>
  );
}

/** How many deliveries wait, in words: "about 1,280" if it is an estimate. */
export function useWaitingCount({ waiting }: Schemas['Integration']): string {
  const { estimated } = useTexts().integrations.detail;
  const count = useFormat().number(waiting?.count ?? 0);
  return waiting?.estimated === true ? `${estimated} ${count}` : count;
}

type Recent = Schemas['IntegrationStatistics'];

/** Deliveries of the span that have ended. */
function Ended({ id, recent }: { id: string; recent: Recent }): ReactNode {
  const { detail: texts } = useTexts().integrations;
  const format = useFormat();
  const { deliveries_succeeded: delivered, deliveries_failed: failed } = recent.totals;
  const search = { integration_id: id, ...spanOf(recent) };
  return (
    <>
      <CountLink count={delivered} to="/deliveries" search={{ ...search, status: 'delivered' }}>
        {texts.delivered(format.number(delivered))}
      </CountLink>
      ,{' '}
      <CountLink count={failed} to="/deliveries" search={{ ...search, status: 'failed' }}>
        {texts.gaveUp(format.number(failed))}
      </CountLink>
    </>
  );
}

function useIntegrationStatistics(id: string, span: Span): UseQueryResult<Recent, unknown> {
  return useQuery({
    queryKey: [...integrationKey(id), 'statistics', span],
    queryFn: ({ signal }) => gateway.integrations.getStatistics(id, { span }, { signal }),
    ...liveStatistics,
  });
}

function lastErrorText(
  { error, status_code: code }: Schemas['IntegrationError'],
  texts: { status: (code: string) => string },
  outcomeText: (outcome: string) => string,
): string {
  if (error !== undefined) return outcomeText(error);
  return code === undefined ? '' : texts.status(String(code));
}

/** Attempts of the last hour or day, as a chart. */
export function IntegrationChart({ id, search }: { id: string; search: { span?: Span } }): ReactNode {
  const { detail: texts } = useTexts().integrations;
  const format = useFormat();
  const span = search.span ?? 'hour';
  const statistics = useIntegrationStatistics(id, span);
  const latency = statistics.data?.totals.average_latency_ms;
  const spans = <SpanSwitch search={search} />;
  return (
    <Paper withBorder p="md">
      {statistics.isError ? (
        <>
          {spans}
          <ProblemAlert error={statistics.error} onRetry={() => void statistics.refetch()} />
        </>
      ) : (
        <Chart
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
