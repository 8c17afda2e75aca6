import { Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A part of a screen with a title, in a frame. */
export function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <Paper withBorder p="lg" component="section">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  );
}
