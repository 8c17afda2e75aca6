import { Button, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ConfirmDialog, type ConfirmDialogProps } from './confirm-dialog.tsx';
import { useNotify } from './notify.ts';

export interface AskButtonProps<Done>
  extends
    Pick<ButtonProps, 'variant' | 'size' | 'color' | 'leftSection'>,
    Pick<ConfirmDialogProps, 'title' | 'text' | 'confirm' | 'isDangerous' | 'children'> {
  /** What the button says. */
  action: string;
  /** The same with the name of the thing, where several stand below each other. */
  actionOf?: string;
  send: () => Promise<Done>;
  /** What follows. @returns what was done, in words; undefined if there is nothing to say */
  onDone: (done: Done) => string | undefined | Promise<string>;
}

/** A button that does something after a question. The question stays while it is done, and if that fails. */
export function AskButton<Done>({
  action,
  actionOf,
  send,
  onDone,
  title,
  text,
  confirm,
  isDangerous = false,
  children,
  ...look
}: AskButtonProps<Done>): ReactNode {
  const notify = useNotify();
  const [isOpen, { open, close }] = useDisclosure(false);
  const work = useMutation({
    mutationFn: send,
    onSuccess: async (done) => {
      const said = await onDone(done);
      close();
      if (said !== undefined) notify(said);
    },
  });
  return (
    <>
      <Button
        variant="default"
        {...look}
        aria-label={actionOf}
        onClick={() => {
          work.reset();
          open();
        }}
      >
        {action}
      </Button>
      <ConfirmDialog
        {...{ title, text, confirm, isDangerous, children }}
        isOpen={isOpen}
        isPending={work.isPending}
        error={work.error}
        onConfirm={() => {
          work.mutate();
        }}
        onClose={close}
      />
    </>
  );
}
