import { IconKey } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { DataTable } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { FilterBar, useFilters } from '../../shared/filters.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { useList } from '../../shared/use-list.ts';
import { useKeyColumns } from './key-columns.tsx';
import { apiKeysKey } from './queries.ts';

const route = getRouteApi('/api-keys');

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
        columns={useKeyColumns()}
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
