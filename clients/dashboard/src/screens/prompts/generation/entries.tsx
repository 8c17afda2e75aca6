import { Button, Group, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** The entries of a list that is edited, between what they are for and the button that adds one. */
export function Entries({
  description,
  add,
  canAdd,
  onAdd,
  children,
}: {
  description: string;
  add: string;
  canAdd: boolean;
  onAdd: () => void;
  children: ReactNode;
}): ReactNode {
  return (
    <>
      <Text size="xs" c="dimmed">
        {description}
      </Text>
      {children}
      {canAdd && (
        <Group>
          <Button variant="default" size="xs" leftSection={<IconPlus size={14} />} onClick={onAdd}>
            {add}
          </Button>
        </Group>
      )}
    </>
  );
}
