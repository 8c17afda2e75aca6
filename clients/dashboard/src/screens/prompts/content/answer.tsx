import { Alert, Badge, Group, List, Paper, Stack, Text } from '@mantine/core';
import { IconArrowForwardUp, IconTool } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { JsonView } from '../../../shared/json-view.tsx';
import type { Tone } from '../../../shared/status-badge.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { AnswerText } from './answer-text.tsx';
import { saidBy } from './said-by.ts';

type Result = Schemas['InvocationResult'];

/**
 * What a model answered: JSON as it is checked, or text, else why it refuses, and the calls of tools that it asks for.
 *
 * @param label what the answer is, for screen readers
 */
export function Answer({
  result,
  label,
  isGrowing = false,
}: {
  result: Pick<Result, 'text' | 'refusal' | 'object' | 'tool_calls'>;
  label: string;
  /** Whether more of its text comes. */
  isGrowing?: boolean;
}): ReactNode {
  const { object, tool_calls: toolCalls = [] } = result;
  const text = saidBy(result);
  return (
    <>
      {object === undefined ? (
        (text !== '' || toolCalls.length === 0) && <AnswerText text={text} label={label} isGrowing={isGrowing} />
      ) : (
        <JsonView value={object} label={label} />
      )}
      <ToolCalls calls={toolCalls} />
    </>
  );
}

/** The calls of tools that a model asks for. */
export function ToolCalls({ calls }: { calls: NonNullable<Result['tool_calls']> }): ReactNode {
  const { answers: texts } = useTexts().prompts;
  return calls.map(({ id, name, arguments: given }, index) => (
    <Paper key={`${index} ${id}`} withBorder p="sm" component="section" aria-label={texts.callOf(name)}>
      <Stack gap="xs">
        <Group gap="xs">
          <Badge variant="light" color="gray" tt="none" leftSection={<IconTool size={12} />}>
            {texts.call}
          </Badge>
          <Text size="sm" fw={600} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
        </Group>
        <JsonView value={given} label={texts.argumentsOf(name)} />
      </Stack>
    </Paper>
  ));
}

/** The calls of providers that gave no answer. */
export function FailedAttempts({ attempts }: { attempts: readonly Schemas['FailedAttempt'][] }): ReactNode {
  const { answers: texts } = useTexts().prompts;
  if (attempts.length === 0) return null;
  return (
    <Alert color="gray" icon={<IconArrowForwardUp />} title={texts.failedAttempts(attempts.length)}>
      <List size="sm">
        {attempts.map(({ provider, model, problem, provider_message: words, may_be_billed }, index) => (
          <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
            {provider} / {model}: {problem.replace('urn:prompt-gateway:problem:', '')}
            {may_be_billed && `, ${texts.mayBeBilled}`}
            {words !== undefined && (
              <>
                : <q>{words}</q>
              </>
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** How an answer's end is marked: calls of tools are as good an end as any other. */
export function finishTone(reason: Result['finishReason']): Tone {
  return reason === 'stop' ? 'ok' : reason === 'tool-calls' ? 'info' : 'warning';
}
