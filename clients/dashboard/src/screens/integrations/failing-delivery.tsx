import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { IconHistory, IconRepeat } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { JsonView } from '../../shared/json-view.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { Time } from '../../shared/time.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { DeliveryStatus } from '../deliveries/delivery-status.tsx';
import { OutcomeHelp, useOutcomeText } from '../deliveries/outcome-words.tsx';
import { deliveriesKey } from '../deliveries/queries.ts';

/** The last failure: what the receiver answered, and how to send again. */
export function FailingDelivery({
  integrationId,
  failedSince,
  delivery,
  canManage,
}: {
  integrationId: string;
  /** When the receiver last worked, or could have. */
  failedSince: string;
  delivery: Schemas['FailingDelivery'];
  canManage: boolean;
}): ReactNode {
  const outcomeText = useOutcomeText();
  const { failing: texts } = useTexts().integrations;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { id, status, status_code, error, started_at, response_body } = delivery;
  const send = useMutation({
    mutationFn: () => gateway.deliveries.resend(id, { now: true }),
    onSuccess: (sent) => {
      void queryClient.invalidateQueries({ queryKey: deliveriesKey });
      void navigate({ to: '/deliveries/$id', params: { id: sent.id } });
    },
  });
  const answer = status_code === undefined ? texts.noAnswer : texts.status(String(status_code));
  return (
    <Paper withBorder p="lg" component="section" aria-label={texts.title}>
      <Stack gap="sm">
        <Group gap="sm" justify="space-between">
          <Group gap="sm">
            <Title order={2} size="h4">
              {texts.title}
            </Title>
            <DeliveryStatus status={status} />
          </Group>
          <Text size="sm" c="dimmed">
            <Time value={started_at} />
          </Text>
        </Group>
        <Text>{[answer, ...(error === undefined ? [] : [outcomeText(error)])].join(' · ')}</Text>
        <OutcomeHelp attempt={delivery} />
        {response_body !== undefined && response_body !== '' && <JsonView value={response_body} label={texts.answer} />}
        {send.isError && <ProblemAlert error={send.error} />}
        <Group gap="xs">
          {canManage && (
            <Button
              size="xs"
              leftSection={<IconRepeat size={14} />}
              loading={send.isPending}
              onClick={() => {
                send.mutate();
              }}
            >
              {texts.sendNow}
            </Button>
          )}
          <LinkButton size="xs" variant="default" to="/deliveries/$id" params={{ id }}>
            {texts.open}
          </LinkButton>
          {canManage && (
            <LinkButton
              size="xs"
              variant="default"
              leftSection={<IconHistory size={14} />}
              to="/integrations/$id/replays"
              params={{ id: integrationId }}
              search={{ failed_since: failedSince }}
            >
              {texts.all}
            </LinkButton>
          )}
        </Group>
      </Stack>
    </Paper>
  );
}
