import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { ConfirmDialog } from '../../shared/confirm-dialog.tsx';
import { useNotify } from '../../shared/notify.ts';
import { useFormat, useOwnTexts } from '../../shared/texts.tsx';
import { people } from '../../texts/people.ts';
import { apiKeysKey } from '../api-keys/queries.ts';

/** Revokes all keys that a person made, after a question. */
export function RevokeKeys({ person: { id, name } }: { person: Schemas['Person'] }): ReactNode {
  const { revokeKeys: texts } = useOwnTexts(people);
  const format = useFormat();
  const notify = useNotify();
  const queryClient = useQueryClient();
  const [isOpen, { open, close }] = useDisclosure(false);
  const revoke = useMutation({
    mutationFn: () => gateway.people.revokeKeys(id),
    onSuccess: ({ revoked }) => {
      close();
      notify(texts.done(format.number(revoked)));
      void queryClient.invalidateQueries({ queryKey: apiKeysKey });
    },
  });
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
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
        title={texts.title(name)}
        text={texts.text}
        confirm={texts.action}
        isDangerous
        isPending={revoke.isPending}
        error={revoke.error}
        onConfirm={() => {
          revoke.mutate();
        }}
      />
    </>
  );
}
