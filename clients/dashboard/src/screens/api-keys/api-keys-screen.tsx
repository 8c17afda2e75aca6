import { Badge, Group, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useSession } from '../../app/session-context.ts';
import { CopyableId } from '../../shared/copy.tsx';
import { DataTable, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { FilterBar, useFilters } from '../../shared/filters.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { Time } from '../../shared/time.tsx';
import { StatusBadge, type Tone } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { useList } from '../../shared/use-list.ts';
import { LimitList } from './limit-list.tsx';
import { apiKeysKey } from './queries.ts';
import { RevokeKey } from './revoke-key.tsx';
import { ScopeList } from './scope-list.tsx';

type ApiKey = Schemas['ApiKey'];

const route = getRouteApi('/api-keys');
const tones: Record<string, Tone> = { active: 'ok', expired: 'warning', revoked: 'neutral' };

/** All API keys, with their scopes and last use. */
export function ApiKeysScreen(): ReactNode {
  const { apiKeys: texts, shared } = useTexts();
  const search = route.useSearch();
  const filters = useFilters(search);
  const list = useList({
    queryKey: [...apiKeysKey, search],
    load: (position, options) => gateway.apiKeys.list({ ...search, ...position }, options),
    idOf: ({ id }) => id,
  });
  const create = <LinkButton to="/api-keys/new">{texts.create}</LinkButton>;

  return (
    <Page title={texts.title} description={texts.description} actions={create}>
      <FilterBar
        filters={filters}
        fields={[
          {
            name: 'status',
            label: texts.filters.status,
            options: (['active', 'expired', 'revoked'] as const).map((value) => ({
              value,
              label: texts.statuses[value],
            })),
          },
        ]}
      />
      <DataTable
        label={texts.title}
        columns={useColumns()}
        list={list}
        rowKey={({ id }) => id}
        empty={
          filters.isActive ? (
            <EmptyState icon={IconKey} title={shared.filters.noMatch} text={shared.filters.noMatchText} />
          ) : (
            <EmptyState icon={IconKey} title={texts.empty.title} text={texts.empty.text} action={create} />
          )
        }
      />
    </Page>
  );
}

function useColumns(): Column<ApiKey>[] {
  const { apiKeys: texts } = useTexts();
  const { key: current } = useSession();
  return [
    {
      key: 'name',
      header: texts.columns.name,
      width: '27%',
      cell: (key) => <NameCell apiKey={key} isCurrent={key.id === current.id} />,
    },
    { key: 'scopes', header: texts.columns.scopes, cell: (key) => <ReachCell apiKey={key} /> },
    {
      key: 'status',
      header: texts.columns.status,
      cell: ({ status }) => (
        <StatusBadge tone={tones[status] ?? 'neutral'}>
          {(texts.statuses as Record<string, string>)[status] ?? status}
        </StatusBadge>
      ),
    },
    {
      key: 'lastUsed',
      header: texts.columns.lastUsed,
      align: 'end',
      cell: ({ last_used_at }) => <Time value={last_used_at} empty={texts.neverUsed} />,
    },
    {
      key: 'expires',
      header: texts.columns.expires,
      align: 'end',
      cell: ({ expires_at }) => <Time value={expires_at} empty={texts.neverExpires} />,
    },
    {
      key: 'created',
      header: texts.columns.created,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
    {
      key: 'actions',
      header: texts.revoke.action,
      hasNoLabel: true,
      align: 'end',
      cell: (key) => key.status === 'active' && <Actions apiKey={key} />,
    },
  ];
}

/** What a key can do, and with what. */
function ReachCell({ apiKey: { scopes, limits } }: { apiKey: ApiKey }): ReactNode {
  return (
    <div style={{ minWidth: 0, whiteSpace: 'normal' }}>
      <ScopeList scopes={scopes} />
      {limits !== undefined && <LimitList limits={limits} />}
    </div>
  );
}

function Actions({ apiKey }: { apiKey: ApiKey }): ReactNode {
  const { edit: texts } = useTexts().apiKeys;
  const { id, name } = apiKey;
  return (
    <Group gap={6} justify="flex-end">
      <LinkButton
        to="/api-keys/$id/edit"
        params={{ id }}
        variant="default"
        size="compact-sm"
        aria-label={texts.of(name)}
      >
        {texts.action}
      </LinkButton>
      <RevokeKey apiKey={apiKey} />
    </Group>
  );
}

function NameCell({ apiKey, isCurrent }: { apiKey: ApiKey; isCurrent: boolean }): ReactNode {
  const { apiKeys: texts } = useTexts();
  return (
    <div style={{ minWidth: 0 }}>
      <Group gap={8} wrap="nowrap">
        <Text size="sm" fw={500}>
          {apiKey.name}
        </Text>
        {isCurrent && (
          <Badge size="sm" variant="light" tt="none" style={{ flex: 'none' }}>
            {texts.current}
          </Badge>
        )}
      </Group>
      {apiKey.prefix !== undefined && (
        <Text c="dimmed" size="xs" component="div">
          <CopyableId value={apiKey.prefix} label={texts.columns.name} />
        </Text>
      )}
    </div>
  );
}
