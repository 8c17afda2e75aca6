import { Alert, Group, Paper, Stack, Text } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { knownProblem, ProviderWords } from '../../../shared/problem-alert.tsx';
import { StatusBadge } from '../../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { Answer, finishTone } from '../content/answer.tsx';
import classes from './test-runs.module.css';

/** The version, if the request named it, and the model. */
export function nameOf({ version, provider, model }: Schemas['TestResult']): string {
  return `${version === undefined ? '' : `v${version} · `}${provider} / ${model}`;
}

/** What one provider and model made of the prompt. */
export function TestResult({
  position,
  result,
}: {
  /** From 1; a model can occur more than once. */
  position: number;
  result: Schemas['TestResult'];
}): ReactNode {
  const { prompts, shared } = useTexts();
  const { testRuns: texts, playground, finishReasons } = prompts;
  const format = useFormat();
  const name = nameOf(result);
  const latency = format.duration(result.latency_ms);
  return (
    <Paper withBorder p="md" component="section" aria-label={texts.resultOf(position, name)}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <span className={classes.name}>{name}</span>
          {result.status === 'failed' ? (
            <StatusBadge tone="danger">{texts.failed}</StatusBadge>
          ) : (
            <StatusBadge tone={finishTone(result.result.finishReason)}>
              {finishReasons[result.result.finishReason] ?? result.result.finishReason}
            </StatusBadge>
          )}
        </Group>
        {result.status === 'failed' ? (
          <>
            <Text size="xs" c="dimmed">
              {latency}
            </Text>
            <Alert
              color="red"
              icon={<IconAlertCircle />}
              title={knownProblem(result.error.type, shared).title ?? result.error.title}
            >
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {knownProblem(result.error.type, shared).detail ?? result.error.detail}
              </Text>
              <ProviderWords said={result.error} />
              <Text size="xs" mt={4}>
                {result.error.retryable ? texts.retryable : texts.notRetryable}
              </Text>
            </Alert>
          </>
        ) : (
          <>
            <Text size="xs" c="dimmed">
              {latency} ·{' '}
              {playground.tokens(
                format.tokens(result.result.usage.inputTokens),
                format.tokens(result.result.usage.outputTokens),
              )}{' '}
              · {format.cost(result.result.cost) ?? playground.unknownCost}
            </Text>
            <Answer result={result.result} label={texts.answerOf(position, name)} />
          </>
        )}
      </Stack>
    </Paper>
  );
}
