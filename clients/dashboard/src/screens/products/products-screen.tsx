import { Text } from '@mantine/core';
import { IconTag } from '@tabler/icons-react';
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
import { useLocations, type Locations } from '../../shared/use-locations.ts';
import { CatalogTabs } from './catalog-tabs.tsx';
import { ProductStatus } from './product-status.tsx';
import { productsKey } from './queries.ts';
import { categoryOptions, useCategories } from './use-categories.ts';

const route = getRouteApi('/products');

/** The products of all locations, or of one. */
export function ProductsScreen(): ReactNode {
  const { products: texts, shared } = useTexts();
  const canWrite = useScope('catalog:write');
  const search = route.useSearch();
  const filters = useFilters(search);
  const locations = useLocations();
  const categories = useCategories(search.location_id);
  const list = useList({
    queryKey: [...productsKey, 'list', search],
    load: (position, options) => gateway.products.list({ ...search, ...position }, options),
    idOf: ({ id }) => id,
  });
  const { location_id, category_id, archived } = search;
  const next = useNextStep(locations.query.data?.length, categories.data?.length);
  const create = canWrite && (
    <LinkButton
      to="/products/new"
      search={{ ...(location_id !== undefined && { location_id }), ...(category_id !== undefined && { category_id }) }}
    >
      {texts.create}
    </LinkButton>
  );
  return (
    <Page title={texts.title} description={texts.description} actions={create}>
      <CatalogTabs locationId={location_id} />
      <FilterBar
        filters={filters}
        fields={[
          { name: 'location_id', label: texts.filters.location, options: locations.options(location_id) },
          {
            name: 'category_id',
            label: texts.filters.category,
            options: categoryOptions(categories.data, category_id),
          },
          useArchivedFilter(),
        ]}
      />
      <DataTable
        label={texts.tabs.products}
        columns={useColumns(locations, categories.data)}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/products/$id', params: { id } })}
        empty={
          archived === 'only' ? (
            <EmptyState icon={IconTag} title={shared.filters.noMatch} text={shared.filters.noMatchText} />
          ) : (
            <EmptyState
              icon={IconTag}
              title={texts.empty.title}
              text={next?.text ?? texts.empty.text}
              action={canWrite && (next?.action(location_id) ?? create)}
            />
          )
        }
      />
    </Page>
  );
}

/** What has to be created before a product; `undefined` if a product is next. */
function useNextStep(
  locations: number | undefined,
  categories: number | undefined,
): { text: string; action: (locationId: string | undefined) => ReactNode } | undefined {
  const { products: texts } = useTexts();
  if (locations === 0) {
    return {
      text: texts.empty.location,
      action: () => <LinkButton to="/locations/new">{texts.createLocation}</LinkButton>,
    };
  }
  if (categories !== 0) return undefined;
  return {
    text: texts.empty.category,
    action: (locationId) => (
      <LinkButton to="/categories/new" search={locationId === undefined ? {} : { location_id: locationId }}>
        {texts.categories.create}
      </LinkButton>
    ),
  };
}

function useColumns(
  locations: Locations,
  categories: readonly Schemas['Category'][] | undefined,
): Column<Schemas['Product']>[] {
  const { products: texts } = useTexts();
  const format = useFormat();
  return [
    {
      key: 'name',
      header: texts.columns.name,
      cell: ({ name, sku }) => (
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={500}>
            {name}
          </Text>
          {sku !== undefined && (
            <Text size="xs" c="dimmed">
              {sku}
            </Text>
          )}
        </div>
      ),
    },
    {
      key: 'category',
      header: texts.columns.category,
      cell: ({ category_id }) => categories?.find(({ id }) => id === category_id)?.name ?? category_id,
    },
    { key: 'location', header: texts.columns.location, cell: ({ location_id }) => locations.nameOf(location_id) },
    { key: 'status', header: texts.columns.status, cell: (product) => <ProductStatus {...product} /> },
    {
      key: 'price',
      header: texts.columns.price,
      align: 'end',
      cell: ({ price, currency }) => format.money(price, currency),
    },
    {
      key: 'updated',
      header: texts.columns.updated,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ updated_at }) => <Time value={updated_at} />,
    },
  ];
}
