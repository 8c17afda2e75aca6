import { Badge, Code, Group, Paper, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { CopyButton } from '../../shared/copy.tsx';
import { RelativeTime } from '../../shared/relative-time.tsx';
import { useTexts } from '../../shared/texts.tsx';

/** How an integration is set up. */
export function IntegrationConfiguration({ integration }: { integration: Schemas['Integration'] }): ReactNode {
  const { detail: texts, form } = useTexts().integrations;
  const { url, event_types, location_ids, headers, created_at, updated_at } = integration;
  return (
    <Paper withBorder p="lg" component="section">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {texts.configuration}
        </Title>
        <Table variant="vertical" verticalSpacing={8} horizontalSpacing={0} withRowBorders={false} layout="fixed">
          <Table.Tbody>
            <Row label={texts.url}>
              <Group gap={4} wrap="nowrap">
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {url}
                </Text>
                <CopyButton value={url} label={texts.url} size="xs" />
              </Group>
            </Row>
            <Row label={texts.eventTypes}>
              <Group gap={6}>
                {event_types.map((type) => (
                  <Badge key={type} variant="default" tt="none" fw={500} ff="monospace" radius="sm">
                    {type}
                  </Badge>
                ))}
              </Group>
            </Row>
            <Row label={texts.locations}>
              {location_ids === undefined ? form.allLocations : <LocationNames ids={location_ids} />}
            </Row>
            <Row label={texts.headers}>
              {Object.keys(headers).length === 0 ? (
                texts.noHeaders
              ) : (
                <Stack gap={4}>
                  {Object.entries(headers).map(([name, value]) => (
                    <Code key={name} style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>
                      {name}: {value}
                    </Code>
                  ))}
                </Stack>
              )}
            </Row>
            <Row label={texts.created}>
              <RelativeTime value={created_at} />
            </Row>
            <Row label={texts.updated}>
              <RelativeTime value={updated_at} />
            </Row>
          </Table.Tbody>
        </Table>
      </Stack>
    </Paper>
  );
}

function Row({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <Table.Tr>
      <Table.Th
        scope="row"
        w={{ base: 110, sm: 140 }}
        fw={400}
        c="dimmed"
        bg="transparent"
        style={{ verticalAlign: 'top' }}
      >
        {label}
      </Table.Th>
      <Table.Td>{children}</Table.Td>
    </Table.Tr>
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
