import type { components } from '../../../generated/types.ts';
import { toAnthropicError } from '../../base/errors/compatible-error.ts';
import type { ProblemError } from '../../base/errors/problem-error.ts';
import { JsonText, toJsonText } from '../../base/runtime/json-text.ts';
import type { EventEncoder } from '../../http/event-streams.ts';
import type { ProblemDetails } from '../../http/problem-response.ts';
import { serverSentEvent } from '../../http/server-sent-events.ts';
import {
  withoutBlank,
  type FinishReason,
  type GenerateResult,
  type OriginalPiece,
  type ToolCall,
  type Usage,
} from '../../models/language-model.ts';
import type { GeneratedEvent } from '../generation/generator.ts';
import { toCallBlock, toThinkingBlock } from './metadata-blocks.ts';

export type AnthropicMessage = components['schemas']['AnthropicMessage'];
type Block = AnthropicMessage['content'][number];
type StopReason = AnthropicMessage['stop_reason'];

interface StreamEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** @param id of the invocation */
export function toMessage(id: string, model: string, result: GenerateResult): JsonText<AnthropicMessage> {
  const { content, usage } = result;
  return toJsonText<AnthropicMessage>({
    ...headOf(id, model),
    content: content.flatMap((part): Block[] => {
      switch (part.type) {
        case 'text':
          return [{ type: 'text', text: part.text, citations: null }];
        case 'thinking':
          return [toThinkingBlock(part.text, part.provider_metadata)];
        case 'tool-call':
          return [...metadataBlocks(part), { ...callOf(part), input: asWritten(withoutBlank(part.arguments)) }];
      }
    }),
    ...endOf(result),
    usage: usageOf(usage),
  });
}

/** Numbers keep the digits that the model wrote. @param text a JSON object */
function asWritten(text: string): JsonText & NonNullable<Block['input']> {
  return new JsonText(text) as JsonText & NonNullable<Block['input']>;
}

/** The block that is open in a stream. */
type OpenBlock = 'text' | 'thinking' | undefined;

/**
 * Writes the events of the Messages API. Blocks follow one another. A call of a tool comes as a whole. A failure is an
 * event `error`, after which nothing follows.
 *
 * @param id of the invocation
 */
export function createMessageEncoder(id: string): EventEncoder<GeneratedEvent> {
  let index = 0;
  let open: OpenBlock;
  let thinking = '';

  const write = (event: StreamEvent): string => serverSentEvent(event, event.type);
  const add = (delta: object): string => write({ type: 'content_block_delta', index, delta });
  const start = (block: object): string => write({ type: 'content_block_start', index, content_block: block });
  const stop = (): string => write({ type: 'content_block_stop', index: index++ });
  const close = (): string => {
    if (open === undefined) return '';
    open = undefined;
    return stop();
  };
  const openThinking = (): string => {
    if (open === 'thinking') return '';
    const closed = close();
    open = 'thinking';
    thinking = '';
    return closed + start({ type: 'thinking', thinking: '', signature: '' });
  };

  return {
    encode(event) {
      switch (event.type) {
        case 'start': {
          const head = headOf(id, `${event.provider}/${event.model}`);
          const message = { ...head, content: [], ...noEnd, usage: usageOf({}) };
          return write({ type: 'message_start', message }) + write({ type: 'ping' });
        }
        case 'text': {
          const opened = open === 'text' ? '' : close() + start({ type: 'text', text: '', citations: null });
          open = 'text';
          return opened + add({ type: 'text_delta', text: event.delta });
        }
        case 'thinking': {
          const opened = openThinking();
          thinking += event.delta;
          return opened + add({ type: 'thinking_delta', thinking: event.delta });
        }
        case 'thinking-end': {
          const block = toThinkingBlock(open === 'thinking' ? thinking : '', event.provider_metadata);
          if (block.type === 'redacted_thinking') return close() + start(block) + stop();
          const opened = openThinking();
          const signed = block.signature === '' ? '' : add({ type: 'signature_delta', signature: block.signature });
          return opened + signed + close();
        }
        case 'tool-call': {
          const closed = close();
          const before = metadataBlocks(event).map((block) => start(block) + stop());
          const begun = start({ ...callOf(event), input: {} });
          const whole = add({ type: 'input_json_delta', partial_json: withoutBlank(event.arguments) });
          return [closed, ...before, begun, whole, stop()].join('');
        }
        case 'original':
        case 'refusal':
          return '';
        case 'finish': {
          const { result } = event.generated;
          const closed = close();
          const delta = { ...endOf(result), container: null };
          return (
            closed +
            write({ type: 'message_delta', delta, usage: usageOf(result.usage) }) +
            write({ type: 'message_stop' })
          );
        }
      }
    },
    fail: writeError,
  };
}

/** Writes the events of Anthropic itself as they came. */
export function createOriginalEncoder(): EventEncoder<GeneratedEvent> {
  return {
    encode: (event) => (event.type === 'original' ? serverSentEvent(dataOf(event), event.name) : ''),
    fail: writeError,
  };
}

/** The data of an event; of several that were joined, that of one that adds as much. */
function dataOf({ name, data, added }: OriginalPiece): string {
  if (data !== '' || added === undefined) return data;
  const { index, kind, member, text } = added;
  return JSON.stringify({ type: name, index, delta: { type: kind, [member]: text } });
}

function writeError(_problem: ProblemError, details: ProblemDetails): string {
  const error = toAnthropicError(details, details.request_id);
  return serverSentEvent(error, error.type);
}

/** What is the same for all answers of this service, in the order of Anthropic's. */
function headOf(
  id: string,
  model: string,
): Pick<AnthropicMessage, 'id' | 'type' | 'role' | 'model'> & { readonly container: null; readonly diagnostics: null } {
  const made = `msg_${id.replaceAll('-', '')}`;
  return { id: made, type: 'message', role: 'assistant', model, container: null, diagnostics: null };
}

const noEnd = { stop_reason: null, stop_sequence: null, stop_details: null };

function endOf({
  finishReason,
  refusal,
}: Pick<GenerateResult, 'finishReason' | 'refusal'>): Pick<
  AnthropicMessage,
  'stop_reason' | 'stop_sequence' | 'stop_details'
> {
  const details = refusal === undefined ? null : { type: 'refusal', category: null, explanation: refusal };
  return { ...noEnd, stop_reason: stopReasons[finishReason], stop_details: details };
}

const stopReasons: Readonly<Record<FinishReason, StopReason>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  error: 'end_turn',
  other: 'end_turn',
};

/** The SDKs of the API expect numbers, so what the provider does not give is 0. */
function usageOf(usage: Usage): AnthropicMessage['usage'] {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens: read = 0, cacheWriteInputTokens: written = 0 } = usage;
  const { reasoningTokens: thinking } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - read - written),
    output_tokens: outputTokens,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    cache_creation: null,
    output_tokens_details: thinking === undefined ? null : { thinking_tokens: thinking },
    inference_geo: null,
    server_tool_use: null,
    service_tier: null,
    speed: null,
  };
}

function callOf({ id, name }: ToolCall): { type: 'tool_use'; id: string; name: string; caller: object } {
  return { type: 'tool_use', id, name, caller: { type: 'direct' } };
}

function metadataBlocks({ id, provider_metadata: metadata }: ToolCall): ReturnType<typeof toCallBlock>[] {
  return metadata === undefined ? [] : [toCallBlock(metadata, id)];
}
