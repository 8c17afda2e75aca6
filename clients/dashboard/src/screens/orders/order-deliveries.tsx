import { Group, Stack, Text, Title } from '@mantine/core';
import { IconWebhook } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { live } from '../../app/query-client.ts';
import { useScope } from '../../app/session-context.ts';
import { DataTable, type Column } from '../../shared/data-table.tsx';
import { EmptyState } from '../../shared/empty-state.tsx';
import { LinkButton, TextLink } from '../../shared/links.tsx';
import { Time } from '../../shared/time.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { DeliveryStatus } from '../deliveries/delivery-status.tsx';
import { ordersKey } from './queries.ts';

/** Deliveries that are shown; the rest is in the list of deliveries. */
const shown = 20;

/** The events of an order, delivery by delivery, as they arrive. */
export function OrderDeliveries({ id }: { id: string }): ReactNode {
  const { events: texts } = useTexts().orders;
  const canRead = useScope('integrations:read');
  return (
    <Stack gap="sm" component="section">
      <Group justify="space-between" align="baseline">
        <Title order={2} size="h4">
          {texts.title}
        </Title>
        {canRead && (
          <TextLink to="/deliveries" search={{ target_id: id }} size="sm">
            {texts.all}
          </TextLink>
        )}
      </Group>
      {canRead ? <Deliveries id={id} /> : <Text c="dimmed">{texts.notAllowed}</Text>}
    </Stack>
  );
}

function Deliveries({ id }: { id: string }): ReactNode {
  const { events: texts } = useTexts().orders;
  const canManage = useScope('integrations:manage');
  const read = useQuery({
    queryKey: [...ordersKey, id, 'deliveries'],
    queryFn: async ({ signal }) => {
      const page = await gateway.deliveries.list({ target_id: id, limit: shown }, { signal });
      return page.data;
    },
    ...live,
  });
  return (
    <DataTable
      label={texts.title}
      columns={useColumns()}
      list={{ rows: read.data, error: read.error, retry: () => void read.refetch() }}
      rowKey={(delivery) => delivery.id}
      rowLink={(delivery) => ({ to: '/deliveries/$id', params: { id: delivery.id } })}
      empty={
        <EmptyState
          icon={IconWebhook}
          text={texts.empty}
          action={
            canManage && (
              <LinkButton to="/integrations/new" variant="default">
                {texts.action}
              </LinkButton>
            )
          }
        />
      }
    />
  );
}

function useColumns(): Column<Schemas['DeliveryListItem']>[] {
  const { events: texts } = useTexts().orders;
  return [
    {
      key: 'event',
      header: texts.event,
      width: 146,
      cell: ({ event_type }) => (
        <Text span ff="monospace" size="sm">
          {event_type}
        </Text>
      ),
    },
    {
      key: 'integration',
      header: texts.integration,
      cell: ({ integration_name, integration_id }) => <Text size="sm">{integration_name ?? integration_id}</Text>,
    },
    {
      key: 'status',
      header: texts.status,
      cell: ({ status }) => <DeliveryStatus status={status} />,
    },
    {
      key: 'created',
      header: texts.created,
      align: 'end',
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
}
