import { Group, Loader, Text } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import classes from './playground.module.css';

/** How long something has been running, ten times a second. Screen readers hear only that it runs. */
export function RunningTime({ since, text }: { since: number; text?: string }): ReactNode {
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
    <Group justify="center" gap="sm" className={classes.blank}>
      <Loader size="sm" type="dots" />
      <Text c="dimmed">{text ?? playground.running}</Text>
      <Text c="dimmed" aria-hidden ff="monospace">
        {format.duration(Math.max(0, now - since))}
      </Text>
    </Group>
  );
}
