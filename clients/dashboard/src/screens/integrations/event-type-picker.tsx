import { Button, Checkbox, Group, Paper, Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import { Fragment, useState, type ReactNode } from 'react';
import { Dialog } from '../../shared/dialog.tsx';
import { serviceUrl } from '../../app/gateway.ts';
import { JsonView } from '../../shared/json-view.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { useEventTypes } from '../../shared/use-event-types.ts';

/** The types of events, each with its schema and an example. */
export function EventTypePicker({
  value = [],
  onChange,
  error,
}: {
  value?: string[];
  onChange: (value: string[]) => void;
  error?: ReactNode;
}): ReactNode {
  const { form: texts, eventType } = useTexts().integrations;
  const [shown, setShown] = useState<Schemas['EventType']>();
  const types = useEventTypes();
  const names = new Set(types.data?.map(({ type }) => type));
  const subscribable = types.data?.filter((type) => type.subscribable) ?? [];
  return (
    <>
      <Checkbox.Group
        label={texts.eventTypes}
        description={texts.eventTypesDescription}
        required
        value={value}
        onChange={onChange}
        error={error}
      >
        <Paper withBorder mt="xs" mb={error === undefined ? 0 : 6}>
          <Stack gap={0}>
            {types.isError && <ProblemAlert error={types.error} onRetry={() => void types.refetch()} />}
            {subscribable.map((type) => (
              <Group key={type.type} justify="space-between" gap="xs" px="sm" py={8} wrap="nowrap" align="flex-start">
                <Checkbox
                  value={type.type}
                  miw={0}
                  styles={{ labelWrapper: { minWidth: 0 } }}
                  label={
                    <Text span ff="monospace" size="sm">
                      {/* On phones, long names break at their words. */}
                      {type.type.split(/(?<=_)/).map((word) => (
                        <Fragment key={word}>
                          {word}
                          <wbr />
                        </Fragment>
                      ))}
                    </Text>
                  }
                  // The first sentence; the dialog has the others.
                  description={(eventType.known[type.type] ?? type.description).replace(/(?<=[^.]\.) .*/s, '')}
                />
                <Button
                  variant="subtle"
                  color="gray"
                  size="compact-xs"
                  flex="none"
                  aria-label={texts.showSchemaOf(type.type)}
                  onClick={() => {
                    setShown(type);
                  }}
                >
                  {texts.showSchema}
                </Button>
              </Group>
            ))}
            {/* A type that this release does not know stays selected. */}
            {types.isSuccess &&
              value
                .filter((type) => !names.has(type))
                .map((type) => <Checkbox key={type} value={type} label={type} px="sm" py={8} />)}
          </Stack>
        </Paper>
      </Checkbox.Group>
      <EventTypeDialog
        type={shown}
        onClose={() => {
          setShown(undefined);
        }}
      />
    </>
  );
}

function EventTypeDialog({
  type,
  onClose,
}: {
  type: Schemas['EventType'] | undefined;
  onClose: () => void;
}): ReactNode {
  const { integrations } = useTexts();
  const { eventType: texts } = integrations;
  return (
    <Dialog opened={type !== undefined} onClose={onClose} size="lg" title={type?.type}>
      {type !== undefined && (
        <Stack>
          <Text c="dimmed">{texts.known[type.type] ?? type.description}</Text>
          <Text fw={500} size="sm">
            {texts.example}
          </Text>
          <JsonView value={type.example} label={texts.example} />
          <Group justify="space-between">
            <Text fw={500} size="sm">
              {texts.schema}
            </Text>
            <Button
              component="a"
              variant="subtle"
              size="compact-xs"
              target="_blank"
              rel="noopener noreferrer"
              href={new URL(`schemas/events/${encodeURIComponent(type.type)}/v1.json`, serviceUrl).href}
            >
              {texts.schemaUrl}
            </Button>
          </Group>
          <JsonView value={type.schema} label={texts.schema} />
        </Stack>
      )}
    </Dialog>
  );
}
