import { Group, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { DataTable } from '../../shared/data-table.tsx';
import { Section } from '../../shared/section.tsx';
import { useOwnTexts } from '../../shared/texts.tsx';
import { useList } from '../../shared/use-list.ts';
import { people } from '../../texts/people.ts';
import { useKeyColumns } from '../api-keys/key-columns.tsx';
import { apiKeysKey } from '../api-keys/queries.ts';
import { RevokeKeys } from './revoke-keys.tsx';

/** The API keys that a person made, which are revoked one by one or together. */
export function PersonKeys({ person }: { person: Schemas['Person'] }): ReactNode {
  const { keys: texts } = useOwnTexts(people);
  const canRead = useScope('keys:manage');
  return (
    <Section title={texts.title}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {texts.stay} {!canRead && texts.noScope}
        </Text>
        <RevokeKeys person={person} />
      </Group>
      {canRead && <KeyTable id={person.id} />}
    </Section>
  );
}

function KeyTable({ id }: { id: string }): ReactNode {
  const { keys: texts } = useOwnTexts(people);
  const list = useList({
    queryKey: [...apiKeysKey, 'made-by', id],
    load: (position, options) => gateway.apiKeys.list({ author_id: id, ...position }, options),
    idOf: (key) => key.id,
  });
  return (
    <DataTable
      label={texts.title}
      columns={useKeyColumns()}
      list={list}
      rowKey={(key) => key.id}
      empty={
        <Text size="sm" c="dimmed" p="md">
          {texts.empty}
        </Text>
      }
    />
  );
}
