import { Group, SegmentedControl, Stack, Title } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { liveStatistics } from '../../../app/query-client.ts';
import { DataTable, type Column } from '../../../shared/data-table.tsx';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { useNow } from '../../../shared/now.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';

type KeyCosts = Schemas['Costs']['groups'][number];

const hourMs = 3_600_000;
const spans = { day: 24 * hourMs, week: 7 * 24 * hourMs } as const;
type Span = keyof typeof spans;

/** The API keys whose calls run the prompt, with what they cost. A key leads to its invocations. */
export function PromptUsers({ promptId }: { promptId: string }): ReactNode {
  const { users: texts } = useTexts().prompts.statistics;
  const [span, setSpan] = useState<Span>('day');
  // Sums are kept by quarter hour; the same time for some minutes is read once.
  const since = new Date(Math.floor((useNow() - spans[span]) / (hourMs / 4)) * (hourMs / 4)).toISOString();
  const { data, error, refetch } = useQuery({
    queryKey: ['costs', 'key', since, { prompt: promptId }],
    queryFn: ({ signal }) => gateway.costs.get({ by: 'key', since, prompt: promptId }, { signal }),
    ...liveStatistics,
  });
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h4">
          {texts.title}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={texts.span}
          value={span}
          data={(Object.keys(spans) as Span[]).map((value) => ({ value, label: texts.spans[value] }))}
          onChange={(value) => {
            setSpan(value === 'week' ? 'week' : 'day');
          }}
        />
      </Group>
      <DataTable<KeyCosts>
        label={texts.title}
        columns={useColumns()}
        list={{
          rows: data?.groups,
          error,
          retry: () => {
            void refetch();
          },
        }}
        rowKey={({ key_id: id }) => id ?? ''}
        rowLink={({ key_id }) => ({
          to: '/invocations',
          search: {
            prompt: promptId,
            since,
            ...(data && { until: data.until }),
            ...(key_id !== undefined && { author_id: key_id }),
          },
        })}
        empty={<EmptyState icon={IconKey} text={texts.empty} />}
      />
    </Stack>
  );
}

function useColumns(): Column<KeyCosts>[] {
  const { prompts, invocations } = useTexts();
  const { users: texts } = prompts.statistics;
  const format = useFormat();
  return [
    { key: 'key', header: texts.key, cell: ({ key_name: name, key_id: id }) => name ?? id },
    { key: 'calls', header: texts.calls, align: 'end', cell: ({ sums }) => format.number(sums.calls) },
    {
      key: 'cost',
      header: texts.cost,
      align: 'end',
      cell: ({ sums }) =>
        sums.calls > 0 && sums.without_cost === sums.calls ? invocations.unknown : format.cost(sums.cost),
    },
  ];
}
