import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import { useTexts } from './texts.tsx';

/** A question before something that cannot be undone. */
export interface ConfirmDialogProps {
  isOpen: boolean;
  title: string;
  text: ReactNode;
  /** What the button says: a verb and its object. */
  confirm: string;
  onConfirm: () => void;
  onClose: () => void;
  isPending?: boolean;
  /** Something else has to be done first. */
  isDisabled?: boolean;
  /** Why the last attempt failed. */
  error?: unknown;
  isDangerous?: boolean;
  /** Wide for a comparison. */
  size?: 'md' | 'xl';
  /** Further fields. */
  children?: ReactNode;
}

/** Asks before something that cannot be undone. It stays open while it is done, and if that fails. */
export function ConfirmDialog({ isOpen, title, size = 'md', ...question }: ConfirmDialogProps): ReactNode {
  return (
    <Dialog opened={isOpen} onClose={question.onClose} title={title} size={size}>
      <ConfirmQuestion {...question} />
    </Dialog>
  );
}

/** What stands in a `ConfirmDialog`, for dialogs whose question has a state of its own. */
export function ConfirmQuestion(props: Omit<ConfirmDialogProps, 'isOpen' | 'title' | 'size'>): ReactNode {
  const { shared } = useTexts();
  const { isPending = false, isDisabled = false, error } = props;
  return (
    <Stack>
      <Text component="div">{props.text}</Text>
      {props.children}
      {error !== undefined && error !== null && <ProblemAlert error={error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={props.onClose} disabled={isPending} data-autofocus>
          {shared.cancel}
        </Button>
        <Button
          {...(props.isDangerous === true && { color: 'red' })}
          loading={isPending}
          disabled={isDisabled}
          onClick={props.onConfirm}
        >
          {props.confirm}
        </Button>
      </Group>
    </Stack>
  );
}
