import { Text } from '@mantine/core';
import { IconCategory } from '@tabler/icons-react';
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
import { useTexts } from '../../shared/texts.tsx';
import { useList } from '../../shared/use-list.ts';
import { useLocations, type Locations } from '../../shared/use-locations.ts';
import { CatalogTabs } from './catalog-tabs.tsx';
import { CategoryStatus } from './category-status.tsx';
import { categoriesKey } from './queries.ts';

const route = getRouteApi('/categories');

/** The categories of all locations, or of one. */
export function CategoriesScreen(): ReactNode {
  const { products, shared } = useTexts();
  const { categories: texts } = products;
  const canWrite = useScope('catalog:write');
  const search = route.useSearch();
  const filters = useFilters(search);
  const locations = useLocations();
  const list = useList({
    queryKey: [...categoriesKey, 'list', search],
    load: (position, options) => gateway.categories.list({ ...search, ...position }, options),
    idOf: ({ id }) => id,
  });
  const { location_id, archived } = search;
  const create = canWrite && (
    <LinkButton to="/categories/new" search={location_id === undefined ? {} : { location_id }}>
      {texts.create}
    </LinkButton>
  );
  const hasNoLocation = locations.query.data?.length === 0;
  return (
    <Page title={products.title} description={products.description} actions={create}>
      <CatalogTabs locationId={location_id} />
      <FilterBar
        filters={filters}
        fields={[
          { name: 'location_id', label: products.filters.location, options: locations.options(location_id) },
          useArchivedFilter(),
        ]}
      />
      <DataTable
        label={products.tabs.categories}
        columns={useColumns(locations)}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/categories/$id', params: { id } })}
        empty={
          archived === 'only' ? (
            <EmptyState icon={IconCategory} title={shared.filters.noMatch} text={shared.filters.noMatchText} />
          ) : (
            <EmptyState
              icon={IconCategory}
              title={texts.empty.title}
              text={texts.empty.text}
              action={
                hasNoLocation && canWrite ? (
                  <LinkButton to="/locations/new">{products.createLocation}</LinkButton>
                ) : (
                  create
                )
              }
            />
          )
        }
      />
    </Page>
  );
}

function useColumns(locations: Locations): Column<Schemas['Category']>[] {
  const { columns: texts } = useTexts().products.categories;
  return [
    {
      key: 'name',
      header: texts.name,
      cell: ({ name }) => (
        <Text size="sm" fw={500}>
          {name}
        </Text>
      ),
    },
    { key: 'location', header: texts.location, cell: ({ location_id }) => locations.nameOf(location_id) },
    {
      key: 'status',
      header: texts.status,
      cell: ({ archived }) => <CategoryStatus archived={archived} />,
    },
    {
      key: 'updated',
      header: texts.updated,
      align: 'end',
      cell: ({ updated_at }) => <Time value={updated_at} />,
    },
  ];
}
