import { z } from 'zod';

/**
 * What the Open Responses specification (openresponses.org, release 2026-04-24) requires of responses and of streamed
 * events, as far as this service sends them. All members that the specification does not mark as optional are required.
 */
const integer = z.number().int();

const part = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('output_text'),
    text: z.string(),
    annotations: z.array(z.object({ type: z.literal('url_citation') })),
    logprobs: z.array(z.object({ token: z.string(), logprob: z.number(), bytes: z.array(integer) })).optional(),
  }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
]);

const itemStatus = z.enum(['in_progress', 'completed', 'incomplete']);

const item = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string(),
    status: itemStatus,
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.array(part),
    phase: z.enum(['commentary', 'final_answer']).optional(),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status: itemStatus,
  }),
]);

const choice = z.enum(['none', 'auto', 'required']);
const functionChoice = z.object({ type: z.literal('function'), name: z.string().optional() });

export const responseSchema = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: integer,
  completed_at: integer.nullable(),
  status: z.string(),
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(item),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(
    z.object({
      type: z.literal('function'),
      name: z.string(),
      description: z.string().nullable(),
      parameters: z.record(z.string(), z.unknown()).nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
  tool_choice: z.union([
    functionChoice,
    choice,
    z.object({ type: z.literal('allowed_tools'), tools: z.array(functionChoice), mode: choice }),
  ]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.object({
    format: z.discriminatedUnion('type', [
      z.object({ type: z.literal('text') }),
      z.object({ type: z.literal('json_object') }),
      z.object({
        type: z.literal('json_schema'),
        name: z.string(),
        description: z.string().nullable(),
        strict: z.boolean(),
      }),
    ]),
    verbosity: z.enum(['low', 'medium', 'high']).optional(),
  }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: integer,
  temperature: z.number(),
  reasoning: z
    .object({
      effort: z.enum(['none', 'low', 'medium', 'high', 'xhigh']).nullable(),
      summary: z.enum(['concise', 'detailed', 'auto']).nullable(),
    })
    .nullable(),
  usage: z
    .object({
      input_tokens: integer,
      output_tokens: integer,
      total_tokens: integer,
      input_tokens_details: z.object({ cached_tokens: integer }),
      output_tokens_details: z.object({ reasoning_tokens: integer }),
    })
    .nullable(),
  max_output_tokens: integer.nullable(),
  max_tool_calls: integer.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.unknown(),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});

const sequence = { sequence_number: integer };
const ofItem = { ...sequence, output_index: integer };
const ofPart = { ...ofItem, item_id: z.string(), content_index: integer };

export const eventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.enum([
      'response.created',
      'response.in_progress',
      'response.completed',
      'response.incomplete',
      'response.failed',
    ]),
    ...sequence,
    response: responseSchema,
  }),
  z.object({
    type: z.enum(['response.output_item.added', 'response.output_item.done']),
    ...ofItem,
    item: item.nullable(),
  }),
  z.object({ type: z.enum(['response.content_part.added', 'response.content_part.done']), ...ofPart, part }),
  z.object({ type: z.literal('response.output_text.delta'), ...ofPart, delta: z.string() }),
  z.object({ type: z.literal('response.output_text.done'), ...ofPart, text: z.string() }),
  z.object({
    type: z.literal('response.function_call_arguments.delta'),
    ...ofItem,
    item_id: z.string(),
    delta: z.string(),
  }),
  z.object({
    type: z.literal('response.function_call_arguments.done'),
    ...ofItem,
    item_id: z.string(),
    arguments: z.string(),
  }),
  z.object({
    type: z.literal('error'),
    ...sequence,
    error: z.object({
      type: z.string(),
      code: z.string().nullable(),
      message: z.string(),
      param: z.string().nullable(),
    }),
  }),
]);
