import { Button, Group } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconSend, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { AskButton } from '../../shared/ask-button.tsx';
import { LinkButton } from '../../shared/links.tsx';
import { useNotify } from '../../shared/notify.ts';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { versioned } from '../../shared/versioned.ts';
import { integrationKey, integrationsKey, storeIntegration } from './queries.ts';
import { useWaitingCount } from './integration-health.tsx';
import { SampleMenu } from './sample-menu.tsx';
import { TestEventDialog } from './test-event-dialog.tsx';

/** What can be done with an integration; a failure is shown by `IntegrationFailure`. */
export function IntegrationActions({
  integration,
  onError,
}: {
  integration: Schemas['Integration'];
  onError: (error: unknown) => void;
}): ReactNode {
  const { integrations: texts } = useTexts();
  const { id, name, status, retrying_until } = integration;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const [delivery, setDelivery] = useState<string>();
  const isActive = status === 'active';
  const waiting = useWaitingCount(integration);

  const change = useMutation({
    mutationFn: (action: 'pause' | 'enable') => versioned(gateway.integrations[action](id)),
    onSuccess: (saved, action) => {
      onError(undefined);
      storeIntegration(queryClient, saved);
      notify(action === 'pause' ? texts.done.paused : isActive ? texts.done.attempted(waiting) : texts.done.enabled);
    },
    onError,
  });
  const test = useMutation({
    mutationFn: (type: string) =>
      gateway.integrations.sendTestEvent(id, { type: type as Schemas['TestEventSend']['type'] & string }),
    onSuccess: (sent) => {
      onError(undefined);
      setDelivery(sent.id);
    },
    onError,
  });
  return (
    <>
      {!isActive && (
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={change.isPending}
          onClick={() => {
            change.mutate('enable');
          }}
        >
          {texts.detail.enable}
        </Button>
      )}
      {isActive && retrying_until !== undefined && (
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={change.isPending}
          onClick={() => {
            change.mutate('enable');
          }}
        >
          {texts.detail.attemptNow}
        </Button>
      )}
      <Group gap={4} wrap="nowrap">
        <Button
          variant="default"
          leftSection={<IconSend size={16} />}
          loading={test.isPending}
          onClick={() => {
            test.mutate('TEST');
          }}
        >
          {texts.detail.test}
        </Button>
        <SampleMenu onChoose={test.mutate} isPending={test.isPending} />
      </Group>
      <LinkButton variant="default" to="/integrations/$id/edit" params={{ id }}>
        {texts.detail.edit}
      </LinkButton>
      {isActive && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} />}
          loading={change.isPending}
          onClick={() => {
            change.mutate('pause');
          }}
        >
          {texts.detail.pause}
        </Button>
      )}
      <AskButton
        action={texts.detail.delete}
        leftSection={<IconTrash size={16} />}
        title={texts.remove.title(name)}
        text={texts.remove.text}
        confirm={texts.remove.submit}
        isDangerous
        send={() => gateway.integrations.delete(id)}
        onDone={() => {
          queryClient.removeQueries({ queryKey: integrationKey(id) });
          void queryClient.invalidateQueries({ queryKey: integrationsKey });
          void navigate({ to: '/integrations' });
          return texts.done.deleted(name);
        }}
      />
      <TestEventDialog
        deliveryId={delivery}
        onClose={() => {
          setDelivery(undefined);
        }}
      />
    </>
  );
}

/** Why the last action failed. */
export function IntegrationFailure({ error }: { error: unknown }): ReactNode {
  return error === undefined ? null : <ProblemAlert error={error} />;
}
