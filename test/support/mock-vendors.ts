import { crc32 } from 'node:zlib';

/**
 * The wire formats of model providers, as servers write them: whole answers, streams and errors. The server is
 * `mock-provider.ts`.
 */

export interface MockToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON. It is sent as it is, also where the format has it as a value. */
  readonly arguments: string;
}

export type Finish = 'stop' | 'length' | 'tool-calls' | 'content-filter';

/** An answer, as far as vendors differ in how they write it. */
export interface MockAnswer {
  readonly model: string;
  readonly text: string;
  readonly toolCalls: readonly MockToolCall[];
  readonly finish: Finish;
  /** Without usage, vendors that always send usage send zeros. */
  readonly usage: boolean;
}

/** Writes the stream of one answer. Each method returns what goes over the wire. */
export interface StreamWriter {
  start(): string | Buffer;
  text(delta: string): string | Buffer;
  reasoning(delta: string): string | Buffer;
  /** The whole call, in events with a few characters of the arguments each. */
  toolCall(call: MockToolCall): readonly (string | Buffer)[];
  /** An event that carries no content. */
  ping(): string | Buffer;
  /** The format's own end; usage comes in the last event. */
  finish(finish: Finish, usage: boolean): string | Buffer;
  error(code: string, message: string): string | Buffer;
  /** An event whose data is not JSON. */
  garbage(): string | Buffer;
}

export interface Vendor {
  readonly name: string;
  answer(answer: MockAnswer): unknown;
  error(status: number, message: string, code?: string): unknown;
  readonly streamType: string;
  /** @param asked whether the request asks for usage with `stream_options` */
  stream(model: string, asked: boolean): StreamWriter;
}

/** The number of input and output tokens of every answer. */
export const mockUsage = { input: 11, output: 7 };

/**
 * The tokens of models whose names end with `-detailed`, in addition, where the format has them. OpenAI's formats and
 * Google count `cached` in the input, OpenAI's `reasoning` in the output; the others count them beside it. Cohere says
 * more tokens than it bills.
 */
export const mockDetails = { cached: 4, written: 3, writtenForAnHour: 2, reasoning: 5, unbilled: 200 };

const { cached, written, writtenForAnHour, reasoning: thoughts, unbilled } = mockDetails;

/** The tokens that an answer says: those in the name of the model, such as `model-says-900` or `model-says-900-5000`. */
function tokensOf(model: string): { readonly input: number; readonly output: number } {
  const [, output = mockUsage.output, input = mockUsage.input] = /-says-(\d+)(?:-(\d+))?/.exec(model) ?? [];
  return { input: Number(input), output: Number(output) };
}

function isDetailed(model: string): boolean {
  return model.endsWith('-detailed');
}
const created = 1_790_000_000;

/** JSON in the place of a value, as `toJson` writes it. */
function exactly(json: string): string {
  return `${exactMark}${Buffer.from(json, 'utf16le').toString('base64')}`;
}
const exactMark = 'exactly:';

/** Like `JSON.stringify`, with the texts of `exactly` as they are. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes(exactMark)) return text;
  return text.replace(/"exactly:([^"]*)"/g, (_, base64: string) => Buffer.from(base64, 'base64').toString('utf16le'));
}

/** A server-sent event with JSON data; several have several arguments. */
function data(...payloads: readonly unknown[]): string {
  return payloads.map((payload) => `data: ${toJson(payload)}\n\n`).join('');
}

interface NamedEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Server-sent events that are named by the member `type` of their data. */
function named(...payloads: readonly NamedEvent[]): string {
  return payloads.map((payload) => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`).join('');
}

function pieces(text: string, size = 5): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [''];
}

const eventStream = 'text/event-stream; charset=utf-8';
const notJson = 'data: {"never": closed\n\n';

const openai: Vendor = {
  name: 'openai',
  answer: ({ model, text, toolCalls, finish, usage }) => ({
    id: 'chatcmpl-mock',
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text,
          ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(openaiCall) }),
        },
        finish_reason: openaiFinish[finish],
      },
    ],
    ...(usage && { usage: openaiUsage(model) }),
  }),
  error: (_status, message, code = 'mock_error') => ({ error: { message, type: 'mock_error', param: null, code } }),
  streamType: eventStream,
  stream: (model, asked) => openaiStream(model, asked ? 'own-chunk' : 'none'),
};

/** Mistral and Groq send usage unasked, in the last chunk. They need a prefix, because their paths are OpenAI's. */
const mistral: Vendor = { ...openai, name: 'mistral', stream: (model) => openaiStream(model, 'usage') };
const groq: Vendor = { ...openai, name: 'groq', stream: (model) => openaiStream(model, 'x_groq') };

function openaiStream(model: string, usagePlace: 'own-chunk' | 'usage' | 'x_groq' | 'none'): StreamWriter {
  const chunk = (delta: unknown, finish_reason: string | null = null): object => ({
    id: 'chatcmpl-mock',
    object: 'chat.completion.chunk',
    created,
    model,
    choices: [{ index: 0, delta, finish_reason }],
  });
  let calls = 0;
  return {
    start: () => data(chunk({ role: 'assistant', content: '' })),
    text: (content) => data(chunk({ content })),
    reasoning: (reasoning_content) => data(chunk({ reasoning_content })),
    toolCall({ id, name, arguments: input }) {
      const index = calls;
      calls += 1;
      const begin = { index, id, type: 'function', function: { name, arguments: '' } };
      const rest = pieces(input).map((piece) => ({ index, function: { arguments: piece } }));
      return [begin, ...rest].map((call) => data(chunk({ tool_calls: [call] })));
    },
    ping: () => data(chunk({})),
    finish(finish, usage) {
      const last = chunk({}, openaiFinish[finish]);
      const end = 'data: [DONE]\n\n';
      if (!usage || usagePlace === 'none') return data(last) + end;
      if (usagePlace === 'own-chunk') return data(last, { ...last, choices: [], usage: openaiUsage(model) }) + end;
      const counts = usagePlace === 'usage' ? { usage: openaiUsage(model) } : { x_groq: { usage: openaiUsage(model) } };
      return data({ ...last, ...counts }) + end;
    },
    error: (code, message) => data({ error: { message, type: code, param: null, code } }),
    garbage: () => notJson,
  };
}

const openaiFinish: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
};
function openaiUsage(model: string): object {
  const { input, output } = tokensOf(model);
  return {
    ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    ...(isDetailed(model) && {
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: thoughts },
    }),
  };
}

function openaiCall({ id, name, arguments: input }: MockToolCall): unknown {
  return { id, type: 'function', function: { name, arguments: input } };
}

const responses: Vendor = {
  name: 'responses',
  answer: ({ model, text, toolCalls, finish, usage }) => responseObject(model, finish, usage, text, toolCalls),
  error: (status, message, code) => openai.error(status, message, code),
  streamType: eventStream,
  stream(model) {
    const calls: MockToolCall[] = [];
    let text = '';
    let reasoning = '';
    let sequence = 0;
    let next = 0;
    // The text item; a new one follows each call.
    let open: { readonly output_index: number; readonly item_id: string } | undefined;
    let began = 0;
    const events = (...payloads: readonly NamedEvent[]): string =>
      named(...payloads.map((payload) => ({ ...payload, sequence_number: sequence++ })));
    const skeleton = { id: 'resp_mock', object: 'response', created_at: created, model, output: [] };
    const openItem = (): string => {
      if (open !== undefined) return '';
      const item_id = `msg_mock_${next}`;
      open = { output_index: next, item_id };
      next += 1;
      began = text.length;
      const item = { type: 'message', id: item_id, status: 'in_progress', role: 'assistant', content: [] };
      const part = { type: 'output_text', text: '', annotations: [] };
      return events(
        { type: 'response.output_item.added', output_index: open.output_index, item },
        { type: 'response.content_part.added', ...open, content_index: 0, part },
      );
    };
    const closeItem = (): string => {
      if (open === undefined) return '';
      const { output_index, item_id } = open;
      const itemText = text.slice(began);
      const part = { type: 'output_text', text: itemText, annotations: [] };
      const item = { type: 'message', id: item_id, status: 'completed', role: 'assistant', content: [part] };
      const position = { ...open, content_index: 0 };
      open = undefined;
      return events(
        { type: 'response.output_text.done', ...position, text: itemText },
        { type: 'response.content_part.done', ...position, part },
        { type: 'response.output_item.done', output_index, item },
      );
    };
    return {
      start() {
        const response = { ...skeleton, status: 'in_progress' };
        return events({ type: 'response.created', response }, { type: 'response.in_progress', response });
      },
      text(delta) {
        const opened = openItem();
        text += delta;
        return opened + events({ type: 'response.output_text.delta', ...open, content_index: 0, delta });
      },
      reasoning(delta) {
        const position = { item_id: 'rs_mock', output_index: next, summary_index: 0 };
        const part = { type: 'summary_text', text: '' };
        const item = { type: 'reasoning', id: 'rs_mock', summary: [], status: 'in_progress' };
        const opened =
          reasoning === ''
            ? events(
                { type: 'response.output_item.added', output_index: next, item },
                { type: 'response.reasoning_summary_part.added', ...position, part },
              )
            : '';
        reasoning += delta;
        return opened + events({ type: 'response.reasoning_summary_text.delta', ...position, delta });
      },
      toolCall(call) {
        const closed = closeItem();
        calls.push(call);
        const output_index = next;
        next += 1;
        const item = responseCall(call);
        const position = { item_id: item.id, output_index };
        return [
          closed +
            events({
              type: 'response.output_item.added',
              output_index,
              item: { ...item, arguments: '', status: 'in_progress' },
            }),
          ...pieces(call.arguments).map((delta) =>
            events({ type: 'response.function_call_arguments.delta', ...position, delta }),
          ),
          events(
            { type: 'response.function_call_arguments.done', ...position, arguments: call.arguments },
            { type: 'response.output_item.done', output_index, item },
          ),
        ];
      },
      ping: () => events({ type: 'response.in_progress', response: { ...skeleton, status: 'in_progress' } }),
      finish(finish, usage) {
        const closed = closeItem();
        const type = responseReasons[finish] === undefined ? 'response.completed' : 'response.incomplete';
        return closed + events({ type, response: responseObject(model, finish, usage, text, calls) });
      },
      error: (code, message) => events({ type: 'error', code, message, param: null }),
      garbage: () => notJson,
    };
  },
};

function responseCall({ id, name, arguments: input }: MockToolCall): { readonly id: string } & NamedEvent {
  return {
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: input,
    status: 'completed',
  };
}

/** Why a response is incomplete. */
const responseReasons: Readonly<Partial<Record<Finish, string>>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};

function responseObject(
  model: string,
  finish: Finish,
  usage: boolean,
  text: string,
  toolCalls: readonly MockToolCall[],
): object {
  const reason = responseReasons[finish];
  const { input, output } = tokensOf(model);
  const message = {
    type: 'message',
    id: 'msg_mock',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  return {
    id: 'resp_mock',
    object: 'response',
    created_at: created,
    model,
    status: reason === undefined ? 'completed' : 'incomplete',
    ...(reason !== undefined && { incomplete_details: { reason } }),
    output: [...(text === '' && toolCalls.length > 0 ? [] : [message]), ...toolCalls.map(responseCall)],
    ...(usage && {
      usage: {
        ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
        ...(isDetailed(model) && {
          input_tokens_details: { cached_tokens: cached },
          output_tokens_details: { reasoning_tokens: thoughts },
        }),
      },
    }),
  };
}

const anthropic: Vendor = {
  name: 'anthropic',
  answer: ({ model, text, toolCalls, finish, usage }) => ({
    id: 'msg_mock',
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(text === '' && toolCalls.length > 0 ? [] : [{ type: 'text', text }]),
      ...toolCalls.map((call) => ({ ...anthropicCall(call), input: exactly(call.arguments) })),
    ],
    stop_reason: anthropicFinish[finish],
    stop_sequence: null,
    usage: { ...anthropicTokens(usage, model), ...anthropicCache(model) },
  }),
  error: (_status, message, code = 'mock_error') => ({ type: 'error', error: { type: code, message } }),
  streamType: eventStream,
  stream(model) {
    let index = -1;
    let open: 'text' | 'thinking' | undefined;
    const close = (): string => {
      if (open === undefined) return '';
      open = undefined;
      return named({ type: 'content_block_stop', index });
    };
    const enter = (kind: 'text' | 'thinking', content_block: unknown): string => {
      if (open === kind) return '';
      const closed = close();
      open = kind;
      index += 1;
      return closed + named({ type: 'content_block_start', index, content_block });
    };
    const step = (delta: unknown): string => named({ type: 'content_block_delta', index, delta });
    return {
      start: () =>
        named({
          type: 'message_start',
          message: {
            id: 'msg_mock',
            type: 'message',
            role: 'assistant',
            model,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: tokensOf(model).input, output_tokens: 1, ...anthropicCache(model) },
          },
        }),
      text: (text) => enter('text', { type: 'text', text: '' }) + step({ type: 'text_delta', text }),
      reasoning: (thinking) =>
        enter('thinking', { type: 'thinking', thinking: '', signature: '' }) +
        step({ type: 'thinking_delta', thinking }),
      toolCall(call) {
        const closed = close();
        index += 1;
        return [
          closed + named({ type: 'content_block_start', index, content_block: anthropicCall(call) }),
          ...pieces(call.arguments).map((partial_json) => step({ type: 'input_json_delta', partial_json })),
          named({ type: 'content_block_stop', index }),
        ];
      },
      ping: () => named({ type: 'ping' }),
      finish: (finish, usage) =>
        close() +
        named(
          {
            type: 'message_delta',
            delta: { stop_reason: anthropicFinish[finish], stop_sequence: null },
            usage: { ...(!usage && { input_tokens: 0 }), output_tokens: usage ? tokensOf(model).output : 0 },
          },
          { type: 'message_stop' },
        ),
      error: (type, message) => named({ type: 'error', error: { type, message } }),
      garbage: () => `event: content_block_delta\n${notJson}`,
    };
  },
};

const anthropicFinish: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
};

function anthropicCall({ id, name }: MockToolCall): object {
  return { type: 'tool_use', id, name, input: {} };
}

function anthropicTokens(usage: boolean, model: string): object {
  const { input, output } = tokensOf(model);
  return { input_tokens: usage ? input : 0, output_tokens: usage ? output : 0 };
}

function anthropicCache(model: string): object {
  if (!isDetailed(model)) return {};
  return {
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    cache_creation: {
      ephemeral_5m_input_tokens: written - writtenForAnHour,
      ephemeral_1h_input_tokens: writtenForAnHour,
    },
  };
}

const google: Vendor = {
  name: 'google',
  answer: ({ model, text, toolCalls, finish, usage }) =>
    googleChunk(
      model,
      [...(text === '' && toolCalls.length > 0 ? [] : [{ text }]), ...toolCalls.map(googleCall)],
      finish,
      usage ? tokensOf(model).output : undefined,
    ),
  error: (status, message, code = 'MOCK_ERROR') => ({ error: { code: status, message, status: code } }),
  streamType: eventStream,
  stream(model) {
    // Google counts the output so far in each event.
    let count = 0;
    const content = (part: object): string => {
      count = Math.min(count + 1, tokensOf(model).output);
      return data(googleChunk(model, [part], undefined, count));
    };
    return {
      start: () => data(googleChunk(model, [], undefined, 0)),
      text: (text) => content({ text }),
      reasoning: (text) => content({ text, thought: true }),
      // Google sends calls whole.
      toolCall: (call) => [content(googleCall(call))],
      ping: () => data(googleChunk(model, [], undefined, count)),
      finish: (finish, usage) =>
        data(googleChunk(model, [{ text: '' }], finish, usage ? tokensOf(model).output : undefined)),
      error: (status, message) => data({ error: { code: status === 'server_error' ? 500 : 503, message, status } }),
      garbage: () => notJson,
    };
  },
};

function googleChunk(
  modelVersion: string,
  parts: readonly object[],
  finish: Finish | undefined,
  candidatesTokenCount: number | undefined,
): object {
  const { input } = tokensOf(modelVersion);
  return {
    candidates: [
      {
        content: { role: 'model', parts },
        ...(finish !== undefined && { finishReason: googleFinish[finish] }),
        index: 0,
      },
    ],
    ...(candidatesTokenCount !== undefined && {
      usageMetadata: {
        promptTokenCount: input,
        candidatesTokenCount,
        totalTokenCount: input + candidatesTokenCount,
        ...(isDetailed(modelVersion) && { cachedContentTokenCount: cached, thoughtsTokenCount: thoughts }),
      },
    }),
    modelVersion,
  };
}

const googleFinish: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
};

function googleCall({ id, name, arguments: args }: MockToolCall): object {
  return { functionCall: { id, name, args: exactly(args) } };
}

const cohere: Vendor = {
  name: 'cohere',
  answer: ({ model, text, toolCalls, finish, usage }) => ({
    id: 'mock',
    message: {
      role: 'assistant',
      content: [{ type: 'text', text }],
      ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(openaiCall) }),
    },
    finish_reason: cohereFinish[finish],
    usage: cohereUsage(usage, model),
  }),
  error: (_status, message) => ({ id: 'mock', message }),
  streamType: eventStream,
  stream(model) {
    let index = -1;
    let open = false;
    const close = (): string => {
      if (!open) return '';
      open = false;
      return named({ type: 'content-end', index });
    };
    const message = (type: string, content: object): NamedEvent => ({
      type,
      index,
      delta: { message: content },
    });
    const begin = (content: object): string => {
      if (open) return '';
      open = true;
      index += 1;
      return named(message('content-start', { content }));
    };
    return {
      start: () => named({ type: 'message-start', id: 'mock', delta: { message: { role: 'assistant' } } }),
      text: (text) => begin({ type: 'text', text: '' }) + named(message('content-delta', { content: { text } })),
      reasoning: (thinking) =>
        named(message('content-start', { content: { type: 'thinking', thinking: '' } })) +
        named(message('content-delta', { content: { thinking } })) +
        named({ type: 'content-end', index }),
      toolCall(call) {
        const closed = close();
        index += 1;
        return [
          closed + named(message('tool-call-start', { tool_calls: openaiCall({ ...call, arguments: '' }) })),
          ...pieces(call.arguments).map((piece) =>
            named(message('tool-call-delta', { tool_calls: { function: { arguments: piece } } })),
          ),
          named({ type: 'tool-call-end', index }),
        ];
      },
      ping: () => named({ type: 'citation-end', index }),
      finish: (finish, usage) =>
        close() +
        named({
          type: 'message-end',
          delta: { finish_reason: cohereFinish[finish], usage: cohereUsage(usage, model) },
        }),
      error: (_code, text) => named({ type: 'message-end', delta: { finish_reason: 'ERROR', error: text } }),
      garbage: () => notJson,
    };
  },
};

const cohereFinish: Readonly<Record<Finish, string>> = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  'tool-calls': 'TOOL_CALL',
  'content-filter': 'ERROR_TOXIC',
};

function cohereUsage(usage: boolean, model: string): object {
  const { input, output } = tokensOf(model);
  const counts = { input_tokens: usage ? input : 0, output_tokens: usage ? output : 0 };
  const more = isDetailed(model) ? unbilled : 0;
  return { billed_units: counts, tokens: { ...counts, input_tokens: counts.input_tokens + more } };
}

const bedrock: Vendor = {
  name: 'bedrock',
  answer: ({ model, text, toolCalls, finish, usage }) => ({
    output: {
      message: {
        role: 'assistant',
        content: [
          { text },
          ...toolCalls.map(({ id, name, arguments: args }) => ({
            toolUse: { toolUseId: id, name, input: exactly(args) },
          })),
        ],
      },
    },
    stopReason: bedrockFinish[finish],
    metrics: { latencyMs: 1 },
    usage: bedrockUsage(usage, model),
  }),
  error: (_status, message) => ({ message }),
  streamType: 'application/vnd.amazon.eventstream',
  stream(model) {
    let contentBlockIndex = 0;
    const delta = (payload: object): Buffer =>
      frame('event', 'contentBlockDelta', { contentBlockIndex, delta: payload });
    return {
      start: () => frame('event', 'messageStart', { role: 'assistant' }),
      text: (text) => delta({ text }),
      reasoning: (text) => delta({ reasoningContent: { text } }),
      toolCall({ id, name, arguments: args }) {
        contentBlockIndex += 1;
        const start = { toolUse: { toolUseId: id, name } };
        return [
          frame('event', 'contentBlockStart', { contentBlockIndex, start }),
          ...pieces(args).map((piece) => delta({ toolUse: { input: piece } })),
          frame('event', 'contentBlockStop', { contentBlockIndex }),
        ];
      },
      ping: () => frame('event', 'messageStart', { role: 'assistant' }),
      finish: (finish, usage) =>
        Buffer.concat([
          frame('event', 'messageStop', { stopReason: bedrockFinish[finish] }),
          frame('event', 'metadata', { usage: bedrockUsage(usage, model), metrics: { latencyMs: 1 } }),
        ]),
      error: (_code, message) => frame('exception', 'modelStreamErrorException', { message }),
      garbage: () => frame('event', 'contentBlockDelta', '{"never": closed'),
    };
  },
};

const bedrockFinish = { ...anthropicFinish, 'content-filter': 'content_filtered' };

function bedrockUsage(usage: boolean, model: string): object {
  const { input, output } = tokensOf(model);
  const [inputTokens, outputTokens] = usage ? [input, output] : [0, 0];
  return {
    ...{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    ...(isDetailed(model) && {
      cacheReadInputTokens: cached,
      cacheWriteInputTokens: written,
      cacheDetails: [
        { ttl: '5m', inputTokens: written - writtenForAnHour },
        { ttl: '1h', inputTokens: writtenForAnHour },
      ],
    }),
  };
}

/** A message of Amazon's event stream: lengths, headers and payload, each followed by its CRC. */
function frame(kind: 'event' | 'exception', type: string, payload: object | string): Buffer {
  const headers = Buffer.concat(
    Object.entries({ ':message-type': kind, [`:${kind}-type`]: type, ':content-type': 'application/json' }).map(
      ([name, value]) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(Buffer.byteLength(value));
        // 7 is the type of strings.
        return Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(7), length, Buffer.from(value)]);
      },
    ),
  );
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const message = Buffer.alloc(16 + headers.length + body.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(headers.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  headers.copy(message, 12);
  body.copy(message, 12 + headers.length);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

/** An event of Amazon's event stream. */
export function amazonEvent(type: string, payload: object): Buffer {
  return frame('event', type, payload);
}

/** Anthropic's count of the tokens of a request. */
const anthropicCount: Vendor = {
  ...anthropic,
  name: 'anthropic-count',
  answer: ({ model }) => ({ input_tokens: tokensOf(model).input }),
};

const vendors: readonly (readonly [path: RegExp, Vendor])[] = [
  // Of vectors, `mock-embeddings.ts` writes the answers.
  [/\/embeddings(\?|$)/, openai],
  [/\/embed$/, cohere],
  [/:(embedContent|batchEmbedContents)$/, google],
  [/\/model\/[^/]+\/invoke$/, bedrock],
  [/^\/mistral\//, mistral],
  [/^\/groq\//, groq],
  [/\/chat\/completions(\?|$)/, openai],
  [/\/responses(\?|$)/, responses],
  [/\/messages(\?|$)/, anthropic],
  [/\/messages\/count_tokens$/, anthropicCount],
  [/:(generateContent|streamGenerateContent)(\?|$)/, google],
  [/\/converse(-stream)?$/, bedrock],
  [/\/chat$/, cohere],
];

/** The vendor whose API has this path. */
export function findVendor(path: string): Vendor | undefined {
  return vendors.find(([pattern]) => pattern.test(path))?.[1];
}
