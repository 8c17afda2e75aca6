import { Stack } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { SectionHeading } from '../../../shared/section.tsx';

/** A group of fields under a heading. */
export function Section({
  title,
  description,
  children,
}: {
  title: string;
  description?: string;
  children: ReactNode;
}): ReactNode {
  const id = useId();
  return (
    <Stack gap="sm" component="section" aria-labelledby={id}>
      <SectionHeading id={id} title={title} description={description} />
      {children}
    </Stack>
  );
}
