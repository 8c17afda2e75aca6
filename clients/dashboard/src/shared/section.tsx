import { Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Heading {
  title: string;
  description?: string | undefined;
}

/** A part of a screen with a title, in a frame. */
export function Section({ children, ...heading }: Heading & { children: ReactNode }): ReactNode {
  return (
    <Paper withBorder p="lg" component="section">
      <Stack gap="sm">
        <SectionHeading {...heading} />
        {children}
      </Stack>
    </Paper>
  );
}

export function SectionHeading({ id, title, description }: Heading & { id?: string }): ReactNode {
  return (
    <div>
      <Title order={2} size="h4" id={id}>
        {title}
      </Title>
      {description !== undefined && (
        <Text c="dimmed" size="sm">
          {description}
        </Text>
      )}
    </div>
  );
}
