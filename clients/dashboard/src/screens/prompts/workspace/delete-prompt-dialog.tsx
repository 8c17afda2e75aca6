import { TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { ConfirmDialog } from '../../../shared/confirm-dialog.tsx';
import { useNotify } from '../../../shared/notify.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { promptKeys } from '../prompt-queries.ts';

/** Deletes a prompt after its slug was typed. */
export function DeletePromptDialog({
  prompt: { id, name, slug },
  isOpen,
  onClose,
}: {
  prompt: Schemas['Prompt'];
  isOpen: boolean;
  onClose: () => void;
}): ReactNode {
  const texts = useTexts().prompts.delete;
  const queryClient = useQueryClient();
  const notify = useNotify();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [isWrong, setWrong] = useState(false);
  const deletion = useMutation({
    mutationKey: promptKeys.deletion(id),
    mutationFn: () => gateway.prompts.delete(id),
    onSuccess: async () => {
      void queryClient.invalidateQueries({ queryKey: promptKeys.lists });
      notify(texts.done(name));
      await navigate({ to: '/prompts', ignoreBlocker: true });
      queryClient.removeQueries({ queryKey: promptKeys.prompt(id) });
    },
  });
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={texts.title(name)}
      text={texts.text}
      confirm={texts.submit}
      isDangerous
      isPending={deletion.isPending}
      error={deletion.error}
      onClose={() => {
        setTyped('');
        setWrong(false);
        deletion.reset();
        onClose();
      }}
      onConfirm={() => {
        if (typed === slug) deletion.mutate();
        else setWrong(true);
      }}
    >
      <TextInput
        label={texts.typeSlug(slug)}
        value={typed}
        autoComplete="off"
        spellCheck={false}
        error={isWrong && typed !== slug && texts.mismatch}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
        }}
      />
    </ConfirmDialog>
  );
}
