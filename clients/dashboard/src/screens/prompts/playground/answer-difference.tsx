import { Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { ContentDiff } from '../code/lazy-code.tsx';
import { saidBy } from '../content/said-by.ts';
import type { Invocation } from '../workspace/use-invocations.ts';

/** An answer with its name. */
export interface NamedAnswer {
  readonly name: string;
  readonly outcome: Extract<Invocation['outcome'], { kind: 'answered' }>;
}

/** How the second of two answers differs from the first: its text, how long it took, and what it cost. */
export function AnswerDifference({ first, second }: { first: NamedAnswer; second: NamedAnswer }): ReactNode {
  const { difference: texts, facts, unknownCost } = useTexts().prompts.playground;
  const format = useFormat();
  const [before, after] = [first, second].map(({ outcome: { result, facts: said } }) => ({
    text: textOf(result),
    latency: format.duration(said.latencyMs),
    cost: format.cost(result.cost) ?? unknownCost,
  }));
  if (before === undefined || after === undefined) return null;
  return (
    <Stack gap="xs" component="section" aria-label={texts.title}>
      <Text fw={600} size="sm">
        {texts.title}
      </Text>
      <Text size="sm" c="dimmed">
        {texts.change(facts.latency, before.latency, after.latency)} ·{' '}
        {texts.change(facts.cost, before.cost, after.cost)}
      </Text>
      {before.text === after.text ? (
        <Text size="sm">{texts.same}</Text>
      ) : (
        <ContentDiff
          before={{ label: first.name, text: before.text }}
          after={{ label: second.name, text: after.text }}
          isFolded={false}
        />
      )}
    </Stack>
  );
}

/** An answer as one text: what it says or its JSON, then the calls of tools. */
export function textOf(result: Schemas['InvocationResult']): string {
  const { object, tool_calls: toolCalls = [] } = result;
  const calls = toolCalls.map(({ name, arguments: given }) => `${name}(${JSON.stringify(given, null, 2)})`);
  return [object === undefined ? saidBy(result) : JSON.stringify(object, null, 2), ...calls]
    .filter((part) => part !== '')
    .join('\n\n');
}
