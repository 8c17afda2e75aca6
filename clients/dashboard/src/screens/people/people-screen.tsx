import { Badge, Group, Text } from '@mantine/core';
import { IconUsers } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useSession } from '../../app/session-context.ts';
import { DataTable, RowCount, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { ForScope } from '../../shared/for-scope.tsx';
import { Page } from '../../shared/page.tsx';
import { useRoleNames } from '../../shared/role-names.ts';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { Time } from '../../shared/time.tsx';
import { useList } from '../../shared/use-list.ts';
import { people } from '../../texts/people.ts';
import { PersonStatus } from './person-status.tsx';
import { peopleKey } from './queries.ts';

/** Everybody who has signed in. */
export function PeopleScreen(): ReactNode {
  const texts = useOwnTexts(people);
  return (
    <ForScope scope="people:manage" title={texts.title}>
      <People />
    </ForScope>
  );
}

function People(): ReactNode {
  const texts = useOwnTexts(people);
  const list = useList({
    queryKey: [...peopleKey, 'list'],
    load: (position, options) => gateway.people.list(position, options),
    idOf: ({ id }) => id,
  });
  return (
    <Page title={texts.title} description={texts.description}>
      {list.rows?.length !== 0 && <RowCount list={list} />}
      <DataTable
        label={texts.title}
        columns={useColumns()}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/people/$id', params: { id } })}
        empty={<EmptyState icon={IconUsers} title={texts.empty.title} text={texts.empty.text} />}
      />
    </Page>
  );
}

function useColumns(): Column<Schemas['Person']>[] {
  const { columns, you } = useOwnTexts(people);
  const { shared } = useTexts();
  const roleNames = useRoleNames();
  const { key: current } = useSession();
  return [
    {
      key: 'name',
      header: columns.name,
      width: '24%',
      cell: ({ id, name }) => (
        <Group gap={8} wrap="nowrap">
          <Text size="sm" fw={500} component="span">
            {name}
          </Text>
          {id === current.id && (
            <Badge size="sm" variant="light" tt="none" style={{ flex: 'none' }}>
              {you}
            </Badge>
          )}
        </Group>
      ),
      sortBy: ({ name }) => name,
    },
    { key: 'status', header: columns.status, cell: ({ disabled }) => <PersonStatus disabled={disabled} /> },
    { key: 'email', header: columns.email, cell: ({ email }) => email ?? shared.none, sortBy: ({ email }) => email },
    { key: 'roles', header: columns.roles, width: '22%', cell: ({ roles }) => roleNames(roles) },
    {
      key: 'first',
      header: columns.first,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ first_sign_in_at }) => <Time value={first_sign_in_at} />,
      sortBy: ({ first_sign_in_at }) => first_sign_in_at,
    },
    {
      key: 'last',
      header: columns.last,
      align: 'end',
      cell: ({ last_sign_in_at }) => <Time value={last_sign_in_at} />,
      sortBy: ({ last_sign_in_at }) => last_sign_in_at,
    },
  ];
}
