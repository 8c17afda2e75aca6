import type { components } from '../../../generated/types.ts';
import { withFlatCalls } from '../generation/flat-calls.ts';
import type {
  Content,
  JsonObject,
  Message,
  Parameters,
  ResponseFormat,
  ToolCall,
} from '../../models/language-model.ts';
import type { Places } from '../generation/own-places.ts';
import type { RequestedGeneration } from '../compatible/compatible-invocations.ts';
import { cacheHintOf, requestedGeneration } from './requested-generation.ts';
import { conflict } from '../compatible/target.ts';
import { withoutNulls, type WithoutNulls } from '../compatible/without-nulls.ts';
import { defined } from '../../base/runtime/objects.ts';

export type ResponseCreate = components['schemas']['ResponseCreate'];
type Sent = WithoutNulls<ResponseCreate>;
type Item = Exclude<Sent['input'], string | undefined>[number];
type Part = Exclude<Item['content'], string | undefined>[number];

/**
 * Translates a request of the Responses API.
 *
 * @throws {ProblemError} conflicting-members with the place: an image that is not a user's, a result without its call
 */
export function readResponseCreate(sent: ResponseCreate): RequestedGeneration {
  const body = withoutNulls(sent);
  return requestedGeneration({
    messages: messagesOf(body),
    parameters: parametersOf(body),
    responseFormat: formatOf(body),
    tools: body.tools,
    toolChoice: body.tool_choice,
  });
}

/** Where the members of this API are that other parts of the service name differently. */
export function responsePlaces(body: Pick<ResponseCreate, 'instructions' | 'input'>): Places {
  return [
    [/^#\/parameters\/reasoning_effort/, '#/reasoning/effort'],
    [/^#\/parameters\//, '#/'],
    [/^#\/response_format/, '#/text/format'],
    [
      /^#\/messages\/(\d+)(?:\/tool_calls\/(\d+))?/,
      (_, message, call) => placesOf(body)[Number(message)]?.[call === undefined ? 0 : Number(call) + 1] ?? '#/input',
    ],
  ];
}

/** For each message that a request becomes: where it is, then where its calls are. */
function placesOf({ instructions, input }: Pick<ResponseCreate, 'instructions' | 'input'>): string[][] {
  const places = typeof instructions === 'string' ? [['#/instructions']] : [];
  if (!Array.isArray(input)) return [...places, ['#/input']];
  let takesCalls = false;
  for (const [index, { type, role }] of input.entries()) {
    const place = `#/input/${index}`;
    if (type !== 'function_call') places.push([place]);
    else if (takesCalls) places.at(-1)?.push(place);
    else places.push([place, place]);
    takesCalls = type === 'function_call' || role === 'assistant';
  }
  return places;
}

function messagesOf({ instructions, input = [] }: Sent): Message[] {
  const messages: Message[] = instructions === undefined ? [] : [{ role: 'system', content: instructions }];
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }];
  const toolNames = new Map<string, string>();
  for (const [index, item] of input.entries()) {
    const pointer = `#/input/${index}`;
    switch (item.type) {
      case 'function_call':
        toolNames.set(String(item.call_id), String(item.name));
        addCall(messages, toCall(item));
        break;
      case 'function_call_output':
        messages.push(toResult(item, toolNames, pointer));
        break;
      default:
        messages.push({ role: item.role ?? 'user', content: contentOf(item, pointer) });
    }
  }
  return messages;
}

/** The calls that follow a message of the assistant belong to it, as the model made them together. */
function addCall(messages: Message[], call: ToolCall): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') messages.push({ role: 'assistant', content: withFlatCalls('', [call]) });
  else messages[messages.length - 1] = { ...last, content: withFlatCalls(last.content, [call]) };
}

function toCall({ call_id, name, arguments: text, provider_metadata: metadata }: Item): ToolCall {
  return {
    id: call_id ?? '',
    name: name ?? '',
    arguments: text ?? '',
    ...(metadata !== undefined && { provider_metadata: metadata as JsonObject }),
  };
}

function toResult({ call_id, output }: Item, toolNames: ReadonlyMap<string, string>, pointer: string): Message {
  const toolCallId = call_id ?? '';
  const toolName = toolNames.get(toolCallId);
  if (toolName === undefined) throw conflict(`${pointer}/call_id`, 'must be the call_id of a function_call before it');
  if (typeof output === 'string') return { role: 'tool', toolCallId, toolName, content: output };
  const content = (output ?? []).map((part) => ({ type: 'text' as const, text: part.text, ...cacheHintOf(part) }));
  return { role: 'tool', toolCallId, toolName, content };
}

function contentOf({ role, content }: Item, pointer: string): Content {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part, index) => {
    const hint = cacheHintOf(part);
    if (part.type !== 'input_image') return { type: 'text', text: textOf(part), ...hint };
    if (role !== 'user') throw conflict(`${pointer}/content/${index}`, 'is an image, which only a user can send');
    return { type: 'image', url: part.image_url ?? '', ...hint };
  });
}

function textOf({ text, refusal }: Part): string {
  return text ?? refusal ?? '';
}

function parametersOf(body: Sent): Parameters {
  const { temperature, top_p, presence_penalty, frequency_penalty, max_output_tokens, parallel_tool_calls } = body;
  const { effort } = withoutNulls(body.reasoning ?? {});
  return defined({
    temperature,
    top_p,
    presence_penalty,
    frequency_penalty,
    max_output_tokens,
    parallel_tool_calls,
    reasoning_effort: effort,
  });
}

function formatOf({ text = {} }: Sent): ResponseFormat | undefined {
  const { format } = withoutNulls(text);
  if (format === undefined) return undefined;
  const { type, schema, ...named } = withoutNulls(format);
  if (type === 'text') return { type };
  return { type: 'json', ...(schema !== undefined && { schema: schema as JsonObject }), ...named };
}
