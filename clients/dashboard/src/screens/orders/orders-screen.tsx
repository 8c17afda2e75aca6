import { Text } from '@mantine/core';
import { IconPlus, IconReceipt } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { DataTable, RowCount, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { FilterBar, useFilters } from '../../shared/filters.tsx';
import { FirstSteps } from '../../shared/first-steps.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { Time } from '../../shared/time.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { useList } from '../../shared/use-list.ts';
import { useLocations, type Locations } from '../../shared/use-locations.ts';
import { OrderStatus } from './order-status.tsx';
import { ordersKey } from './queries.ts';

const route = getRouteApi('/orders');

/** The orders of all locations, the newest first. Without any, the steps to the first one. */
export function OrdersScreen(): ReactNode {
  const { orders: texts, shared } = useTexts();
  const canWrite = useScope('orders:write');
  const canReadCatalog = useScope('catalog:read');
  const search = route.useSearch();
  const filters = useFilters(search);
  const locations = useLocations();
  const list = useList({
    queryKey: [...ordersKey, 'list', search],
    load: (position, options) => gateway.orders.list({ ...search, ...position }, options),
    idOf: ({ id }) => id,
    isLive: true,
    limit: 100,
  });
  const columns = useColumns(locations);
  const { location_id } = search;
  const isEmpty = list.rows?.length === 0 && !filters.isActive;
  return (
    <Page
      title={texts.title}
      description={texts.description}
      actions={
        canWrite &&
        canReadCatalog &&
        !isEmpty && (
          <LinkButton
            to="/orders/new"
            search={location_id === undefined ? {} : { location_id }}
            leftSection={<IconPlus size={16} />}
          >
            {texts.place}
          </LinkButton>
        )
      }
    >
      {isEmpty ? (
        <FirstSteps />
      ) : (
        <>
          <FilterBar
            filters={filters}
            fields={[
              {
                name: 'status',
                label: texts.filters.status,
                options: Object.entries(texts.statuses).map(([value, label]) => ({ value, label })),
              },
              canReadCatalog && {
                name: 'location_id',
                label: texts.filters.location,
                options: locations.options(location_id),
              },
              { name: 'since', label: shared.filters.from, isTime: true },
              { name: 'until', label: shared.filters.until, isTime: true },
              { name: 'reference_id', label: texts.filters.reference, placeholder: texts.filters.referencePlaceholder },
            ]}
          />
          <RowCount list={list} />
          <DataTable
            label={texts.title}
            columns={columns}
            list={list}
            rowKey={({ id }) => id}
            rowLink={({ id }) => ({ to: '/orders/$id', params: { id } })}
            empty={<EmptyState icon={IconReceipt} title={shared.filters.noMatch} text={shared.filters.noMatchText} />}
          />
        </>
      )}
    </Page>
  );
}

function useColumns(locations: Locations): Column<Schemas['OrderListItem']>[] {
  const { orders: texts, shared } = useTexts();
  const format = useFormat();
  return [
    {
      key: 'id',
      header: texts.columns.id,
      width: 120,
      cell: ({ id }) => (
        <Text span ff="monospace" size="sm">
          {id.slice(0, 8)}
        </Text>
      ),
    },
    { key: 'status', header: texts.columns.status, cell: ({ status }) => <OrderStatus status={status} /> },
    {
      key: 'location',
      header: texts.columns.location,
      cell: ({ location_id }) => <Text size="sm">{locations.nameOf(location_id)}</Text>,
    },
    {
      key: 'reference',
      header: texts.columns.reference,
      isHiddenOnPhone: true,
      cell: ({ reference_id }) => <Text size="sm">{reference_id ?? shared.none}</Text>,
    },
    {
      key: 'total',
      header: texts.columns.total,
      align: 'end',
      cell: ({ total, currency }) => format.money(total, currency),
    },
    {
      key: 'created',
      header: texts.columns.created,
      align: 'end',
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
}
