import type { operations } from '../../../generated/types.ts';
import { toCompatibleError } from '../../base/errors/compatible-error.ts';
import { CallFlattener, flatCallsOf } from '../generation/flat-calls.ts';
import type { GeneratedEvent } from '../generation/generator.ts';
import type { EventEncoder } from '../../http/event-streams.ts';
import { serverSentEvent } from '../../http/server-sent-events.ts';
import { textOf, type GenerateResult, type ToolCall, type Usage } from '../../models/language-model.ts';
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
  const { refusal = null, usage } = result;
  const text = textOf(result);
  const toolCalls = flatCallsOf(result);
  const counts = usageOf(usage);
  return {
    ...headOf(head, 'chat.completion'),
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && (toolCalls.length > 0 || refusal !== null) ? null : text,
          refusal,
          ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toChatCall) }),
        },
        logprobs: null,
        finish_reason: reasonOf(result),
      },
    ],
    ...(counts !== undefined && { usage: counts }),
  };
}

/**
 * Writes the chunks of an answer that is streamed: first the role, then the pieces, the reason of the end, the usage if
 * it is wanted, and `[DONE]`. A failure is an `error` without `[DONE]`, which the SDKs throw.
 */
export function createChunkEncoder(
  head: ChatHead,
  { includesUsage }: { readonly includesUsage: boolean },
): EventEncoder<GeneratedEvent> {
  let model = '';
  let calls = 0;
  const flattener = new CallFlattener();
  const write = (choices: readonly object[], usage?: ChatUsage): string =>
    serverSentEvent({
      ...headOf(head, 'chat.completion.chunk'),
      model,
      choices,
      // Clients know that a stream has usage by this member.
      ...(includesUsage && { usage: usage ?? null }),
    });
  const piece = (delta: object, finish: string | null = null): string =>
    write([{ index: 0, delta, logprobs: null, finish_reason: finish }]);
  return {
    encode(event) {
      switch (event.type) {
        case 'start':
          model = `${event.provider}/${event.model}`;
          return piece({ role: 'assistant', content: '', refusal: null });
        case 'text':
          return piece({ content: event.delta });
        case 'refusal':
          return piece({ refusal: event.delta });
        case 'thinking':
        case 'thinking-end':
        case 'tool-call': {
          const call = flattener.take(event);
          return call === undefined ? '' : piece({ tool_calls: [{ index: calls++, ...toChatCall(call) }] });
        }
        case 'original':
          return '';
        case 'finish': {
          const { result } = event.generated;
          const usage = usageOf(result.usage);
          const last = includesUsage && usage !== undefined ? write([], usage) : '';
          return piece({}, reasonOf(result)) + last + serverSentEvent('[DONE]');
        }
      }
    },
    fail: (_problem, details) => serverSentEvent(toCompatibleError(details)),
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
    id,
    type: 'function',
    function: { name, arguments: text },
    ...(metadata !== undefined && { extra_content: toExtraContent(metadata) }),
  };
}

/** SDKs with types refuse other reasons than those of OpenAI. A refusal ends with `stop` there. */
function reasonOf({
  finishReason,
  refusal,
}: Pick<GenerateResult, 'finishReason' | 'refusal'>): Choice['finish_reason'] {
  switch (finishReason) {
    case 'content-filter':
      return refusal === undefined ? 'content_filter' : 'stop';
    case 'tool-calls':
      return 'tool_calls';
    case 'length':
      return 'length';
    case 'stop':
    case 'error':
    case 'other':
      return 'stop';
  }
}

type ChatUsage = NonNullable<ChatCompletion['usage']>;

/** Undefined unless both numbers that clients expect are known. */
function usageOf(usage: Usage): ChatUsage | undefined {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedInputTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedInputTokens } }),
    ...(reasoningTokens !== undefined && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}
