import { Badge, Group, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useScope, useSession } from '../../app/session-context.ts';
import { CopyableId } from '../../shared/copy.tsx';
import type { Column } from '../../shared/data-table.tsx';
import { LinkButton, TextLink } from '../../shared/links.tsx';
import { StatusBadge, type Tone } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { Time } from '../../shared/time.tsx';
import { LimitList } from './limit-list.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { ScopeList } from './scope-list.tsx';

type ApiKey = Schemas['ApiKey'];

const tones: Record<string, Tone> = { active: 'ok', expired: 'warning', revoked: 'neutral' };

/** What lists of API keys show of each, with the buttons that change and revoke it. */
export function useKeyColumns(): Column<ApiKey>[] {
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
  const canSeePeople = useScope('people:manage');
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
      {apiKey.author !== undefined && (
        <Text c="dimmed" size="xs">
          {texts.madeBy}{' '}
          {apiKey.author.type === 'person' && canSeePeople ? (
            <TextLink to="/people/$id" params={{ id: apiKey.author.id }} size="xs" underline="always">
              {apiKey.author.name}
            </TextLink>
          ) : (
            apiKey.author.name
          )}
        </Text>
      )}
    </div>
  );
}
