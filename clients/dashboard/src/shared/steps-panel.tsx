import { Group, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useId, type ReactNode } from 'react';
import { StatusBadge } from './status-badge.tsx';
import classes from './steps-panel.module.css';
import { useFormat, useTexts } from './texts.tsx';

/** One of several steps that follow each other. */
export interface PanelStep {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly isDone: boolean;
  /** What takes the step; not shown when it is done. */
  readonly action: ReactNode;
}

/** What to do, step by step, and what of it is done. */
export function StepsPanel({
  title,
  text,
  steps,
  children,
}: {
  title: string;
  text: string;
  steps: readonly PanelStep[];
  /** Shown above the steps. */
  children?: ReactNode;
}): ReactNode {
  const { steps: texts } = useTexts().shared;
  const format = useFormat();
  const id = useId();
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <Paper withBorder component="section" aria-labelledby={id}>
      <Stack gap="xs" p={{ base: 'md', sm: 20 }}>
        <Group justify="space-between" align="baseline" gap="xs">
          <Title order={2} size="h3" id={id}>
            {title}
          </Title>
          <Text size="sm" c="dimmed">
            {texts.progress(format.number(done), format.number(steps.length))}
          </Text>
        </Group>
        <Text c="dimmed">{text}</Text>
        <Progress size="xs" value={(done / steps.length) * 100} aria-hidden />
        {children}
      </Stack>
      <ol className={classes.steps}>
        {steps.map((step, index) => (
          <li key={step.name} className={classes.step} data-done={step.isDone}>
            <span className={classes.mark} aria-hidden>
              {step.isDone ? <IconCheck size={14} stroke={2.5} /> : format.number(index + 1)}
            </span>
            <div>
              <Text fw={500}>{step.title}</Text>
              <Text size="sm" c="dimmed">
                {step.text}
              </Text>
            </div>
            <div className={classes.action}>
              {step.isDone ? <StatusBadge tone="ok">{texts.done}</StatusBadge> : step.action}
            </div>
          </li>
        ))}
      </ol>
    </Paper>
  );
}
