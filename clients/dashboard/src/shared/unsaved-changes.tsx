import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTexts } from './texts.tsx';

/**
 * Asks before the page is left with changes that are not saved: a dialog within the page, the browser's own when the
 * window is closed. It stands anywhere in the form: `<UnsavedChanges isDirty={() => form.isDirty()} />`.
 * @param within a path whose screens share the form, so that one may go from one to the other
 */
export function UnsavedChanges({ isDirty, within }: { isDirty: () => boolean; within?: string }): ReactNode {
  const { unsaved: texts } = useTexts().shared;
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname &&
      !(within !== undefined && `${next.pathname}/`.startsWith(`${within}/`)) &&
      isDirty(),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <Modal
      opened={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      title={texts.title}
      withCloseButton={false}
    >
      <Stack>
        <Text>{texts.text}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={blocker.proceed}>
            {texts.leave}
          </Button>
          <Button onClick={blocker.reset} data-autofocus>
            {texts.stay}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
