import type { components } from '../../../generated/types.ts';
import { CallFlattener } from '../generation/flat-calls.ts';
import {
  isCut,
  type GenerateRequest,
  type GenerateResult,
  type ResponseFormat,
  type Tool,
  type ToolCall,
  type ToolChoice,
  type Usage,
} from '../../models/language-model.ts';

export type ResponseResource = components['schemas']['ResponseResource'];
export type ResponseItem = components['schemas']['ResponseItem'];
export type ResponsePart = components['schemas']['ResponsePart'];

/** What is known about a response before the model answers. */
export interface ResponseHead {
  /** A UUID that the ids of the response and of its items are made of. */
  readonly id: string;
  readonly createdAt: Date;
  /** `<provider>/<model>` */
  readonly model: string;
  /** What is sent to the model. */
  readonly request: Pick<GenerateRequest, 'parameters' | 'responseFormat' | 'tools' | 'toolChoice'>;
  readonly prompt: { readonly id: string; readonly version: number } | undefined;
  readonly instructions: string | null;
  readonly metadata: Record<string, string>;
}

export type ResponseState = Pick<
  ResponseResource,
  'status' | 'completed_at' | 'error' | 'incomplete_details' | 'output' | 'usage'
>;

/** A response whose answer has not ended. */
export const inProgress: ResponseState = {
  status: 'in_progress',
  completed_at: null,
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
};

/** Has the members of both specifications, also those that this service always answers the same. */
export function toResponse(head: ResponseHead, state: ResponseState): ResponseResource {
  const { request, prompt } = head;
  const { parameters = {}, responseFormat, tools = [], toolChoice = 'auto' } = request;
  return {
    id: `resp_${compact(head.id)}`,
    object: 'response',
    created_at: seconds(head.createdAt),
    ...state,
    model: head.model,
    prompt: prompt === undefined ? null : { id: prompt.id, version: String(prompt.version) },
    instructions: head.instructions,
    text: { format: formatOf(responseFormat) },
    tools: tools.map(toolOf),
    tool_choice: choiceOf(toolChoice),
    parallel_tool_calls: parameters.parallel_tool_calls ?? true,
    temperature: parameters.temperature ?? 1,
    top_p: parameters.top_p ?? 1,
    presence_penalty: parameters.presence_penalty ?? 0,
    frequency_penalty: parameters.frequency_penalty ?? 0,
    max_output_tokens: parameters.max_output_tokens ?? null,
    reasoning: { effort: parameters.reasoning_effort ?? null, summary: null },
    metadata: head.metadata,
    store: false,
    background: false,
    truncation: 'disabled',
    service_tier: 'default',
    top_logprobs: 0,
    max_tool_calls: null,
    previous_response_id: null,
    safety_identifier: null,
    prompt_cache_key: null,
    access_programs: null,
  };
}

/** The end of a response: its status follows from why the model stopped. */
export function endOf(
  { finishReason, refusal, usage }: Pick<GenerateResult, 'finishReason' | 'refusal' | 'usage'>,
  output: ResponseItem[],
  now: Date,
): ResponseState {
  const state = { ...inProgress, output, usage: usageOf(usage) };
  const completed = { ...state, status: 'completed', completed_at: seconds(now) } as const;
  switch (finishReason) {
    case 'length':
      return { ...state, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    case 'content-filter':
      // A model that refuses has answered.
      if (refusal !== undefined) return completed;
      return { ...state, status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
    case 'error': {
      const error = { code: 'server_error', message: 'The provider ended the answer with an error.' } as const;
      return { ...state, status: 'failed', error };
    }
    case 'stop':
    case 'tool-calls':
    case 'other':
      return completed;
  }
}

/** The items of a whole answer, in its order. An answer without any text or call is an empty message. */
export function itemsOf({ id }: ResponseHead, result: GenerateResult): ResponseItem[] {
  const flattener = new CallFlattener();
  const items: ResponseItem[] = [];
  const last = result.content.at(-1);
  const lastStatus = isCut(result) ? 'incomplete' : 'completed';
  for (const part of result.content) {
    const call = flattener.add(part);
    const status = part === last ? lastStatus : 'completed';
    if (part.type === 'text') items.push(messageItem(id, items.length, textPart(part.text), status));
    else if (call !== undefined) items.push(callItem(id, items.length, call, 'completed'));
  }
  if (result.refusal !== undefined) items.push(messageItem(id, items.length, refusalPart(result.refusal), lastStatus));
  return items.length > 0 ? items : [messageItem(id, 0, textPart(''), lastStatus)];
}

/** @param part undefined as long as the message is empty */
export function messageItem(
  responseId: string,
  index: number,
  part: ResponsePart | undefined,
  status: ResponseItem['status'],
): ResponseItem {
  const content = part === undefined ? [] : [part];
  return { id: `msg_${compact(responseId)}_${index}`, type: 'message', status, role: 'assistant', content };
}

export function textPart(text: string): ResponsePart {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function refusalPart(refusal: string): ResponsePart {
  return { type: 'refusal', refusal };
}

export function callItem(
  responseId: string,
  index: number,
  { id, name, arguments: text, provider_metadata }: ToolCall,
  status: ResponseItem['status'],
): ResponseItem {
  return {
    id: `fc_${compact(responseId)}_${index}`,
    type: 'function_call',
    status,
    call_id: id,
    name,
    arguments: text,
    ...(provider_metadata !== undefined && { provider_metadata }),
  };
}

/** `null` unless both numbers that clients expect are known. They also expect those of each kind. */
export function usageOf(usage: Usage): ResponseResource['usage'] {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return null;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

function formatOf(format: ResponseFormat | undefined): ResponseResource['text']['format'] {
  if (format === undefined || format.type === 'text') return { type: 'text' };
  const { schema, name = 'response', description, strict = false } = format;
  if (schema === undefined) return { type: 'json_object' };
  return { type: 'json_schema', name, schema, description: description ?? null, strict };
}

function toolOf({ name, description, parameters, strict }: Tool): ResponseResource['tools'][number] {
  return { type: 'function', name, description: description ?? null, parameters, strict: strict ?? null };
}

function choiceOf(choice: ToolChoice): ResponseResource['tool_choice'] {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.name };
}

function compact(id: string): string {
  return id.replaceAll('-', '');
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}
