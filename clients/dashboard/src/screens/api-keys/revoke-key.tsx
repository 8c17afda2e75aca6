import { Button, Checkbox, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useSession } from '../../app/session-context.ts';
import { ConfirmDialog } from '../../shared/confirm-dialog.tsx';
import { useNotify } from '../../shared/notify.ts';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { apiKeysKey } from './queries.ts';

/** The button that revokes a key, and its question. */
export function RevokeKey({ apiKey }: { apiKey: Schemas['ApiKey'] }): ReactNode {
  const { revoke: texts } = useTexts().apiKeys;
  const format = useFormat();
  const notify = useNotify();
  const queryClient = useQueryClient();
  const { key: current } = useSession();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [withDescendants, setWithDescendants] = useState(false);

  const revoke = useMutation({
    mutationFn: () => gateway.apiKeys.revoke(apiKey.id, { descendants: withDescendants ? 'revoke' : 'keep' }),
    onSuccess: ({ revoked_descendants: revoked, active_descendants: active }) => {
      close();
      const done =
        revoked > 0 ? texts.doneWithDescendants(apiKey.name, format.number(revoked)) : texts.done(apiKey.name);
      notify(active > 0 ? `${done} ${texts.remaining(format.number(active))}` : done);
      void queryClient.invalidateQueries({ queryKey: apiKeysKey });
    },
  });

  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={texts.actionOf(apiKey.name)}
        onClick={() => {
          revoke.reset();
          open();
        }}
      >
        {texts.action}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        title={texts.title(apiKey.name)}
        text={
          <Stack gap="xs">
            <Text>{texts.text}</Text>
            {apiKey.id === current.id && <Text fw={500}>{texts.own}</Text>}
          </Stack>
        }
        confirm={texts.submit}
        isDangerous
        isPending={revoke.isPending}
        error={revoke.error}
        onConfirm={() => {
          revoke.mutate();
        }}
      >
        <Checkbox
          label={texts.descendants}
          checked={withDescendants}
          onChange={(event) => {
            setWithDescendants(event.currentTarget.checked);
          }}
        />
      </ConfirmDialog>
    </>
  );
}
