import type { operations } from '../../../generated/types.ts';
import { withFlatCalls } from '../generation/flat-calls.ts';
import {
  textOfMessage,
  type Content,
  type ImagePart,
  type Json,
  type JsonObject,
  type Message,
  type Parameters,
  type ResponseFormat,
  type TextPart,
  type ToolCall,
} from '../../models/language-model.ts';
import type { Places } from '../generation/own-places.ts';
import type { RequestedGeneration } from '../compatible/compatible-invocations.ts';
import { cacheHintOf, readExtra, requestedGeneration } from './requested-generation.ts';
import { conflict } from '../compatible/target.ts';
import { withoutNulls, type WithoutNulls } from '../compatible/without-nulls.ts';
import { defined } from '../../base/runtime/objects.ts';

export type ChatCompletionCreate = operations['createChatCompletion']['requestBody']['content']['application/json'];
type ChatMessage = ChatCompletionCreate['messages'][number];
type ChatToolCall = NonNullable<ChatMessage['tool_calls']>[number];

/**
 * Translates a request of OpenAI's chat completions.
 *
 * @throws {ProblemError} conflicting-members with the place: two different limits, an image that is not a user's, a result
 *   without its call
 */
export function readChatCompletion(sent: ChatCompletionCreate): RequestedGeneration {
  const body = withoutNulls(sent);
  const { tool_choice: choice } = body;
  return requestedGeneration({
    messages: messagesOf(body.messages),
    parameters: parametersOf(body),
    responseFormat: formatOf(body),
    tools: body.tools?.map(({ function: tool, cache_control }) => defined({ ...tool, cache_control })),
    toolChoice: typeof choice === 'object' ? choice.function : choice,
  });
}

/** Where the members of this API are that other parts of the service name differently. */
export const chatPlaces = ({ reasoning_effort: effort }: ChatCompletionCreate): Places => [
  [/^#\/parameters\/reasoning_effort/, typeof effort === 'string' ? '#/reasoning_effort' : '#/reasoning/effort'],
  [/^#\/parameters\/max_output_tokens/, '#/max_completion_tokens'],
  [/^#\/parameters\//, '#/'],
  [/^#\/response_format\/(name|description|schema|strict)/, '#/response_format/json_schema/$1'],
  [/^#\/tools\/(\d+)\/(name|description|parameters|strict)/, '#/tools/$1/function/$2'],
  [/^#\/tool_choice\/name/, '#/tool_choice/function/name'],
  [/^#\/messages\/(\d+)\/content\/(\d+)\/url/, '#/messages/$1/content/$2/image_url/url'],
  [/^#\/messages\/(\d+)\/tool_calls\/(\d+)\/(name|arguments)/, '#/messages/$1/tool_calls/$2/function/$3'],
];

function messagesOf(messages: readonly ChatMessage[]): Message[] {
  const toolNames = new Map<string, string>();
  return messages.map((message, index): Message => {
    const pointer = `#/messages/${index}`;
    switch (message.role) {
      case 'tool': {
        const toolCallId = message.tool_call_id ?? '';
        const toolName = toolNames.get(toolCallId);
        if (toolName === undefined) throw conflict(`${pointer}/tool_call_id`, 'must be the id of a call before it');
        return { role: 'tool', toolCallId, toolName, content: contentOf(message, pointer, false) };
      }
      case 'assistant': {
        const toolCalls = (message.tool_calls ?? []).map(toToolCall);
        for (const { id, name } of toolCalls) toolNames.set(id, name);
        const said = contentOf(message, pointer, false);
        const content = textOfMessage({ content: said }) === '' ? (message.refusal ?? '') : said;
        return { role: 'assistant', content: withFlatCalls(content, toolCalls) };
      }
      case 'user':
        return { role: 'user', content: contentOf(message, pointer, true) };
      case 'system':
      case 'developer':
        return { role: message.role, content: contentOf(message, pointer, false) };
    }
  });
}

function contentOf({ content }: ChatMessage, pointer: string, takesImages: boolean): Content {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part, index): TextPart | ImagePart => {
    const hint = cacheHintOf(part);
    if (part.type !== 'image_url') return { type: 'text', text: part.text ?? part.refusal ?? '', ...hint };
    if (!takesImages) throw conflict(`${pointer}/content/${index}`, 'is an image, which only a user can send');
    return { type: 'image', url: part.image_url?.url ?? '', ...hint };
  });
}

function toToolCall({ id, function: called, extra_content }: ChatToolCall): ToolCall {
  return {
    id,
    name: called.name,
    arguments: called.arguments,
    ...(extra_content !== undefined && { provider_metadata: fromExtraContent(extra_content as JsonObject) }),
  };
}

type Sent = WithoutNulls<ChatCompletionCreate>;

function parametersOf(body: Sent): Parameters {
  const { temperature, top_p, seed, stop, presence_penalty, frequency_penalty, parallel_tool_calls } = body;
  const { max_completion_tokens, max_tokens } = body;
  if (max_completion_tokens !== undefined && max_tokens !== undefined && max_completion_tokens !== max_tokens) {
    throw conflict('#/max_tokens', 'is not equal to max_completion_tokens');
  }
  return defined({
    temperature,
    top_p,
    max_output_tokens: max_completion_tokens ?? max_tokens,
    stop: typeof stop === 'string' ? [stop] : stop,
    seed,
    presence_penalty,
    frequency_penalty,
    reasoning_effort: effortOf(body),
    parallel_tool_calls,
  });
}

/** @throws {ProblemError} conflicting-members */
function effortOf({ reasoning, reasoning_effort: effort }: Sent): Parameters['reasoning_effort'] {
  if (reasoning?.effort === undefined) return effort;
  if (effort !== undefined && effort !== reasoning.effort) {
    throw conflict('#/reasoning/effort', 'is not equal to reasoning_effort');
  }
  return isOnlyEffort(reasoning) ? reasoning.effort : effort;
}

function isOnlyEffort(reasoning: NonNullable<Sent['reasoning']>): boolean {
  return Object.keys(reasoning).every((name) => name === 'effort');
}

/** The members that only some providers have. `reasoning` is one if it has more than what `reasoning_effort` says. */
export function readChatExtra(sent: ChatCompletionCreate): JsonObject {
  const { reasoning } = withoutNulls(sent);
  const isExtra = reasoning !== undefined && !isOnlyEffort(reasoning);
  return { ...readExtra(sent), ...(isExtra && { reasoning }) };
}

function formatOf({ response_format: format }: Sent): ResponseFormat | undefined {
  if (format === undefined) return undefined;
  if (format.type === 'text') return { type: 'text' };
  if (format.json_schema === undefined) return { type: 'json' };
  const { name, description, schema, strict } = withoutNulls(format.json_schema);
  return defined({ type: 'json' as const, schema: schema as JsonObject | undefined, name, description, strict });
}

/**
 * What a provider needs to get back, as this API spells it. Google's own endpoint and clients of it have a thought
 * signature as `extra_content.google.thought_signature`; some return nothing else.
 * https://ai.google.dev/gemini-api/docs/openai
 */
export function toExtraContent(metadata: JsonObject): JsonObject {
  const { call, ...rest } = metadata;
  if (!isObject(call)) return metadata;
  const { thoughtSignature, ...others } = call;
  if (thoughtSignature === undefined) return metadata;
  return {
    ...rest,
    ...(Object.keys(others).length > 0 && { call: others }),
    google: { thought_signature: thoughtSignature },
  };
}

function fromExtraContent(extra: JsonObject): JsonObject {
  const { google, call, ...rest } = extra;
  if (!isObject(google) || google['thought_signature'] === undefined) return extra;
  return { ...rest, call: { ...(isObject(call) && call), thoughtSignature: google['thought_signature'] } };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
