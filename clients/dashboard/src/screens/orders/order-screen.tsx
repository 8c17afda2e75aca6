import { SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { live } from '../../app/query-client.ts';
import { useScope } from '../../app/session-context.ts';
import { CopyableId } from '../../shared/copy.tsx';
import { FactTable } from '../../shared/fact-table.tsx';
import { TextLink } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { Time } from '../../shared/time.tsx';
import { Section } from '../../shared/section.tsx';
import { taxTexts } from '../../shared/tax-texts.ts';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { useLocations } from '../../shared/use-locations.ts';
import { OrderActions } from './order-actions.tsx';
import { OrderDeliveries } from './order-deliveries.tsx';
import { OrderItems } from './order-items.tsx';
import { OrderStatus } from './order-status.tsx';
import { ordersKey } from './queries.ts';

const route = getRouteApi('/orders/$id');

/** One order: its items, what it costs, and the deliveries of its events. */
export function OrderScreen(): ReactNode {
  const { orders: texts } = useTexts();
  const { id } = route.useParams();
  const canWrite = useScope('orders:write');
  const read = useQuery({
    queryKey: [...ordersKey, id],
    queryFn: ({ signal }) => gateway.orders.get(id, { signal }),
    ...live,
  });
  const order = read.data;
  return (
    <Page
      title={texts.detail.title(id.slice(0, 8))}
      badge={order && <OrderStatus status={order.status} />}
      description={<CopyableId value={id} label={texts.detail.id} withLabel />}
      breadcrumbs={[{ label: texts.title, to: '/orders' }]}
      actions={order?.status === 'open' && canWrite && <OrderActions id={id} />}
    >
      {read.isError && <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />}
      {order !== undefined ? (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md" style={{ alignItems: 'start' }}>
          <Stack gap="md">
            <OrderItems order={order} />
            <OrderDeliveries id={id} />
          </Stack>
          <Stack gap="md">
            <Facts order={order} />
            <Metadata metadata={order.metadata} />
          </Stack>
        </SimpleGrid>
      ) : (
        !read.isError && <Skeleton height={320} />
      )}
    </Page>
  );
}

function Facts({ order }: { order: Schemas['Order'] }): ReactNode {
  const { detail: texts } = useTexts().orders;
  const own = useOwnTexts(taxTexts);
  const canReadCatalog = useScope('catalog:read');
  const locations = useLocations();
  const { location_id, spot, reference_id, note, created_at, completed_at, canceled_at, fiscal_day } = order;
  const { service } = order;
  return (
    <Section title={texts.facts}>
      <FactTable
        facts={[
          {
            label: texts.location,
            value: canReadCatalog ? (
              <TextLink to="/locations/$id" params={{ id: location_id }} size="sm">
                {locations.nameOf(location_id)}
              </TextLink>
            ) : (
              <CopyableId value={location_id} label={texts.location} />
            ),
          },
          service !== 'eat_in' && { label: own.service, value: own.services[service] ?? service },
          spot !== undefined && { label: texts.spot, value: texts.spotOf(spot.name, spot.zone_name) },
          reference_id !== undefined && { label: texts.reference, value: reference_id },
          note !== undefined && {
            label: texts.note,
            value: (
              <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
                {note}
              </Text>
            ),
          },
          { label: texts.created, value: <Time value={created_at} /> },
          completed_at !== undefined && { label: texts.completed, value: <Time value={completed_at} /> },
          canceled_at !== undefined && { label: texts.canceled, value: <Time value={canceled_at} /> },
          fiscal_day !== undefined && { label: texts.fiscalDay, value: fiscal_day },
        ]}
      />
    </Section>
  );
}

function Metadata({ metadata = {} }: { metadata: Schemas['Order']['metadata'] }): ReactNode {
  const { detail: texts } = useTexts().orders;
  const entries = Object.entries(metadata);
  if (entries.length === 0) return null;
  return (
    <Section title={texts.metadata}>
      <FactTable facts={entries.map(([label, value]) => ({ label, value }))} />
    </Section>
  );
}
