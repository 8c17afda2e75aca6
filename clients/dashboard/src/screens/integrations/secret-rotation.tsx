import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { ConfirmDialog } from '../../shared/confirm-dialog.tsx';
import { useNotify } from '../../shared/notify.ts';
import { Time } from '../../shared/time.tsx';
import { Section } from '../../shared/section.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { versioned } from '../../shared/versioned.ts';
import { IssuedSecret } from './issued-secret.tsx';
import { storeIntegration } from './queries.ts';

type Integration = Schemas['Integration'];

/** The secret of an integration, and its rotation in two steps. */
export function SecretRotation({
  integration,
  canManage,
}: {
  integration: Integration;
  canManage: boolean;
}): ReactNode {
  const { rotation: texts, issued } = useTexts().integrations;
  const { id, signed, secret_rotation: pending } = integration;
  const [question, setQuestion] = useState<'begin' | 'finish'>();
  const [secret, setSecret] = useState<Schemas['IssuedSecret']>();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const ask = (next: 'begin' | 'finish'): void => {
    begin.reset();
    finish.reset();
    setQuestion(next);
  };
  const close = (): void => {
    setQuestion(undefined);
  };

  const begin = useMutation({
    mutationFn: () => versioned(gateway.integrations.beginSecretRotation(id)),
    onSuccess: ({ data: { secret: next, ...data }, etag }) => {
      close();
      setSecret(next);
      storeIntegration(queryClient, { data, etag });
    },
  });
  const finish = useMutation({
    mutationFn: (rotation_id: string) => versioned(gateway.integrations.finishSecretRotation(id, { rotation_id })),
    onSuccess: (saved) => {
      close();
      notify(texts.finished);
      storeIntegration(queryClient, saved);
    },
  });
  const cancel = useMutation({
    mutationFn: () => versioned(gateway.integrations.cancelSecretRotation(id)),
    onSuccess: (saved) => {
      notify(texts.canceled);
      storeIntegration(queryClient, saved);
    },
  });

  return (
    <Section title={texts.title}>
      {pending === undefined ? (
        <>
          <Text c="dimmed" size="sm">
            {signed ? texts.present : texts.none}
          </Text>
          {canManage && (
            <Group>
              <Button
                variant="default"
                size="xs"
                onClick={() => {
                  ask('begin');
                }}
              >
                {signed ? texts.begin : texts.beginFirst}
              </Button>
            </Group>
          )}
        </>
      ) : (
        <Alert color="accent" title={texts.pendingTitle}>
          <Stack gap="sm">
            <Text size="sm">{texts.pendingText}</Text>
            <Text size="sm" c="dimmed">
              {texts.started} <Time value={pending.started_at} />
            </Text>
            {canManage && (
              <Group gap="xs">
                <Button
                  size="xs"
                  onClick={() => {
                    ask('finish');
                  }}
                >
                  {texts.finish}
                </Button>
                <Button
                  variant="default"
                  size="xs"
                  onClick={() => {
                    ask('begin');
                  }}
                >
                  {texts.again}
                </Button>
                <Button
                  variant="default"
                  size="xs"
                  loading={cancel.isPending}
                  onClick={() => {
                    cancel.mutate();
                  }}
                >
                  {texts.cancel}
                </Button>
              </Group>
            )}
          </Stack>
        </Alert>
      )}
      <ConfirmDialog
        isOpen={question === 'begin'}
        onClose={close}
        title={texts.beginTitle}
        text={texts.beginText}
        confirm={texts.beginSubmit}
        isPending={begin.isPending}
        error={begin.error}
        onConfirm={() => {
          begin.mutate();
        }}
      />
      <ConfirmDialog
        isOpen={question === 'finish' && pending !== undefined}
        onClose={close}
        title={texts.finishTitle}
        text={texts.finishText}
        confirm={texts.finish}
        isPending={finish.isPending}
        error={finish.error}
        onConfirm={() => {
          if (pending !== undefined) finish.mutate(pending.id);
        }}
      />
      <Modal
        opened={secret !== undefined}
        onClose={() => {
          setSecret(undefined);
        }}
        title={issued.title}
        size="lg"
        withCloseButton={false}
        closeOnClickOutside={false}
        closeOnEscape={false}
      >
        {secret !== undefined && (
          <Stack>
            <Text>{issued.text}</Text>
            <IssuedSecret secret={secret} />
            <Group justify="flex-end">
              <Button
                onClick={() => {
                  setSecret(undefined);
                }}
              >
                {issued.done}
              </Button>
            </Group>
          </Stack>
        )}
      </Modal>
    </Section>
  );
}
