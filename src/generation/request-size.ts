import { callBytes, copies } from '../limits/memory-budget.ts';
import type { GenerateRequest, Message } from '../providers/generation.ts';
import type { Plan } from './plan.ts';

/** The memory for the calls of a plan, in bytes. They are made one after the other, and share their messages. */
export function bytesOf({ targets }: Plan): number {
  return callBytes + copies * Math.max(...targets.map(({ request }) => lengthOf(request)));
}

/** The characters of everything in a request that can be long. */
function lengthOf({ messages, ...rest }: GenerateRequest): number {
  const { tools, responseFormat, providerOptions, parameters } = rest;
  const hasMore = [tools, responseFormat, providerOptions, parameters].some((member) => member !== undefined);
  return messages.reduce((sum, message) => sum + lengthOfMessage(message), hasMore ? JSON.stringify(rest).length : 0);
}

function lengthOfMessage(message: Message): number {
  const { content } = message;
  const length =
    typeof content === 'string'
      ? content.length
      : content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : part.url.length), 0);
  const calls = message.role === 'assistant' ? message.toolCalls : undefined;
  return calls === undefined ? length : length + JSON.stringify(calls).length;
}
