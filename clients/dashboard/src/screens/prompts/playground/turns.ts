import type { Schemas } from 'prompt-gateway-client';
import { saidBy } from '../content/said-by.ts';

/** A message of a conversation, as an invocation sends it. */
export type Turn = NonNullable<Schemas['InvokeRequest']['messages']>[number];

/**
 * The conversation after an answer: the answer, and what comes next: the results of the tools that it calls, or a
 * message of the user, still without text.
 */
export function continued(
  before: readonly Turn[],
  result: Pick<Schemas['InvocationResult'], 'text' | 'refusal' | 'tool_calls'>,
): Turn[] {
  const { tool_calls: toolCalls = [] } = result;
  const text = saidBy(result);
  const answer: Turn =
    toolCalls.length === 0
      ? { role: 'assistant', content: text }
      : { role: 'assistant', ...(text !== '' && { content: text }), tool_calls: toolCalls };
  const next: Turn[] =
    toolCalls.length === 0
      ? [{ role: 'user', content: '' }]
      : toolCalls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '' }));
  return [...before, answer, ...next];
}

/** The text of a message; those of the playground have no images. */
export function textOf({ content }: Turn): string {
  return typeof content === 'string' ? content : '';
}
