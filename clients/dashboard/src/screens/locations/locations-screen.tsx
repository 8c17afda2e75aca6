import { Text } from '@mantine/core';
import { IconBuildingStore } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { useArchivedFilter } from '../../shared/archived-filter.ts';
import { DataTable, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { FilterBar, useFilters } from '../../shared/filters.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { Time } from '../../shared/time.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { useList } from '../../shared/use-list.ts';
import { LocationStatus } from './location-status.tsx';
import { locationsKey } from './queries.ts';

const route = getRouteApi('/locations');

/** All locations. */
export function LocationsScreen(): ReactNode {
  const { locations: texts, shared } = useTexts();
  const canWrite = useScope('catalog:write');
  const search = route.useSearch();
  const filters = useFilters(search);
  const list = useList({
    queryKey: [...locationsKey, 'list', search],
    load: (position, options) => gateway.locations.list({ ...search, ...position }, options),
    idOf: ({ id }) => id,
  });
  const create = canWrite && <LinkButton to="/locations/new">{texts.create}</LinkButton>;
  return (
    <Page title={texts.title} description={texts.description} actions={create}>
      <FilterBar filters={filters} fields={[useArchivedFilter()]} />
      <DataTable
        label={texts.title}
        columns={useColumns()}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/locations/$id', params: { id } })}
        empty={
          filters.isActive ? (
            <EmptyState icon={IconBuildingStore} title={shared.filters.noMatch} text={shared.filters.noMatchText} />
          ) : (
            <EmptyState icon={IconBuildingStore} title={texts.empty.title} text={texts.empty.text} action={create} />
          )
        }
      />
    </Page>
  );
}

function useColumns(): Column<Schemas['Location']>[] {
  const { locations: texts } = useTexts();
  const format = useFormat();
  return [
    {
      key: 'name',
      header: texts.columns.name,
      cell: ({ name }) => (
        <Text size="sm" fw={500}>
          {name}
        </Text>
      ),
    },
    {
      key: 'status',
      header: texts.columns.status,
      cell: ({ archived }) => <LocationStatus archived={archived} />,
    },
    { key: 'currency', header: texts.columns.currency, width: 100, cell: ({ currency }) => currency },
    { key: 'time_zone', header: texts.columns.timeZone, width: '20%', cell: ({ time_zone }) => time_zone },
    {
      key: 'spots',
      header: texts.columns.spots,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ zones }) => format.number(zones.reduce((sum, { spots }) => sum + spots.length, 0)),
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
