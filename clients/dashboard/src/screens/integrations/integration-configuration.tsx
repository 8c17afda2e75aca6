import { Badge, Code, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { CopyButton } from '../../shared/copy.tsx';
import { FactTable } from '../../shared/fact-table.tsx';
import { Time } from '../../shared/time.tsx';
import { Section } from '../../shared/section.tsx';
import { JsonView } from '../../shared/json-view.tsx';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { eventFilter } from '../../texts/event-filter.ts';

/** How an integration is set up. */
export function IntegrationConfiguration({ integration }: { integration: Schemas['Integration'] }): ReactNode {
  const { detail: texts, form } = useTexts().integrations;
  const filterTexts = useOwnTexts(eventFilter);
  const { url, event_types, location_ids, filter, headers, created_at, updated_at } = integration;
  return (
    <Section title={texts.configuration}>
      <FactTable
        facts={[
          {
            label: texts.url,
            value: (
              <Group gap={4} wrap="nowrap">
                <Text size="sm">{url}</Text>
                <CopyButton value={url} label={texts.url} size="xs" />
              </Group>
            ),
          },
          {
            label: texts.eventTypes,
            value: (
              <Group gap={6}>
                {event_types.map((type) => (
                  <Badge key={type} variant="default" tt="none" fw={500} ff="monospace" radius="sm">
                    {type}
                  </Badge>
                ))}
              </Group>
            ),
          },
          {
            label: texts.locations,
            value: location_ids === undefined ? form.allLocations : <LocationNames ids={location_ids} />,
          },
          {
            label: filterTexts.title,
            value: filter === undefined ? filterTexts.all : <JsonView value={filter} label={filterTexts.title} />,
          },
          {
            label: texts.headers,
            value:
              Object.keys(headers).length === 0 ? (
                texts.noHeaders
              ) : (
                <Stack gap={4}>
                  {Object.entries(headers).map(([name, value]) => (
                    <Code key={name} style={{ whiteSpace: 'normal' }}>
                      {name}: {value}
                    </Code>
                  ))}
                </Stack>
              ),
          },
          { label: texts.created, value: <Time value={created_at} /> },
          { label: texts.updated, value: <Time value={updated_at} /> },
        ]}
      />
    </Section>
  );
}

/** Names of locations; their ids for a key that may not read locations, and until the names are there. */
function LocationNames({ ids }: { ids: readonly string[] }): ReactNode {
  const canRead = useScope('catalog:read');
  const names = useQuery({
    queryKey: ['locations', 'names', ids],
    queryFn: ({ signal }) =>
      Promise.all(
        ids.map(async (id) => {
          const location = await gateway.locations.get(id, { signal });
          return location.name;
        }),
      ),
    enabled: canRead,
  });
  return (names.data ?? ids).join(', ');
}
