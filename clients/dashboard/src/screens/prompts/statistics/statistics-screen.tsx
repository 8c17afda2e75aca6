import { Group, Paper, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { Chart } from '../../../shared/chart.tsx';
import { CountLink } from '../../../shared/count-link.tsx';
import { spanOf } from '../../../shared/counted-span.ts';
import { DataTable, type Column } from '../../../shared/data-table.tsx';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { LinkButton, TextLink } from '../../../shared/links.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { usePromptStatistics } from '../prompt-queries.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { PromptUsers } from './prompt-users.tsx';

const route = getRouteApi('/prompts/$promptId/statistics');

type Counts = Schemas['InvocationCounts'];
interface VersionCounts {
  readonly version: number;
  readonly totals: Counts;
}

/** The invocations of the last hour or day: as charts over time, and by version. */
export function PromptStatisticsScreen(): ReactNode {
  const { statistics: texts } = useTexts().prompts;
  const format = useFormat();
  const { id } = useWorkspace().stored.data;
  const canReadLog = useScope('invocations:read');
  const span = route.useSearch().span ?? 'hour';
  const navigate = route.useNavigate();
  const statistics = usePromptStatistics(id, span);
  const { data, error } = statistics;
  const points = (data?.points ?? []).map((point) => ({
    at: point.at,
    succeeded: point.invocations - point.errors - point.canceled - point.interrupted,
    unanswered: point.canceled + point.interrupted,
    errors: point.errors,
    latency: point.average_latency_ms ?? null,
    input: point.input_tokens,
    output: point.output_tokens,
  }));
  return (
    <Stack gap="lg">
      <Group>
        <SegmentedControl
          size="xs"
          aria-label={texts.span}
          value={span}
          data={[
            { value: 'hour', label: texts.hour },
            { value: 'day', label: texts.day },
          ]}
          onChange={(chosen) => {
            void navigate({
              to: '.',
              search: { span: chosen === 'day' ? 'day' : 'hour' },
              replace: true,
              resetScroll: false,
            });
          }}
        />
        <Text size="xs" c="dimmed">
          {texts.delay}
        </Text>
        {canReadLog && data !== undefined && (
          <TextLink to="/invocations" search={{ prompt: id, ...spanOf(data) }} size="sm">
            {texts.invocationsOfSpan}
          </TextLink>
        )}
      </Group>
      {data !== undefined && data.totals.invocations > 0 && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Paper withBorder p="md">
            <Chart
              label={texts.invocations}
              points={points}
              x="at"
              formatX={format.time}
              formatY={format.number}
              series={[
                { name: 'succeeded', label: texts.succeeded, color: 'accent.6' },
                { name: 'unanswered', label: texts.canceled, color: 'gray.5' },
                { name: 'errors', label: texts.errors, color: 'red.6' },
              ]}
            />
          </Paper>
          <Paper withBorder p="md">
            <Chart
              label={texts.latency}
              points={points}
              x="at"
              formatX={format.time}
              formatY={format.duration}
              series={[{ name: 'latency', label: texts.latency, color: 'accent.6' }]}
            />
          </Paper>
        </SimpleGrid>
      )}
      <DataTable<VersionCounts>
        label={texts.byVersion}
        columns={useColumns((filter) => ({ prompt: id, ...filter, ...(data && spanOf(data)) }))}
        list={{
          rows: data?.versions,
          error,
          retry: () => {
            void statistics.refetch();
          },
        }}
        rowKey={({ version }) => String(version)}
        rowLink={
          canReadLog
            ? ({ version }) => ({
                to: '/invocations',
                search: { prompt: id, version: String(version), ...(data && spanOf(data)) },
              })
            : undefined
        }
        empty={
          <EmptyState
            icon={IconChartBar}
            title={texts.emptyTitle}
            text={texts.emptyText}
            action={
              <LinkButton to="/prompts/$promptId/playground" params={{ promptId: id }}>
                {texts.openPlayground}
              </LinkButton>
            }
          />
        }
      />
      {canReadLog && <PromptUsers promptId={id} />}
    </Stack>
  );
}

/** The whole row leads to the invocations of its version; those that failed, or came from the cache, have links of their own. */
function useColumns(
  searchOf: (filter: Readonly<Record<string, string>>) => Readonly<Record<string, string>>,
): Column<VersionCounts>[] {
  const { prompts, shared } = useTexts();
  const { columns } = prompts.statistics;
  const format = useFormat();
  const count = (key: 'invocations' | 'input_tokens' | 'output_tokens'): Column<VersionCounts> => ({
    key,
    header: columns[key],
    align: 'end',
    cell: ({ totals }) => format.number(totals[key]),
  });
  const linked = (
    key: 'errors' | 'canceled' | 'cached',
    filter: Readonly<Record<string, string>>,
  ): Column<VersionCounts> => ({
    key,
    header: columns[key],
    align: 'end',
    cell: ({ version, totals }) => (
      <CountLink count={totals[key]} to="/invocations" search={searchOf({ version: String(version), ...filter })} />
    ),
  });
  return [
    { key: 'version', header: columns.version, cell: ({ version }) => prompts.history.version(version) },
    count('invocations'),
    linked('errors', { status: 'failed' }),
    linked('canceled', { status: 'canceled' }),
    linked('cached', { cached: 'only' }),
    count('input_tokens'),
    count('output_tokens'),
    {
      key: 'latency',
      header: columns.latency,
      align: 'end',
      cell: ({ totals: { average_latency_ms: latency } }) =>
        latency === undefined ? shared.none : format.duration(latency),
    },
    {
      key: 'feedback',
      header: columns.feedback,
      align: 'end',
      cell: ({ totals: { feedback, average_score: score } }) =>
        feedback === undefined || score === undefined
          ? shared.none
          : prompts.statistics.rated(format.number(feedback), format.number(score, { signDisplay: 'exceptZero' })),
    },
  ];
}
