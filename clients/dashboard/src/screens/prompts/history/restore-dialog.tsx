import { Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { PreconditionFailedError } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { ConfirmDialog } from '../../../shared/confirm-dialog.tsx';
import { useNotify } from '../../../shared/notify.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { versioned } from '../../../shared/versioned.ts';
import { promptKeys } from '../prompt-queries.ts';
import { keepSaved } from '../save-cache.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { Comparison } from './comparison.tsx';

/** Shows what changes, and asks before a version is restored. It is restored as a new version, so nothing is lost. */
export function RestoreDialog({
  version,
  isOpen,
  onClose,
}: {
  version: number;
  isOpen: boolean;
  onClose: () => void;
}): ReactNode {
  const { history: texts } = useTexts().prompts;
  const { stored, isDirty } = useWorkspace();
  const { id, version: newest } = stored.data;
  const queryClient = useQueryClient();
  const notify = useNotify();
  const restoring = useMutation({
    mutationFn: () =>
      versioned(
        gateway.promptVersions.restore(id, version, { ...(stored.etag !== undefined && { ifMatch: stored.etag }) }),
      ),
    onSuccess: async (saved) => {
      await keepSaved(queryClient, saved);
      notify(texts.restored(version, saved.data.version));
      onClose();
    },
    onError: (error) => {
      if (error instanceof PreconditionFailedError) {
        void queryClient.invalidateQueries({ queryKey: promptKeys.prompt(id) });
      }
    },
  });
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={texts.restoreTitle(version)}
      text={texts.restoreText(version, newest + 1)}
      confirm={texts.restoreSubmit}
      size="xl"
      isPending={restoring.isPending}
      error={restoring.error}
      onConfirm={() => {
        restoring.mutate();
      }}
      onClose={() => {
        restoring.reset();
        onClose();
      }}
    >
      <Comparison id={id} before={newest} after={version} isFolded />
      {isDirty && <Text size="sm">{texts.restoreDirty}</Text>}
    </ConfirmDialog>
  );
}
