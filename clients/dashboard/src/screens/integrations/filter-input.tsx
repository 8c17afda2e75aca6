import { Button, Code, Group, Paper, Stack, Table, Text, Textarea } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconFilterSearch } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { showMistakes } from '../../shared/form-problem.ts';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useFormat, useOwnTexts } from '../../shared/texts.tsx';
import { Time } from '../../shared/time.tsx';
import { useEventTypes } from '../../shared/use-event-types.ts';
import { eventFilter } from '../../texts/event-filter.ts';
import { TargetLink } from '../deliveries/target-link.tsx';
import { commonPaths, readFilter } from './filter-text.ts';
import { fieldAt, type IntegrationFields } from './integration-fields.ts';

/** What was tried, and which events it lets through. */
interface Tried {
  readonly text: string;
  readonly events: readonly Schemas['FilteredEvent'][];
}

/** The filter of an integration as JSON, and which of the last events it lets through. */
export function FilterInput({ form }: { form: UseFormReturnType<IntegrationFields> }): ReactNode {
  const texts = useOwnTexts(eventFilter);
  const { filter: text, eventTypes, locationIds } = form.values;
  const types = useEventTypes();
  const chosen = types.data?.filter(({ type }) => eventTypes.includes(type)) ?? [];
  const paths = commonPaths(chosen.map(({ schema }) => schema)).filter((path) => path !== 'type');
  const tried = useMutation({
    mutationFn: async (filter: Schemas['EventFilterInput']): Promise<Tried> => {
      const { data } = await gateway.integrations.previewFilter({
        event_types: eventTypes as Schemas['IntegrationFilterPreviewRequest']['event_types'],
        location_ids: locationIds,
        filter,
      });
      return { text, events: data };
    },
    onError: (error) => {
      showMistakes(form, error, (place) => fieldAt(place, form.values.headers));
    },
  });
  const tryIt = (): void => {
    const read = readFilter(text);
    if ('filter' in read) tried.mutate(read.filter);
    else form.validateField('filter');
  };
  return (
    <Stack gap="xs">
      <Textarea
        label={texts.title}
        description={texts.description}
        placeholder={'{"data.total": {"$gte": 10000}, "data.spotName": "Bar"}'}
        autosize
        minRows={3}
        maxRows={16}
        spellCheck={false}
        autoComplete="off"
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        {...form.getInputProps('filter')}
      />
      {paths.length > 0 && (
        <Text size="xs" c="dimmed" component="div">
          {texts.fields}:{' '}
          {paths.map((path, position) => (
            <span key={path}>
              {position > 0 && ' '}
              <Code>{path}</Code>
            </span>
          ))}
        </Text>
      )}
      <Group>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconFilterSearch size={14} />}
          disabled={eventTypes.length === 0}
          loading={tried.isPending}
          onClick={tryIt}
        >
          {texts.preview}
        </Button>
      </Group>
      {tried.isError && <ProblemAlert error={tried.error} />}
      {tried.data !== undefined && <Preview tried={tried.data} isOutdated={tried.data.text !== text} />}
    </Stack>
  );
}

function Preview({ tried: { events }, isOutdated }: { tried: Tried; isOutdated: boolean }): ReactNode {
  const texts = useOwnTexts(eventFilter);
  const format = useFormat();
  const matching = events.filter(({ matches }) => matches).length;
  if (events.length === 0) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {texts.noEvents}
      </Text>
    );
  }
  return (
    <Paper withBorder p="sm" role="region" aria-label={texts.previewTitle}>
      <Text size="sm" fw={500} role="status">
        {texts.summary(format.number(matching), format.number(events.length))}
        {isOutdated && (
          <Text span size="xs" c="dimmed" ml="xs">
            {texts.outdated}
          </Text>
        )}
      </Text>
      <Table verticalSpacing={6} horizontalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.columns.event}</Table.Th>
            <Table.Th>{texts.columns.result}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {events.map(({ event_id, event_type, target_id, created_at, matches, unmatched }) => (
            <Table.Tr key={event_id}>
              <Table.Td>
                <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                  {event_type}
                </Text>
                <Group gap={8}>
                  <Text size="xs" c="dimmed">
                    <Time value={created_at} />
                  </Text>
                  <TargetLink eventType={event_type} id={target_id} />
                </Group>
              </Table.Td>
              <Table.Td>
                <StatusBadge tone={matches ? 'ok' : 'neutral'}>{matches ? texts.matches : texts.unmatched}</StatusBadge>
                {unmatched.map((path) => (
                  <Text key={path} size="xs" ff="monospace" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                    {path}
                  </Text>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
