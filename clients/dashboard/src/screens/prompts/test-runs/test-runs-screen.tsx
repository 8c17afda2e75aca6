import { Stack, Text } from '@mantine/core';
import { IconTestPipe } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { DataTable, type Column } from '../../../shared/data-table.tsx';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { Time } from '../../../shared/time.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { useTestRuns } from '../prompt-queries.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { NewTestRun } from './new-test-run.tsx';
import { RunStatus } from './run-status.tsx';

/** Runs the prompt on several providers and models, and lists what was run before. */
export function TestRunsScreen(): ReactNode {
  const { testRuns: texts } = useTexts().prompts;
  const { id } = useWorkspace().stored.data;
  const canTest = useScope('prompts:invoke');
  const list = useTestRuns(id);
  return (
    <Stack gap="xl">
      {canTest && <NewTestRun />}
      <Stack gap="sm" component="section" aria-label={texts.past}>
        <Text fw={600}>{texts.past}</Text>
        <DataTable
          label={texts.past}
          columns={useColumns()}
          list={list}
          rowKey={(run) => run.id}
          rowLink={(run) => ({
            to: '/prompts/$promptId/test-runs/$runId',
            params: { promptId: id, runId: run.id },
          })}
          empty={<EmptyState icon={IconTestPipe} title={texts.emptyTitle} text={texts.emptyText} />}
        />
      </Stack>
    </Stack>
  );
}

function useColumns(): Column<Schemas['TestRun']>[] {
  const { prompts, shared } = useTexts();
  const { columns, targets } = prompts.testRuns;
  const format = useFormat();
  return [
    {
      key: 'started',
      header: columns.started,
      width: 190,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
    {
      key: 'targets',
      header: columns.targets,
      cell: ({ providers }) => (
        <Text size="sm" title={format.list(providers.map(({ provider, model }) => `${provider} / ${model}`))}>
          {targets(
            providers
              .slice(0, 3)
              .map(({ model }) => model)
              .join(', '),
            Math.max(0, providers.length - 3),
          )}
        </Text>
      ),
    },
    {
      key: 'version',
      header: columns.version,
      width: 96,
      cell: ({ prompt_version, providers }) => {
        const versions = new Set(providers.map(({ version = prompt_version }) => version));
        return [...versions].map(prompts.workspace.version).join(', ');
      },
    },
    { key: 'status', header: columns.status, cell: (run) => <RunStatus run={run} /> },
    {
      key: 'duration',
      header: columns.duration,
      align: 'end',
      cell: ({ created_at, finished_at }) =>
        finished_at === undefined ? shared.none : format.duration(Date.parse(finished_at) - Date.parse(created_at)),
    },
  ];
}
