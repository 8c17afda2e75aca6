import { Group, Progress, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { DataTable, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { Page } from '../../shared/page.tsx';
import { Time } from '../../shared/time.tsx';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { useList } from '../../shared/use-list.ts';
import { NewReplay } from './new-replay.tsx';

const route = getRouteApi('/integrations/$id/replays');

/** The replays to an integration with their progress, and a button that starts one. */
export function ReplaysScreen(): ReactNode {
  const { replays: texts, integrations } = useTexts();
  const { id } = route.useParams();
  const { failed_since } = route.useSearch();
  const canManage = useScope('integrations:manage');
  const integration = useQuery({
    queryKey: ['integrations', id, 'name'],
    queryFn: ({ signal }) => gateway.integrations.get(id, { signal }),
    staleTime: 60_000,
  });
  const list = useList({
    queryKey: ['integrations', id, 'replays'],
    load: (position, options) => gateway.replays.list(id, position, options),
    idOf: (replay) => replay.id,
    isLive: true,
  });
  const name = integration.data?.name ?? id;
  const start = canManage && <NewReplay integrationId={id} failedSince={failed_since} />;
  return (
    <Page
      title={texts.titleOf(name)}
      description={texts.description}
      breadcrumbs={[
        { label: integrations.title, to: '/integrations' },
        { label: name, to: '/integrations/$id', params: { id } },
      ]}
      actions={start}
    >
      <DataTable
        label={texts.title}
        columns={useColumns()}
        list={list}
        rowKey={(replay) => replay.id}
        empty={<EmptyState icon={IconHistory} title={texts.empty.title} text={texts.empty.text} />}
      />
    </Page>
  );
}

function useColumns(): Column<Schemas['Replay']>[] {
  const { replays: texts } = useTexts();
  const format = useFormat();
  return [
    {
      key: 'span',
      header: texts.columns.span,
      cell: ({ since, until, only }) => (
        <Text size="sm">
          {since === undefined || until === undefined
            ? texts.single
            : `${format.dateTime(since)} – ${format.dateTime(until)}`}
          {only !== undefined && ` · ${texts.onlyFailed}`}
        </Text>
      ),
    },
    {
      key: 'status',
      header: texts.columns.status,
      cell: ({ status, progress }) => (
        <Group gap={6} wrap="nowrap">
          <StatusBadge tone={status === 'done' ? 'ok' : 'info'}>
            {(texts.statuses as Record<string, string>)[status] ?? status}
          </StatusBadge>
          {status === 'running' && progress !== undefined && (
            <Progress value={progress * 100} w={64} size="sm" aria-label={format.percent(progress)} />
          )}
        </Group>
      ),
    },
    {
      key: 'deliveries',
      header: texts.columns.deliveries,
      align: 'end',
      cell: ({ delivery_count }) => format.number(delivery_count),
    },
    {
      key: 'started',
      header: texts.columns.started,
      align: 'end',
      cell: ({ created_at }) => <Time value={created_at} />,
    },
    {
      key: 'finished',
      header: texts.columns.finished,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ finished_at }) => <Time value={finished_at} />,
    },
  ];
}
