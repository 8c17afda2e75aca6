import type { operations } from '../../generated/types.ts';
import type { FinishReason, GenerateResult, ToolCall, Usage } from '../providers/generation.ts';
import { toExtraContent } from './chat-request.ts';

export type ChatCompletion = operations['createChatCompletion']['responses'][200]['content']['application/json'];
type Choice = ChatCompletion['choices'][number];

/** What all parts of an answer repeat. */
export interface ChatHead {
  /** A UUID. */
  readonly id: string;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
}

/** A whole answer. @param model `<provider>/<model>` that answered */
export function toChatCompletion(head: ChatHead, model: string, result: GenerateResult): ChatCompletion {
  const { text, toolCalls = [], finishReason, usage } = result;
  return {
    ...headOf(head, 'chat.completion'),
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && toolCalls.length > 0 ? null : text,
          refusal: null,
          ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toChatCall) }),
        },
        logprobs: null,
        finish_reason: reasonOf(finishReason),
      },
    ],
    usage: usageOf(usage),
  };
}

function headOf<Kind extends string>(
  { id, createdAt }: ChatHead,
  object: Kind,
): { id: string; object: Kind; created: number } {
  return { id: `chatcmpl-${id.replaceAll('-', '')}`, object, created: Math.floor(createdAt / 1000) };
}

type ChatToolCall = NonNullable<Choice['message']['tool_calls']>[number];

function toChatCall({ id, name, arguments: text, provider_metadata: metadata }: ToolCall): ChatToolCall {
  return {
    ...{ id, type: 'function', function: { name, arguments: text } },
    ...(metadata !== undefined && { extra_content: toExtraContent(metadata) }),
  };
}

function reasonOf(reason: FinishReason): Choice['finish_reason'] {
  switch (reason) {
    case 'content-filter':
      return 'content_filter';
    case 'tool-calls':
      return 'tool_calls';
    default:
      return reason;
  }
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens }: Usage): ChatCompletion['usage'] {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedInputTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedInputTokens } }),
    ...(reasoningTokens !== undefined && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}
