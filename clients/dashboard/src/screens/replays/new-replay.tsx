import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconHistory } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from '../../shared/dialog.tsx';
import { gateway } from '../../app/gateway.ts';
import { fromLocal, toLocal } from '../../shared/filters.tsx';
import { showMistakes } from '../../shared/form-problem.ts';
import { useNotify } from '../../shared/notify.ts';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';

/** What is sent again. Times are `datetime-local` values: in the time zone of the browser, without seconds. */
interface Span {
  since: string;
  until: string;
  isOnlyFailed: boolean;
}

const anHour = 3_600_000;

function spanSince(failedSince?: string): Span {
  const since = failedSince ?? new Date(Date.now() - anHour).toISOString();
  return { since: toLocal(since), until: '', isOnlyFailed: failedSince !== undefined };
}

/**
 * The button that starts a replay, and the form of its span. It begins with the last hour.
 * @param failedSince an instant: the form is open, and is about what failed since then
 */
export function NewReplay({
  integrationId,
  failedSince,
}: {
  integrationId: string;
  failedSince: string | undefined;
}): ReactNode {
  const { replays, shared } = useTexts();
  const { form: texts } = replays;
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [isOpen, { open, close }] = useDisclosure(failedSince !== undefined);
  const form = useForm<Span>({
    initialValues: spanSince(failedSince),
    validate: {
      since: (since) => (fromLocal(since) === undefined ? texts.sinceMissing : null),
      until: (until, { since }) => (until !== '' && until <= since ? texts.order : null),
    },
  });
  const start = useMutation({
    mutationFn: ({ since, until, isOnlyFailed }: Span) => {
      const end = fromLocal(until);
      return gateway.replays.create(integrationId, {
        since: fromLocal(since) ?? since,
        ...(end !== undefined && { until: end }),
        ...(isOnlyFailed && { only: 'failed' }),
      });
    },
    onSuccess: () => {
      close();
      notify(replays.started);
      void queryClient.invalidateQueries({ queryKey: ['integrations', integrationId, 'replays'] });
    },
    onError: (error) => {
      showMistakes(form, error);
    },
  });
  return (
    <>
      <Button
        leftSection={<IconHistory size={16} />}
        onClick={() => {
          start.reset();
          form.setValues(spanSince());
          open();
        }}
      >
        {replays.start}
      </Button>
      <Dialog opened={isOpen} onClose={close} title={texts.title}>
        <form
          noValidate
          onSubmit={form.onSubmit((span) => {
            start.mutate(span);
          })}
        >
          <Stack>
            <Text>{texts.text}</Text>
            <Group grow align="flex-start">
              <TextInput type="datetime-local" label={texts.since} required {...form.getInputProps('since')} />
              <TextInput type="datetime-local" label={texts.until} {...form.getInputProps('until')} />
            </Group>
            <Text size="xs" c="dimmed">
              {texts.untilDescription}
            </Text>
            <Checkbox
              label={texts.onlyFailed}
              description={texts.onlyFailedDescription}
              {...form.getInputProps('isOnlyFailed', { type: 'checkbox' })}
            />
            {start.isError && <ProblemAlert error={start.error} />}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={close}>
                {shared.cancel}
              </Button>
              <Button type="submit" loading={start.isPending}>
                {texts.submit}
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </>
  );
}
