import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconArchive, IconArchiveOff } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { useNotify } from './notify.ts';
import { useTexts } from './texts.tsx';

/** What can be archived. */
export interface ArchiveButtonProps {
  name: string;
  isArchived: boolean;
  /** What archiving changes. */
  text: string;
  send: (archived: boolean) => Promise<void>;
}

/** Archives after a question, and restores. */
export function ArchiveButton({ name, isArchived, text, send }: ArchiveButtonProps): ReactNode {
  const { archive: texts } = useTexts().shared;
  const notify = useNotify();
  const [isOpen, dialog] = useDisclosure(false);
  const change = useMutation({
    mutationFn: send,
    onSuccess: () => {
      dialog.close();
      notify(isArchived ? texts.restored(name) : texts.archived(name));
    },
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={isArchived ? <IconArchiveOff size={16} /> : <IconArchive size={16} />}
        onClick={() => {
          change.reset();
          dialog.open();
        }}
      >
        {isArchived ? texts.restore : texts.archive}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        title={isArchived ? texts.restoreTitle(name) : texts.archiveTitle(name)}
        text={isArchived ? texts.restoreText : text}
        confirm={isArchived ? texts.restore : texts.archive}
        onConfirm={() => {
          change.mutate(!isArchived);
        }}
        onClose={dialog.close}
        isPending={change.isPending}
        error={change.error}
        isDangerous={!isArchived}
      />
    </>
  );
}
