import { Alert, Button, Group, List, Paper, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconMessageReply, IconPlayerPlay } from '@tabler/icons-react';
import { ProblemError, type Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { CopyableId } from '../../../shared/copy.tsx';
import { JsonView } from '../../../shared/json-view.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { StatusBadge } from '../../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { Answer, FailedAttempts, finishTone } from '../content/answer.tsx';
import type { AnswerFacts, Invocation } from '../workspace/use-invocations.ts';
import classes from './playground.module.css';

/** What came of one invocation: the answer with its facts, or the problem as the service sent it. */
export function InvocationView({
  invocation: { outcome, elapsed },
  onContinue,
  onIgnoreUnsupported,
}: {
  invocation: Invocation;
  /** Goes on with the conversation after this answer. */
  onContinue: () => void;
  /** Runs it again without what the provider cannot do. */
  onIgnoreUnsupported: () => void;
}): ReactNode {
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
            <>
              {outcome.error.problem.type === 'urn:prompt-gateway:problem:unsupported-by-provider' && (
                <Group>
                  <Button
                    size="xs"
                    variant="default"
                    leftSection={<IconPlayerPlay size={14} />}
                    onClick={onIgnoreUnsupported}
                  >
                    {texts.leaveOut}
                  </Button>
                </Group>
              )}
              <FailedAttempts attempts={outcome.error.problem.attempts ?? []} />
              <JsonView value={outcome.error.problem} label={texts.problemAsJson} />
            </>
          )}
        </Stack>
      );
    case 'answered': {
      const { result, facts } = outcome;
      return (
        <Paper withBorder p="md">
          <Stack gap="md">
            <FailedAttempts attempts={result.attempts ?? []} />
            <Answer result={result} label={texts.answer} />
            <Warnings warnings={result.warnings ?? []} />
            <Facts result={result} facts={facts} />
            <Group justify="space-between" gap="xs">
              {facts.requestId !== undefined && (
                <Text size="sm" c="dimmed" component="div">
                  <CopyableId value={facts.requestId} label={shared.requestId} withLabel />
                </Text>
              )}
              <Button size="xs" variant="default" leftSection={<IconMessageReply size={14} />} onClick={onContinue}>
                {texts.continue}
              </Button>
            </Group>
          </Stack>
        </Paper>
      );
    }
  }
}

function Facts({ result, facts }: { result: Schemas['InvocationResult']; facts: AnswerFacts }): ReactNode {
  const { playground: texts, finishReasons } = useTexts().prompts;
  const format = useFormat();
  const { inputTokens, outputTokens, cachedInputTokens: fromCache, reasoningTokens: reasoning } = result.usage;
  const input = format.number(inputTokens);
  const output = format.number(outputTokens);
  const entries: [string, ReactNode][] = [
    [texts.facts.model, `${facts.provider} / ${facts.model}`],
    [texts.facts.version, facts.servedVersion],
    [texts.facts.latency, format.duration(facts.latencyMs)],
    [
      texts.facts.tokens,
      texts.tokens(
        fromCache === undefined ? input : texts.ofCache(input, format.number(fromCache)),
        reasoning === undefined ? output : texts.ofReasoning(output, format.number(reasoning)),
      ),
    ],
    [
      texts.facts.finish,
      <StatusBadge key="finish" tone={finishTone(result.finishReason)}>
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
