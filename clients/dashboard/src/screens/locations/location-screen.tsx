import { Badge, Group, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { ArchiveButton } from '../../shared/archive-button.tsx';
import { CopyableId } from '../../shared/copy.tsx';
import { FactTable } from '../../shared/fact-table.tsx';
import { FirstSteps } from '../../shared/first-steps.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { Time } from '../../shared/time.tsx';
import { Section } from '../../shared/section.tsx';
import { showRate } from '../../shared/rates.ts';
import { taxTexts } from '../../shared/tax-texts.ts';
import { useFormat, useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { versioned } from '../../shared/versioned.ts';
import { FiscalDays } from './fiscal-days.tsx';
import { LocationStatus } from './location-status.tsx';
import { locationKey, locationsKey, storeLocation } from './queries.ts';

const route = getRouteApi('/locations/$id');

/** One location: how it is set up, the way to its catalog and orders, and its fiscal days. */
export function LocationScreen(): ReactNode {
  const { locations: texts } = useTexts();
  const { id } = route.useParams();
  const canWrite = useScope('catalog:write');
  const canReadOrders = useScope('orders:read');
  const queryClient = useQueryClient();
  const read = useQuery({
    queryKey: locationKey(id),
    queryFn: ({ signal }) => versioned(gateway.locations.get(id, { signal })),
  });
  const products = useQuery({
    queryKey: [...locationsKey, id, 'has-products'],
    queryFn: async ({ signal }) => {
      const page = await gateway.products.list({ location_id: id, archived: 'include', limit: 1 }, { signal });
      return page.data.length > 0;
    },
  });
  const location = read.data?.data;
  return (
    <Page
      title={location?.name ?? id}
      badge={location && <LocationStatus archived={location.archived} />}
      description={<CopyableId value={id} label={texts.detail.id} withLabel />}
      breadcrumbs={[{ label: texts.title, to: '/locations' }]}
      actions={
        location &&
        canWrite && (
          <>
            <ArchiveButton
              name={location.name}
              isArchived={location.archived}
              text={texts.archiveText}
              send={async (archived) => {
                const saved = await versioned(gateway.locations.update(id, { archived }));
                storeLocation(queryClient, saved);
              }}
            />
            <LinkButton to="/locations/$id/edit" params={{ id }} leftSection={<IconPencil size={16} />}>
              {texts.detail.edit}
            </LinkButton>
          </>
        )
      }
    >
      {read.isError && <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />}
      {location !== undefined ? (
        <Stack gap="md">
          <Group gap="xs">
            <LinkButton variant="default" size="xs" to="/products" search={{ location_id: id }}>
              {texts.detail.products}
            </LinkButton>
            <LinkButton variant="default" size="xs" to="/categories" search={{ location_id: id }}>
              {texts.detail.categories}
            </LinkButton>
            {canReadOrders && (
              <LinkButton variant="default" size="xs" to="/orders" search={{ location_id: id }}>
                {texts.detail.orders}
              </LinkButton>
            )}
          </Group>
          {products.data === false && !location.archived && <FirstSteps locationId={id} />}
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" style={{ alignItems: 'start' }}>
            <Facts location={location} />
            <Zones location={location} />
          </SimpleGrid>
          <FiscalDays location={location} />
        </Stack>
      ) : (
        !read.isError && <Skeleton height={320} />
      )}
    </Page>
  );
}

function Facts({ location }: { location: Schemas['Location'] }): ReactNode {
  const { detail: texts, form, columns } = useTexts().locations;
  const own = useOwnTexts(taxTexts);
  const format = useFormat();
  const { currency, time_zone, fiscal_day_end, tax_rate_ppm, fee_rate_ppm, created_at, updated_at } = location;
  return (
    <Section title={texts.facts}>
      <FactTable
        facts={[
          { label: form.currency, value: currency },
          { label: form.timeZone, value: time_zone },
          { label: form.fiscalDayEnd, value: fiscal_day_end },
          { label: form.tax, value: showRate(format, tax_rate_ppm) },
          { label: own.taxes, value: location.prices_include_tax ? own.includedInPrices : own.addedToPrices },
          { label: form.fee, value: showRate(format, fee_rate_ppm) },
          { label: columns.created, value: <Time value={created_at} /> },
          { label: texts.updated, value: <Time value={updated_at} /> },
        ]}
      />
    </Section>
  );
}

function Zones({ location: { zones } }: { location: Schemas['Location'] }): ReactNode {
  const { detail: texts } = useTexts().locations;
  return (
    <Section title={texts.zones}>
      {zones.length === 0 ? (
        <Text c="dimmed">{texts.noZones}</Text>
      ) : (
        zones.map((zone) => (
          <Stack key={zone.id} gap={6}>
            <Text fw={500} size="sm" style={{ overflowWrap: 'anywhere' }}>
              {zone.name}
            </Text>
            <Group gap={6}>
              {zone.spots.map((spot) => (
                <Badge key={spot.id} variant="default" tt="none" fw={500} radius="sm" maw="100%">
                  {spot.name}
                </Badge>
              ))}
              {zone.spots.length === 0 && (
                <Text c="dimmed" size="sm">
                  {texts.noSpots}
                </Text>
              )}
            </Group>
          </Stack>
        ))
      )}
    </Section>
  );
}
