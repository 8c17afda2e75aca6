import { Text, Tooltip } from '@mantine/core';
import { IconWebhook } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { DataTable, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { Time } from '../../shared/time.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { useList } from '../../shared/use-list.ts';
import { IntegrationStatus } from './integration-status.tsx';
import { integrationsKey } from './queries.ts';

/** All integrations with their health. */
export function IntegrationsScreen(): ReactNode {
  const { integrations: texts } = useTexts();
  const canManage = useScope('integrations:manage');
  const list = useList({
    queryKey: [...integrationsKey, 'list'],
    load: (position, options) => gateway.integrations.list(position, options),
    idOf: ({ id }) => id,
    isLive: true,
  });
  const create = canManage && <LinkButton to="/integrations/new">{texts.create}</LinkButton>;
  return (
    <Page title={texts.title} description={texts.description} actions={create}>
      <DataTable
        label={texts.title}
        columns={useColumns()}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/integrations/$id', params: { id } })}
        empty={<EmptyState icon={IconWebhook} title={texts.empty.title} text={texts.empty.text} action={create} />}
      />
    </Page>
  );
}

function useColumns(): Column<Schemas['Integration']>[] {
  const { integrations: texts } = useTexts();
  const format = useFormat();
  return [
    {
      key: 'name',
      header: texts.columns.name,
      sortBy: ({ name }) => name,
      cell: ({ name, url }) => (
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={500}>
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            {url}
          </Text>
        </div>
      ),
    },
    {
      key: 'status',
      header: texts.columns.status,
      cell: (integration) => <IntegrationStatus integration={integration} />,
    },
    {
      key: 'success',
      header: texts.columns.successRate,
      width: 125,
      sortBy: ({ success_rate }) => success_rate,
      cell: ({ success_rate, consecutive_failures: failures }) =>
        failures > 0 ? (
          // The share says little of a receiver that is away: a pause has few attempts.
          <Text span size="sm" c="red" fw={500}>
            {texts.inARow(format.number(failures))}
          </Text>
        ) : success_rate === undefined ? (
          <Text span size="sm" c="dimmed">
            {texts.noAttempts}
          </Text>
        ) : (
          format.percent(success_rate)
        ),
    },
    {
      key: 'last',
      header: texts.columns.lastSuccess,
      align: 'end',
      sortBy: ({ last_success_at }) => last_success_at,
      cell: ({ last_success_at }) => <Time value={last_success_at} empty={texts.neverSent} />,
    },
    {
      key: 'events',
      header: texts.columns.events,
      width: 110,
      isHiddenOnPhone: true,
      cell: ({ event_types }) => (
        <Tooltip label={format.list(event_types)}>
          <span tabIndex={0}>{texts.eventTypeCount(format.number(event_types.length))}</span>
        </Tooltip>
      ),
    },
    {
      key: 'created',
      header: texts.columns.created,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
}
