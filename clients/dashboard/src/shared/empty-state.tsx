import { Center, Stack, Text, Title } from '@mantine/core';
import type { Icon } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** What is shown where there is nothing: why, and what to do next. */
export interface EmptyStateProps {
  icon: Icon;
  title?: string;
  text: string;
  /** A button that does what to do next. */
  action?: ReactNode;
}

/** Says that there is nothing yet, and what to do next. */
export function EmptyState({ icon: EmptyIcon, title, text, action }: EmptyStateProps): ReactNode {
  return (
    <Center py={56} px="md">
      <Stack align="center" gap="sm" maw={420}>
        <EmptyIcon size={32} stroke={1.25} color="var(--mantine-color-dimmed)" aria-hidden />
        <Stack align="center" gap={4}>
          {title !== undefined && (
            <Title order={2} size="h3" ta="center">
              {title}
            </Title>
          )}
          <Text c="dimmed" ta="center">
            {text}
          </Text>
        </Stack>
        {action}
      </Stack>
    </Center>
  );
}
