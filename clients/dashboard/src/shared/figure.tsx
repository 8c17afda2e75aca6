import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** One number with its name, and what explains it below. */
export function Figure({ label, note, children }: { label: string; note?: ReactNode; children: ReactNode }): ReactNode {
  return (
    <Paper withBorder role="group" aria-label={label} p="sm" px={{ base: 'sm', sm: 'md' }} miw={0}>
      <Text size="xs" c="dimmed" aria-hidden>
        {label}
      </Text>
      <Text fw={600} size="lg" style={{ fontVariantNumeric: 'tabular-nums' }}>
        {children}
      </Text>
      {note !== undefined && note !== false && (
        <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: 'anywhere' }}>
          {note}
        </Text>
      )}
    </Paper>
  );
}
