import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../shared/texts.tsx';
import classes from './shell.module.css';

/** Mark and name of the product. */
export function Product(): ReactNode {
  return (
    <Group gap={8} wrap="nowrap">
      <span className={classes.mark} aria-hidden="true" />
      <Text fw={600}>{useTexts().shell.product}</Text>
    </Group>
  );
}
