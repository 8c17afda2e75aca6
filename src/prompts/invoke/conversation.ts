import type { components } from '../../../generated/types.ts';
import { ProblemError, type ProblemDetail } from '../../base/errors/problem-error.ts';
import { withFlatCalls } from '../generation/flat-calls.ts';
import type { Content, JsonObject, Message, ToolCall } from '../../models/language-model.ts';

type SentMessage = NonNullable<NonNullable<components['schemas']['InvokeRequest']>['messages']>[number];
type SentCall = NonNullable<SentMessage['tool_calls']>[number];

/**
 * The messages of a request that follow those of the prompt. The result of a tool gets the name of its tool from the
 * call in a message before.
 *
 * @throws {ProblemError} inconsistent-content for a result without a call before it
 */
export function readConversation(sent: readonly SentMessage[]): Message[] {
  const errors: ProblemDetail[] = [];
  const names = new Map<string, string>();
  const messages = sent.map((message, index): Message => {
    const { role, content = '', tool_calls: calls = [], tool_call_id: toolCallId = '' } = message;
    switch (role) {
      case 'tool': {
        const toolName = names.get(toolCallId);
        if (toolName === undefined) {
          errors.push({
            detail: 'is not the id of a call in a message before',
            pointer: `#/messages/${index}/tool_call_id`,
          });
        }
        return { role, toolCallId, toolName: toolName ?? '', content: typeof content === 'string' ? content : '' };
      }
      case 'assistant':
        for (const call of calls) names.set(call.id, call.name);
        return { role, content: withFlatCalls(toContent(content), calls.map(toToolCall)) };
      default:
        return { role, content: toContent(content) };
    }
  });
  if (errors.length === 0) return messages;
  throw new ProblemError('inconsistent-content', {
    detail: 'The messages of the request do not fit together.',
    errors,
  });
}

function toContent(content: NonNullable<SentMessage['content']>): Content {
  if (typeof content === 'string') return content;
  return content.map(({ type, text = '', url = '' }) => (type === 'image' ? { type, url } : { type: 'text', text }));
}

function toToolCall({ id, name, arguments: text, provider_metadata: metadata }: SentCall): ToolCall {
  return { id, name, arguments: text, ...(metadata !== undefined && { provider_metadata: metadata as JsonObject }) };
}
