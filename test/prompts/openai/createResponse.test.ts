import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import { mockToolCalls } from '../../support/mock-provider.ts';
import { problem, problemIn, startAnother } from '../../support/per-operation.ts';
import type { Answer, CallOptions, TestService } from '../../support/service.ts';
import { eventSchema, responseSchema } from './open-responses.ts';

let harness: InvokeHarness;

beforeAll(async () => {
  harness = await startInvokeHarness();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

function create(body: object, options: CallOptions = {}): Promise<Answer> {
  return harness.service.call('POST', '/v1/responses', { ...options, body });
}

/** A request that calls the provider `mock` directly. */
function direct(members: object = {}, options?: CallOptions): Promise<Answer> {
  return create({ model: 'mock/model-a', input: 'Hi', ...members }, options);
}

function sent(index = 0): Record<string, unknown> {
  return harness.mock.requests[index]?.body ?? {};
}

interface Event {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The events of a stream; `[DONE]` ends it. */
function eventsOf({ text }: Answer): Event[] {
  const blocks = text.split('\n\n');
  expect(blocks.slice(-2)).toEqual(['data: [DONE]', '']);
  return blocks.slice(0, -2).flatMap((block) => {
    if (block.startsWith(':')) return [];
    const [name = '', data = ''] = block.split('\n');
    const event = JSON.parse(data.replace('data: ', '')) as Event;
    expect(name).toBe(`event: ${event.type}`);
    return [event];
  });
}

const tool = {
  type: 'function',
  name: 'get_weather',
  description: 'Tells the weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('200', () => {
  it('says what ran', async () => {
    const slug = await harness.createPrompt();
    for (const stream of [false, true]) {
      const ran = ({ status, headers }: Answer): unknown[] => [
        status,
        ...['x-provider', 'x-model', 'x-served-version'].map((name) => headers[name]),
      ];
      expect(ran(await direct({ stream }))).toEqual([200, 'mock', 'model-a', undefined]);
      expect(ran(await direct({ model: 'model-b', stream }))).toEqual([200, 'mock', 'model-b', undefined]);
      const stored = await create({ prompt: { id: slug, version: '1' }, stream });
      expect(ran(stored)).toEqual([200, 'mock', 'model-a', '1']);
    }
  });

  it('answers with a response', async () => {
    const { status, headers, body } = await direct({ metadata: { ticket: '4711' }, instructions: 'Be kind.' });
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      status: 'completed',
      model: 'mock/model-a',
      prompt: null,
      instructions: 'Be kind.',
      metadata: { ticket: '4711' },
      output: [
        {
          id: expect.stringMatching(/^msg_[0-9a-f]{32}_0$/),
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello from model-a.', annotations: [] }],
        },
      ],
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    });
    expect(body.completed_at).toBeGreaterThanOrEqual(body.created_at);
  });

  it('has no usage if the provider gives none', async () => {
    const { body } = await direct({ model: 'mock/mock-nousage' });
    expect([body.status, body.usage]).toEqual(['completed', null]);
  });

  it('sends parameters, tools and formats, and repeats them in the response', async () => {
    const parameters = { temperature: 0.5, top_p: 0.9, presence_penalty: 0.1, frequency_penalty: 0.2 };
    const format = {
      type: 'json_schema',
      name: 'weather',
      schema: { type: 'object' },
      description: null,
      strict: true,
    };
    const members = { ...parameters, max_output_tokens: 50, parallel_tool_calls: false };
    const { body } = await direct({
      ...members,
      tools: [tool],
      tool_choice: { type: 'function', name: 'get_weather' },
      text: { format },
    });
    expect(body).toMatchObject({
      ...members,
      tools: [{ ...tool, strict: null }],
      tool_choice: { type: 'function', name: 'get_weather' },
      text: { format },
    });
    expect(sent()).toMatchObject({
      ...parameters,
      max_tokens: 50,
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: tool.parameters } }],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
    });
  });

  it('repeats what a stored prompt adds', async () => {
    const slug = await harness.createPrompt({
      parameters: { temperature: 0.3, max_output_tokens: 70 },
      tools: [{ name: 'get_weather', parameters: tool.parameters }],
    });
    const { body } = await create({ prompt: { id: slug, variables: { name: 'Ada' } }, temperature: 0.7 });
    expect(body).toMatchObject({
      prompt: { version: '1' },
      temperature: 0.7,
      max_output_tokens: 70,
      tools: [{ type: 'function', name: 'get_weather' }],
    });
  });

  it('accepts null for members that are optional, and values that mean the same as none', async () => {
    const nulls = Object.fromEntries(
      [
        ...['prompt', 'instructions', 'text', 'tools', 'tool_choice', 'parallel_tool_calls', 'temperature', 'top_p'],
        ...['max_output_tokens', 'reasoning', 'stream', 'stream_options', 'metadata', 'include', 'store', 'user'],
        ...['background', 'truncation', 'service_tier', 'top_logprobs', 'max_tool_calls', 'previous_response_id'],
        ...['conversation', 'context_management', 'moderation', 'prompt_cache_options', 'prompt_cache_key'],
      ].map((name) => [name, null]),
    );
    const neutral = {
      background: false,
      truncation: 'disabled',
      service_tier: 'auto',
      top_logprobs: 0,
      stream: false,
      stream_options: { include_obfuscation: false },
      store: true,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: null, summary: 'auto' },
      text: { format: { type: 'text' }, verbosity: 'medium' },
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
    };
    const answers = [await direct(), await direct(nulls), await direct(neutral)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(sent(1)).toEqual(sent(0));
    expect(sent(2)).toEqual(sent(0));
    expect(answers[2]?.body).toMatchObject({ store: false, service_tier: 'default', truncation: 'disabled' });
  });

  it('takes every form of input', async () => {
    await direct({
      input: [
        { role: 'developer', content: 'Short.' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }], status: 'completed', id: null },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }], phase: 'final_answer' },
        { type: 'function_call', call_id: 'a', name: 'get_weather', arguments: '{}', id: 'fc_1', namespace: null },
        { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'Rain' }] },
        { role: 'user', content: 'Thanks' },
      ],
    });
    expect(sent()['messages']).toMatchObject([
      { content: 'Short.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'No.', tool_calls: [{ id: 'a', function: { name: 'get_weather' } }] },
      { role: 'tool', tool_call_id: 'a', content: 'Rain' },
      { role: 'user', content: 'Thanks' },
    ]);
  });

  it('runs a stored prompt for a key that can only invoke prompts', async () => {
    const slug = await harness.createPrompt();
    const { status, body } = await create(
      { model: `prompt/${slug}`, prompt: { variables: { name: 'Ada' } } },
      { key: await harness.service.createKey('prompts:invoke') },
    );
    expect([status, body.model]).toEqual([200, 'mock/model-a']);
    expect(sent()['messages']).toEqual([{ role: 'user', content: 'Hello Ada' }]);
  });

  it('replays the answer of an Idempotency-Key, whole and streamed', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const first = await direct({}, { headers });
    const second = await direct({}, { headers });
    expect([second.headers['idempotency-replayed'], second.text]).toEqual(['true', first.text]);
    const streamed = { headers: { 'Idempotency-Key': 'once-streamed' } };
    const events = eventsOf(await direct({ stream: true }, streamed));
    const replayed = await direct({ stream: true }, streamed);
    expect(replayed.headers['idempotency-replayed']).toBe('true');
    // Its texts come in one piece.
    expect(eventsOf(replayed).at(-1)?.['response']).toEqual(events.at(-1)?.['response']);
    expect(harness.mock.requests).toHaveLength(2);
  });
});

describe('200 as a stream', () => {
  it('that fails after its first event ends with error and response.failed', async () => {
    const answer = await direct({ model: 'mock/mock-error', stream: true });
    expect([answer.status, answer.headers['content-type']]).toEqual([
      200,
      expect.stringMatching(/^text\/event-stream/),
    ]);
    const [error, failed] = eventsOf(answer).slice(-2);
    const { code, message } = error as unknown as { code: string; message: string };
    expect(code).toMatch(/^provider-/);
    expect(error).toMatchObject({ type: 'error', param: null, error: { type: 'server_error', code, message } });
    expect(failed).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'server_error', message },
        output: [{ type: 'message', status: 'incomplete', content: [{ text: 'Hello from' }] }],
      },
    });
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('400', () => {
  const item = { role: 'user', content: 'Hi' };
  const cases: [param: string, members: object][] = [
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['conversation', { conversation: { id: 'conv_1' } }],
    ['background', { background: true }],
    ['truncation', { truncation: 'auto' }],
    ['service_tier', { service_tier: 'flex' }],
    ['top_logprobs', { top_logprobs: 2 }],
    ['max_tool_calls', { max_tool_calls: 3 }],
    ['include[0]', { include: ['message.output_text.logprobs'] }],
    ['text.verbosity', { text: { verbosity: 'low' } }],
    ['text.format.type', { text: { format: { type: 'grammar' } } }],
    ['text.format.schema', { text: { format: { type: 'json_schema', name: 'x' } } }],
    ['reasoning.summary', { reasoning: { summary: 'detailed' } }],
    ['stream_options.include_obfuscation', { stream_options: { include_obfuscation: true } }],
    ['tools[0].type', { tools: [{ type: 'web_search', name: 'x' }] }],
    ['tools[0].type', { tools: [{ type: 'custom', name: 'x' }] }],
    ['tools[0].defer_loading', { tools: [{ ...tool, defer_loading: true }] }],
    ['tool_choice.type', { tool_choice: { type: 'allowed_tools', name: 'x' } }],
    ['temperature', { temperature: 3 }],
    ['prompt.variables.ticket.type', { prompt: { variables: { ticket: { type: 'input_image', text: 'x' } } } }],
    ['input[0].type', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input[0].type', { input: [{ type: 'reasoning', id: 'rs_1' }] }],
    ['input[0].role', { input: [{ role: 'tool', content: 'x' }] }],
    ['input[0].call_id', { input: [{ ...item, call_id: 'a' }] }],
    ['input[0].output', { input: [{ type: 'function_call_output', call_id: 'a' }] }],
    ['input[1].call_id', { input: [item, { type: 'function_call_output', call_id: 'a', output: '' }] }],
    ['input[0].content[0].type', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] }],
    [
      'input[0].content[0]',
      { input: [{ role: 'assistant', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }] },
    ],
    [
      'input[0].content[0].detail',
      {
        input: [
          { role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a', detail: 'high' }] },
        ],
      },
    ],
    ['input', { input: [] }],
    ['input', { input: null }],
  ];
  it.each(cases)('names %s', async (param, members) => {
    const { status, body } = await direct(members);
    expect([status, body.error.type, body.error.param]).toEqual([400, 'invalid_request_error', param]);
    expect(body.error.message).toContain(param);
    expect(harness.mock.requests).toEqual([]);
  });
});

describe('403', () => {
  it('a key for prompts cannot call providers, or give a prompt other tools', async () => {
    const slug = await harness.createPrompt();
    const key = await harness.service.createKey('prompts:invoke');
    for (const body of [
      { model: 'mock/model-a', input: 'Hi' },
      { model: `prompt/${slug}`, tools: [tool] },
    ]) {
      const answer = await create(body, { key });
      expect([answer.status, problemIn(answer.body)]).toEqual([403, problem('insufficient-scope')]);
      expect(answer.headers['www-authenticate']).toContain('providers:invoke');
    }
    expect(harness.mock.requests).toEqual([]);
  });
});

describe('404', () => {
  it.each([
    ['model-not-found', 'gpt-4.1'],
    ['model-not-found', 'nobody/gpt-4.1'],
    ['prompt-not-found', 'prompt/nothing'],
  ])('%s: %s', async (code, model) => {
    const { status, body } = await direct({ model });
    expect([status, body.error.code]).toEqual([404, code]);
  });

  it('version-not-found', async () => {
    const slug = await harness.createPrompt();
    const { status, body } = await create({ prompt: { id: slug, version: '7' } });
    expect([status, body.error]).toMatchObject([404, { code: 'version-not-found' }]);
  });
});

describe('422', () => {
  const item = { role: 'user', content: 'Hi' };
  const image = (image_url: string): object => ({ role: 'user', content: [{ type: 'input_image', image_url }] });
  const ofModel: [code: string, param: string | null, members: object][] = [
    ['provider-not-configured', null, { model: 'openai/gpt-4.1' }],
    [
      'unsupported-by-provider',
      'text.format.schema',
      { model: 'plain/plain-a', text: { format: { type: 'json_schema', name: 'x', schema: {} } } },
    ],
    ['unsupported-by-provider', 'input[0].content[0]', { input: [image('https://images.example.com/a.png')] }],
    ['image-not-allowed', 'input[1].content[0]', { input: [item, image('https://127.0.0.1/a.png')] }],
    ['inconsistent-content', 'tools[1].name', { tools: [tool, tool] }],
  ];
  it.each(ofModel)('%s of a model, at %s', async (code, param, members) => {
    const { status, body } = await direct(members);
    expect([status, body.error.code, body.error.param]).toEqual([422, code, param]);
    expect(harness.mock.requests).toEqual([]);
  });

  const name = { messages: [{ role: 'user', content: 'Hello {{name}}' }] };
  const ofPrompt: [code: string, fields: object, prompt: object][] = [
    ['missing-variables', name, {}],
    ['unknown-variables', { strict: true }, { variables: { nmae: 'Ada' } }],
    [
      'rendered-prompt-too-large',
      { messages: [{ role: 'user', content: '{{a}}'.repeat(5) }] },
      { variables: { a: 'x'.repeat(999_999) } },
    ],
    ['no-provider-selected', { selected_provider: undefined }, {}],
    ['unknown-label', {}, { version: 'production' }],
  ];
  it.each(ofPrompt)('%s of a stored prompt', async (code, fields, prompt) => {
    const slug = await harness.createPrompt({ ...fields });
    const { status, body } = await create({ prompt: { id: slug, ...prompt } });
    expect([status, body.error.code]).toEqual([422, code]);
    expect(harness.mock.requests).toEqual([]);
  });
});

describe('what a provider says to the caller', () => {
  it('429 provider-rate-limited, with the time to wait', async () => {
    const { status, body, headers } = await direct({ model: 'mock/mock-429-300' });
    expect([status, body.error.code]).toEqual([429, 'provider-rate-limited']);
    expect(body.error.type).toBe('rate_limit_error');
    expect([headers['retry-after'], headers['x-should-retry']]).toEqual(['300', 'false']);
    expect(headers['x-provider-status']).toBe('429');
  });

  it.each([
    ['400', 'mock-400', 400],
    ['404', 'mock-404', 404],
  ])('%s: it refuses the request itself', async (said, model, status) => {
    const answer = await direct({ model: `mock/${model}` });
    expect([answer.status, answer.body.error.type]).toEqual([status, 'invalid_request_error']);
    expect([answer.headers['x-provider-status'], answer.headers['x-should-retry']]).toEqual([said, 'false']);
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('502', () => {
  it.each([
    ['provider-failed', 'mock-500'],
    ['provider-refused-credentials', 'mock-401'],
    ['provider-bad-answer', 'mock-garbage'],
  ])('%s, which must not simply be sent again, whole or streamed', async (code, model) => {
    for (const stream of [false, true]) {
      const { status, body, headers } = await direct({ model: `mock/${model}`, stream });
      expect([status, body.error.code, headers['x-should-retry']]).toEqual([502, code, 'false']);
    }
    expect(harness.mock.requests).toHaveLength(2);
  });
});

describe('another process', () => {
  let other: TestService;
  beforeAll(async () => {
    const provider = { id: 'other', base_url: harness.mock.url, models: ['model-a'] };
    const OPENAI_COMPATIBLE_PROVIDERS = JSON.stringify([provider]);
    other = await startAnother(harness.service, { INVOKE_TIMEOUT_MS: '500', OPENAI_COMPATIBLE_PROVIDERS });
  });
  afterAll(() => other.close());

  it('422 unknown-provider: the prompt selects one that it does not know', async () => {
    const prompt = { id: await harness.createPrompt() };
    const { status, body } = await other.call('POST', '/v1/responses', { body: { prompt } });
    expect([status, body.error.code]).toEqual([422, 'unknown-provider']);
  });

  it('502 provider-timeout, which must not simply be sent again', async () => {
    const body = { model: 'other/mock-hang', input: 'Hi' };
    const { status, body: answer, headers } = await other.call('POST', '/v1/responses', { body });
    expect([status, answer.error.code, headers['x-should-retry']]).toEqual([502, 'provider-timeout', 'false']);
    expect(harness.mock.requests).toHaveLength(1);
  });
});

/** The tests of openresponses.org/compliance: their requests, and what they require of the answers. */
describe('Open Responses', () => {
  const message = (content: unknown, role = 'user'): object => ({ type: 'message', role, content });
  /** A red square of one pixel. */
  const image_url =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
  const requests: [name: string, members: object, kind: string][] = [
    ['a text', { input: [message('Say hello in exactly 3 words.')] }, 'message'],
    ['a system prompt', { input: [message('You are a pirate.', 'system'), message('Say hello.')] }, 'message'],
    [
      'a conversation',
      { input: [message('My name is Alice.'), message('Hello Alice!', 'assistant'), message('What is my name?')] },
      'message',
    ],
    [
      'an image',
      {
        input: [
          message([
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url },
          ]),
        ],
      },
      'message',
    ],
    ['a call', { model: 'mock/mock-tools', input: [message('What is the weather?')], tools: [tool] }, 'function_call'],
  ];

  it.each(requests)('%s', async (_name, members, kind) => {
    const { body } = await direct(members);
    const response = responseSchema.parse(body);
    expect(response.status).toBe('completed');
    expect(response.output.map(({ type }) => type)).toContain(kind);
  });

  it.each(requests)('%s, streamed', async (_name, members, kind) => {
    const events = eventsOf(await direct({ ...members, stream: true })).map((event) => eventSchema.parse(event));
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const added = events.flatMap((event) => (event.type === 'response.output_item.added' ? [event.item?.type] : []));
    expect(added).toContain(kind);
    if (kind === 'function_call') {
      const calls = events.filter((event) => event.type === 'response.function_call_arguments.done');
      expect(calls.map((event) => event.arguments)).toEqual(mockToolCalls.map((call) => call.arguments));
    }
  });

  it('the events of a failure', async () => {
    const events = eventsOf(await direct({ model: 'mock/mock-error', stream: true }));
    for (const event of events) eventSchema.parse(event);
  });
});
