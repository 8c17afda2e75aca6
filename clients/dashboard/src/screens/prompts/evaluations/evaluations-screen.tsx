import { Group, Stack, Text } from '@mantine/core';
import { IconScale } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { DataTable, type Column } from '../../../shared/data-table.tsx';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { LinkButton } from '../../../shared/links.tsx';
import { Time } from '../../../shared/time.tsx';
import { useFormat, useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { EvaluationStatus } from './evaluation-status.tsx';
import { useEvaluations, type Evaluation } from './queries.ts';

/** The evaluations of a prompt. */
export function EvaluationsScreen(): ReactNode {
  const texts = useOwnTexts(evaluations);
  const { id } = useWorkspace().stored.data;
  const canStart = useScope('prompts:invoke');
  const list = useEvaluations(id);
  const start = canStart && (
    <LinkButton to="/prompts/$promptId/evaluations/new" params={{ promptId: id }} leftSection={<IconScale size={16} />}>
      {texts.start}
    </LinkButton>
  );
  const isEmpty = list.rows?.length === 0;
  return (
    <Stack gap="sm" component="section" aria-label={texts.past}>
      <Group justify="space-between">
        <Text fw={600}>{texts.past}</Text>
        {!isEmpty && start}
      </Group>
      <DataTable
        label={texts.past}
        columns={useColumns()}
        list={list}
        rowKey={(evaluation) => evaluation.id}
        rowLink={(evaluation) => ({
          to: '/prompts/$promptId/evaluations/$evaluationId',
          params: { promptId: id, evaluationId: evaluation.id },
        })}
        empty={<EmptyState icon={IconScale} title={texts.emptyTitle} text={texts.emptyText} action={start} />}
      />
    </Stack>
  );
}

function useColumns(): Column<Evaluation>[] {
  const texts = useOwnTexts(evaluations);
  const { columns } = texts;
  const { shared } = useTexts();
  const format = useFormat();
  const nameOf = ({ version, label }: Schemas['EvaluatedSide']): string =>
    `${texts.version(version)}${label === undefined ? '' : ` · ${label}`}`;
  return [
    { key: 'started', header: columns.started, width: 190, cell: ({ created_at }) => <Time value={created_at} /> },
    { key: 'status', header: columns.status, cell: (evaluation) => <EvaluationStatus evaluation={evaluation} /> },
    { key: 'candidate', header: columns.candidate, cell: ({ candidate }) => nameOf(candidate) },
    {
      key: 'baseline',
      header: columns.baseline,
      cell: ({ baseline }) => (baseline === undefined ? shared.none : nameOf(baseline)),
    },
    {
      key: 'dataset',
      header: columns.dataset,
      width: '26%',
      cell: ({ dataset: { name, version } }) => `${name} ${texts.version(version)}`,
    },
    {
      key: 'cost',
      header: columns.cost,
      align: 'end',
      cell: ({ cost, cases_done: done }) => (done === 0 ? shared.none : (format.cost(cost) ?? texts.page.unknownCost)),
    },
  ];
}
