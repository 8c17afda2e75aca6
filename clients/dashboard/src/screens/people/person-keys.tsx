import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { DataTable } from '../../shared/data-table.tsx';
import { Section } from '../../shared/section.tsx';
import { useOwnTexts } from '../../shared/texts.tsx';
import { people } from '../../texts/people.ts';
import { useKeyColumns } from '../api-keys/key-columns.tsx';
import { apiKeysKey } from '../api-keys/queries.ts';

/** The newest keys of all, among which those of the person are looked for: the API lists keys by status only. */
const searched = 5_000;

/** The API keys that a person made, each of which can be revoked. */
export function PersonKeys({ id }: { id: string }): ReactNode {
  const { keys: texts } = useOwnTexts(people);
  const canRead = useScope('keys:manage');
  const columns = useKeyColumns();
  const read = useQuery({
    queryKey: [...apiKeysKey, 'made-by', id],
    queryFn: async ({ signal }) => {
      const all = await gateway.apiKeys.list({ limit: 100 }, { signal }).toArray({ limit: searched });
      return all.filter(({ author }) => author?.id === id);
    },
    enabled: canRead,
  });
  return (
    <Section title={texts.title}>
      <Text size="sm" c="dimmed">
        {canRead ? texts.stay : texts.noScope}
      </Text>
      {canRead && (
        <DataTable
          label={texts.title}
          columns={columns}
          list={{ rows: read.data, error: read.error, retry: () => void read.refetch() }}
          rowKey={(key) => key.id}
          empty={
            <Text size="sm" c="dimmed" p="md">
              {texts.empty}
            </Text>
          }
        />
      )}
    </Section>
  );
}
