import { Group, Loader, Text } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import classes from './playground.module.css';

/** How long something has been running, ten times a second. Screen readers hear only that it runs. */
export function RunningTime({
  since,
  text,
  isInline = false,
}: {
  since: number;
  text?: string;
  /** Whether it stands below something else, and not alone in a frame. */
  isInline?: boolean;
}): ReactNode {
  const { playground } = useTexts().prompts;
  const format = useFormat();
  const [now, setNow] = useState(since);
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, 100);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return (
    <Group gap="sm" {...(!isInline && { justify: 'center', className: classes.blank })}>
      <Loader size="sm" type="dots" />
      <Text c="dimmed">{text ?? playground.running}</Text>
      <Text c="dimmed" aria-hidden ff="monospace">
        {format.duration(Math.max(0, now - since))}
      </Text>
    </Group>
  );
}
