import { Alert, Text } from '@mantine/core';
import { IconInfoCircle, IconTruckDelivery } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { DataTable, RowCount, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { FilterBar, useFilters } from '../../shared/filters.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { Time } from '../../shared/time.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { useEventTypes } from '../../shared/use-event-types.ts';
import { useList } from '../../shared/use-list.ts';
import { DeliveryStatus } from './delivery-status.tsx';
import { useOutcomeText } from './outcome-words.tsx';
import { outcomes } from './outcomes.ts';
import { deliveriesKey } from './queries.ts';

const route = getRouteApi('/deliveries');
/** Integrations that the filter offers. */
const offered = 500;

/** The deliveries to all integrations, the newest first. */
export function DeliveriesScreen(): ReactNode {
  const outcomeText = useOutcomeText();
  const { deliveries: texts, shared } = useTexts();
  const search = route.useSearch();
  const filters = useFilters(search);
  const list = useList({
    queryKey: [...deliveriesKey, 'list', search],
    load: (position, options) => gateway.deliveries.list({ ...search, ...position } as never, options),
    idOf: ({ id }) => id,
    isLive: true,
    limit: 100,
  });
  const types = useEventTypes();
  const integrations = useQuery({
    queryKey: ['integrations', 'names'],
    queryFn: ({ signal }) => gateway.integrations.list({ limit: 100 }, { signal }).toArray({ limit: offered }),
    staleTime: 60_000,
  });
  return (
    <Page title={texts.title} description={texts.description}>
      <FilterBar
        filters={filters}
        fields={[
          {
            name: 'status',
            label: texts.filters.status,
            options: Object.entries({ ...texts.statuses, waiting: texts.filters.waiting }).map(([value, label]) => ({
              value,
              label,
            })),
          },
          {
            name: 'last_outcome',
            label: texts.columns.outcome,
            options: outcomes.map((value) => ({ value, label: outcomeText(value) })),
          },
          {
            name: 'event_type',
            label: texts.filters.eventType,
            options: types.data?.map(({ type }) => ({ value: type, label: type })),
          },
          {
            name: 'integration_id',
            label: texts.filters.integration,
            options: integrations.data?.map(({ id, name }) => ({ value: id, label: name })),
          },
          { name: 'since', label: shared.filters.from, isTime: true },
          { name: 'until', label: shared.filters.until, isTime: true },
          { name: 'target_id', label: texts.filters.target, placeholder: texts.filters.targetPlaceholder },
          { name: 'event_id', label: texts.detail.event },
        ]}
      />
      {search.status === 'held' && (
        <Alert color="gray" icon={<IconInfoCircle />}>
          {texts.held}
        </Alert>
      )}
      <RowCount list={list} />
      <DataTable
        label={texts.title}
        columns={useColumns()}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/deliveries/$id', params: { id } })}
        empty={
          filters.isActive ? (
            <EmptyState icon={IconTruckDelivery} title={shared.filters.noMatch} text={shared.filters.noMatchText} />
          ) : (
            <EmptyState
              icon={IconTruckDelivery}
              title={texts.empty.title}
              text={texts.empty.text}
              action={<LinkButton to="/integrations">{texts.empty.action}</LinkButton>}
            />
          )
        }
      />
    </Page>
  );
}

function useColumns(): Column<Schemas['DeliveryListItem']>[] {
  const outcomeText = useOutcomeText();
  const { deliveries: texts, shared } = useTexts();
  const format = useFormat();
  return [
    {
      key: 'event',
      header: texts.columns.event,
      cell: ({ event_type }) => (
        <Text span ff="monospace" size="sm">
          {event_type}
        </Text>
      ),
    },
    {
      key: 'integration',
      header: texts.columns.integration,
      cell: ({ integration_name, integration_id }) => <Text size="sm">{integration_name ?? integration_id}</Text>,
    },
    {
      key: 'status',
      header: texts.columns.status,
      cell: ({ status }) => <DeliveryStatus status={status} />,
    },
    {
      key: 'attempts',
      header: texts.columns.attempts,
      align: 'end',
      cell: ({ attempt_count }) => format.number(attempt_count),
    },
    {
      key: 'outcome',
      header: texts.columns.outcome,
      width: 150,
      cell: ({ last_outcome }) => (last_outcome === undefined ? shared.none : outcomeText(last_outcome)),
    },
    {
      key: 'next',
      header: texts.columns.next,
      align: 'end',
      isHiddenOnPhone: true,
      cell: ({ next_attempt_at }) => <Time value={next_attempt_at} />,
    },
    {
      key: 'created',
      header: texts.columns.created,
      align: 'end',
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
}
