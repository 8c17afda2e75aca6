import { Group, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';
import { useId, type ReactNode } from 'react';
import { LinkButton } from '../../shared/links.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import classes from './first-steps.module.css';
import type { FirstSteps, StepName } from './use-first-steps.ts';

const targets: Record<StepName, NonNullable<LinkProps['to']>> = {
  integration: '/integrations/new',
  location: '/locations/new',
  prompt: '/prompts/new',
  apiKey: '/api-keys/new',
};

/** What to do in a new installation, step by step. The next step has the accent. */
export function FirstStepsPanel({ steps, error, retry }: FirstSteps): ReactNode {
  const { steps: texts } = useTexts().overview;
  const format = useFormat();
  const id = useId();
  const done = steps.filter(({ isDone }) => isDone === true).length;
  const next = steps.find(({ isDone }) => isDone === false)?.name;
  return (
    <Paper withBorder component="section" aria-labelledby={id}>
      <Stack gap="xs" p={{ base: 'md', sm: 20 }}>
        <Group justify="space-between" align="baseline" gap="xs">
          <Title order={2} size="h3" id={id}>
            {texts.title}
          </Title>
          <Text size="sm" c="dimmed">
            {texts.progress(format.number(done), format.number(steps.length))}
          </Text>
        </Group>
        <Text c="dimmed">{texts.text}</Text>
        <Progress size="xs" value={(done / steps.length) * 100} aria-hidden />
        {error !== undefined && <ProblemAlert error={error} onRetry={retry} />}
      </Stack>
      <ol className={classes.steps}>
        {steps.map(({ name, isDone = false }, index) => (
          <li key={name} className={classes.step} data-done={isDone}>
            <span className={classes.mark} aria-hidden>
              {isDone ? <IconCheck size={14} stroke={2.5} /> : format.number(index + 1)}
            </span>
            <div>
              <Text fw={500}>{texts[name].title}</Text>
              <Text size="sm" c="dimmed">
                {texts[name].text}
              </Text>
            </div>
            <div className={classes.action}>
              {isDone ? (
                <StatusBadge tone="ok">{texts.done}</StatusBadge>
              ) : (
                <LinkButton to={targets[name]} variant={name === next ? 'filled' : 'default'}>
                  {texts[name].action}
                </LinkButton>
              )}
            </div>
          </li>
        ))}
      </ol>
    </Paper>
  );
}
