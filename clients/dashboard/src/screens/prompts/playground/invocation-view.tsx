import { Alert, List, Paper, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ProblemError, type Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { CopyableId } from '../../../shared/copy.tsx';
import { JsonView } from '../../../shared/json-view.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { StatusBadge } from '../../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { LongText } from '../content/long-text.tsx';
import type { AnswerFacts, Invocation } from '../workspace/use-invocations.ts';
import classes from './playground.module.css';

/** What came of one invocation: the answer with its facts, or the problem as the service sent it. */
export function InvocationView({ invocation: { outcome, elapsed } }: { invocation: Invocation }): ReactNode {
  const { shared, prompts } = useTexts();
  const texts = prompts.playground;
  const format = useFormat();
  switch (outcome.kind) {
    case 'canceled':
      return (
        <Text c="dimmed" className={classes.blank}>
          {texts.canceledAfter(format.duration(elapsed))}
        </Text>
      );
    case 'failed':
      return (
        <Stack gap="sm">
          <ProblemAlert error={outcome.error} />
          {outcome.error instanceof ProblemError && (
            <JsonView value={outcome.error.problem} label={texts.problemAsJson} />
          )}
        </Stack>
      );
    case 'answered': {
      const { result, facts } = outcome;
      return (
        <Paper withBorder p="md">
          <Stack gap="md">
            <LongText text={result.text} label={texts.answer} />
            <Warnings warnings={result.warnings ?? []} />
            <Facts result={result} facts={facts} />
            {facts.requestId !== undefined && (
              <Text size="sm" c="dimmed" component="div">
                <CopyableId value={facts.requestId} label={shared.requestId} withLabel />
              </Text>
            )}
          </Stack>
        </Paper>
      );
    }
  }
}

function Facts({ result, facts }: { result: Schemas['InvocationResult']; facts: AnswerFacts }): ReactNode {
  const { playground: texts, finishReasons } = useTexts().prompts;
  const format = useFormat();
  const { inputTokens, outputTokens } = result.usage;
  const entries: [string, ReactNode][] = [
    [texts.facts.model, `${facts.provider} / ${facts.model}`],
    [texts.facts.version, facts.servedVersion],
    [texts.facts.latency, format.duration(facts.latencyMs)],
    [texts.facts.tokens, texts.tokens(format.number(inputTokens), format.number(outputTokens))],
    [
      texts.facts.finish,
      <StatusBadge key="finish" tone={result.finishReason === 'stop' ? 'ok' : 'warning'}>
        {finishReasons[result.finishReason] ?? result.finishReason}
      </StatusBadge>,
    ],
    [texts.facts.cached, facts.isCached ? texts.cachedFor(format.duration((facts.age ?? 0) * 1_000)) : texts.notCached],
  ];
  return (
    <dl className={classes.facts}>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Warnings({ warnings }: { warnings: readonly Schemas['Warning'][] }): ReactNode {
  const { editor } = useTexts().prompts;
  if (warnings.length === 0) return null;
  return (
    <Alert color="yellow" icon={<IconAlertTriangle />} title={editor.warnings(warnings.length)}>
      <List size="sm">
        {warnings.map(({ pointer, detail }, index) => (
          <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
            {pointer?.replace(/^#\/?/, '')} {detail}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
