import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { IconMessageReply, IconPencil, IconPlayerPlay } from '@tabler/icons-react';
import { ProblemError, type Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { CopyableId } from '../../../shared/copy.tsx';
import { JsonView } from '../../../shared/json-view.tsx';
import { TextLink } from '../../../shared/links.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { StatusBadge } from '../../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { Answer, FailedAttempts, finishTone } from '../content/answer.tsx';
import { ContentWarnings } from '../content/content-warnings.tsx';
import { useAnswerSoFar, type AnswerSoFar } from '../workspace/live-answer.ts';
import {
  invocationIdOf,
  type AnswerFacts,
  type Invocation,
  type RunningInvocation,
} from '../workspace/use-invocations.ts';
import classes from './playground.module.css';
import { RunningTime } from './running-time.tsx';

interface InvocationViewProps {
  readonly invocation: Invocation | RunningInvocation;
  /** What answers it, if several are shown; otherwise empty. */
  readonly name: string;
  /** Whether the key may read the invocation log. */
  readonly canRead: boolean;
  /** Goes on with the conversation after this answer. */
  readonly onContinue: () => void;
  /** Runs it again without what the provider cannot do. */
  readonly onIgnoreUnsupported: () => void;
  /** Takes its provider, model and parameters into the prompt. Undefined if the key may not. */
  readonly onUse: (() => void) | undefined;
}

/**
 * What came of one invocation: the answer with its facts, or the problem as the service sent it. While a stream is
 * running it grows here, and what follows is added below it.
 */
export function InvocationView({
  invocation,
  name,
  canRead,
  onContinue,
  onIgnoreUnsupported,
  onUse,
}: InvocationViewProps): ReactNode {
  const { playground: texts } = useTexts().prompts;
  const format = useFormat();
  const live = useAnswerSoFar('live' in invocation ? invocation.live : undefined);
  if ('live' in invocation) {
    const { startedAt } = invocation;
    if (live.text === '') return <RunningTime since={startedAt} />;
    return (
      <AnswerCard name={name} result={live} isGrowing>
        <RunningTime since={startedAt} text={texts.answering} isInline />
      </AnswerCard>
    );
  }
  const { outcome, elapsed } = invocation;
  const id = canRead ? invocationIdOf(invocation) : undefined;
  const record = id !== undefined && (
    // In a tab of its own: what is typed and answered here stays.
    <TextLink to="/invocations/$id" params={{ id }} size="sm" target="_blank">
      {texts.record}
    </TextLink>
  );
  switch (outcome.kind) {
    case 'canceled': {
      const { soFar } = outcome;
      const canceled = texts.canceledAfter(format.duration(elapsed));
      if (soFar.text === '') {
        return (
          <Text c="dimmed" className={classes.blank}>
            {canceled}
          </Text>
        );
      }
      return (
        <AnswerCard name={name} result={soFar}>
          <Text size="sm" c="dimmed">
            {canceled} {record}
          </Text>
        </AnswerCard>
      );
    }
    case 'failed': {
      const { error, soFar } = outcome;
      const failure = (
        <Failure name={name} error={error} onIgnoreUnsupported={onIgnoreUnsupported}>
          {record}
        </Failure>
      );
      if (soFar.text === '') return failure;
      return (
        <AnswerCard name={name} result={soFar}>
          {failure}
        </AnswerCard>
      );
    }
    case 'answered': {
      const { result, facts } = outcome;
      return (
        <AnswerCard name={name} result={result}>
          <ContentWarnings warnings={result.warnings ?? []} />
          <Facts result={result} facts={facts} isDraft={invocation.request.body.draft !== undefined} />
          {record}
          <Group justify="space-between" gap="xs">
            {facts.requestId !== undefined && <RequestId value={facts.requestId} />}
            {onUse !== undefined && (
              <Button size="xs" variant="default" leftSection={<IconPencil size={14} />} onClick={onUse}>
                {texts.use}
              </Button>
            )}
            <Button size="xs" variant="default" leftSection={<IconMessageReply size={14} />} onClick={onContinue}>
              {texts.continue}
            </Button>
          </Group>
        </AnswerCard>
      );
    }
  }
}

/** An answer, whole or what came of it, with what else there is to say. */
function AnswerCard({
  name,
  result,
  isGrowing = false,
  children,
}: {
  name: string;
  result: Pick<Schemas['InvocationResult'], 'text' | 'refusal' | 'object' | 'tool_calls'> &
    Partial<Pick<AnswerSoFar, 'attempts'>>;
  isGrowing?: boolean;
  children: ReactNode;
}): ReactNode {
  const { playground: texts } = useTexts().prompts;
  return (
    <Paper withBorder p="md">
      <Stack gap="md">
        <FailedAttempts attempts={result.attempts ?? []} />
        <Answer result={result} label={[texts.answer, name].join(' ').trim()} isGrowing={isGrowing} />
        {children}
      </Stack>
    </Paper>
  );
}

function Failure({
  name,
  error,
  onIgnoreUnsupported,
  children,
}: {
  name: string;
  error: unknown;
  onIgnoreUnsupported: () => void;
  children: ReactNode;
}): ReactNode {
  const { playground: texts } = useTexts().prompts;
  const attempts = error instanceof ProblemError ? (error.problem.attempts ?? []) : [];
  return (
    <Stack gap="sm">
      <ProblemAlert error={error} />
      {children}
      {error instanceof ProblemError && (
        <>
          {error.problem.type === 'urn:prompt-gateway:problem:unsupported-by-provider' && (
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
          {/* The problem itself says everything about a single one. */}
          {attempts.length > 1 && <FailedAttempts attempts={attempts} />}
          <JsonView value={error.problem} label={[texts.problemAsJson, name].join(' ').trim()} />
        </>
      )}
    </Stack>
  );
}

function RequestId({ value }: { value: string }): ReactNode {
  const { shared } = useTexts();
  return (
    <Text size="sm" c="dimmed" component="div" miw={0} maw="100%">
      <CopyableId value={value} label={shared.requestId} withLabel />
    </Text>
  );
}

function Facts({
  result,
  facts,
  isDraft,
}: {
  result: Schemas['InvocationResult'];
  facts: AnswerFacts;
  isDraft: boolean;
}): ReactNode {
  const { playground: texts, finishReasons } = useTexts().prompts;
  const format = useFormat();
  const { inputTokens, outputTokens, cachedInputTokens: fromCache, reasoningTokens: reasoning } = result.usage;
  const input = format.tokens(inputTokens);
  const output = format.tokens(outputTokens);
  const entries: [string, ReactNode][] = [
    [texts.facts.model, `${facts.provider} / ${facts.model}`],
    [texts.facts.version, isDraft ? texts.draft : facts.servedVersion],
    [texts.facts.latency, format.duration(facts.latencyMs)],
    [
      texts.facts.tokens,
      texts.tokens(
        fromCache === undefined ? input : texts.ofCache(input, format.number(fromCache)),
        reasoning === undefined ? output : texts.ofReasoning(output, format.number(reasoning)),
      ),
    ],
    [texts.facts.cost, format.cost(result.cost) ?? texts.unknownCost],
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
