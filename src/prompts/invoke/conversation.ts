import type { components } from '../../../generated/types.ts';
import { ProblemError, type ProblemDetail } from '../../base/errors/problem-error.ts';
import { withFlatCalls } from '../generation/flat-calls.ts';
import type { Places } from '../generation/own-places.ts';
import {
  callsOf,
  type AnswerPart,
  type Content,
  type ImagePart,
  type JsonObject,
  type Message,
  type ToolCall,
} from '../../models/language-model.ts';

type SentMessage = NonNullable<NonNullable<components['schemas']['InvokeRequest']>['messages']>[number];
type SentCall = NonNullable<SentMessage['tool_calls']>[number];
type SentPart = Exclude<NonNullable<SentMessage['content']>, string>[number];

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
        return {
          role,
          toolCallId,
          toolName: toolName ?? '',
          content: toContent(content),
          ...(message.is_error === true && { isError: true }),
        };
      }
      case 'assistant': {
        const said = withFlatCalls(typeof content === 'string' ? content : content.map(toPart), calls.map(toToolCall));
        for (const call of callsOf({ content: said })) names.set(call.id, call.name);
        return { role, content: said };
      }
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

/** Only assistants have other parts. */
function toContent(content: NonNullable<SentMessage['content']>): Content {
  if (typeof content === 'string') return content;
  return content.map(({ type, text = '', url = '', cache_control }) => {
    const hint = cache_control && { cache_control };
    return type === 'image' ? { type, url, ...hint } : { type: 'text', text, ...hint };
  });
}

function toPart({ type, text = '', url = '', provider_metadata: sent, ...call }: SentPart): AnswerPart | ImagePart {
  const metadata = sent && { provider_metadata: sent as JsonObject };
  switch (type) {
    case 'text':
      return { type, text, ...(call.cache_control && { cache_control: call.cache_control }) };
    case 'image':
      return { type, url };
    case 'thinking':
      return { type, text, ...metadata };
    case 'tool-call':
      return { type, id: call.id ?? '', name: call.name ?? '', arguments: call.arguments ?? '', ...metadata };
  }
}

function toToolCall({ id, name, arguments: text, provider_metadata: metadata }: SentCall): ToolCall {
  return { id, name, arguments: text, ...(metadata !== undefined && { provider_metadata: metadata as JsonObject }) };
}

/** Calls can be parts of the content: where the first, second, … call of a message is. */
export function conversationPlaces(sent: readonly SentMessage[]): Places {
  return [
    [
      /^#\/messages\/(\d+)\/tool_calls\/(\d+)/,
      (_, index, number) => {
        const { content = '', tool_calls: calls = [] } = sent[Number(index)] ?? {};
        const parts = typeof content === 'string' ? [] : content;
        const places = [
          ...parts.flatMap(({ type }, at) => (type === 'tool-call' ? [`content/${at}`] : [])),
          ...calls.map((_call, at) => `tool_calls/${at}`),
        ];
        return `#/messages/${index}/${places[Number(number)]}`;
      },
    ],
  ];
}
