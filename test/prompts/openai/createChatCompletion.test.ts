import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import { problem, problemIn, startAnother } from '../../support/per-operation.ts';
import { counting, untilTotals } from '../../accounting/statistics/statistics-harness.ts';
import type { Answer, CallOptions, TestService } from '../../support/service.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness(counting);
});
afterAll(() => harness.close());
afterEach(() => {
  harness.mock.reset();
});

const messages = [{ role: 'user', content: 'What is a webhook?' }];

function create(body: object, options: CallOptions = {}): Promise<Answer> {
  return harness.service.call('POST', '/v1/chat/completions', { body, ...options });
}

/** What the provider got. */
function sent(): Record<string, unknown> {
  expect(harness.mock.requests).toHaveLength(1);
  return harness.mock.requests[0]?.body ?? {};
}

describe('200', () => {
  it('answers with a model of a provider', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { status, body } = await create({ model: 'mock/model-a', messages });
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
        object: 'chat.completion',
        created: expect.any(Number),
        model: 'mock/model-a',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Hello from model-a.', refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
      },
    ]);
    expect(body.created).toBeGreaterThanOrEqual(before);
    expect(sent()).toEqual({ model: 'model-a', messages });
  });

  it('has no usage if the provider gives none', async () => {
    const { body } = await create({ model: 'mock/mock-nousage', messages });
    expect(body.choices[0].finish_reason).toBe('stop');
    expect(body).not.toHaveProperty('usage');
  });

  it('runs a stored prompt: its messages first, with its variables', async () => {
    const slug = await harness.createPrompt();
    const variables = { name: 'Ada {{name}}' };
    for (const target of [{ model: `prompt/${slug}` }, { prompt: { id: slug } }]) {
      harness.mock.reset();
      const prompt = { ...target.prompt, variables };
      const content = 'And {{name}}?';
      const { status, body } = await create({ ...target, prompt, messages: [{ role: 'user', content }] });
      expect([status, body.model]).toEqual([200, 'mock/model-a']);
      expect(sent()['messages']).toEqual([
        { role: 'user', content: 'Hello Ada {{name}}' },
        { role: 'user', content },
      ]);
    }
  });

  it('runs a version of a stored prompt', async () => {
    const slug = await harness.createPrompt();
    const changed = { messages: [{ role: 'user', content: 'Second' }] };
    await harness.service.call('PUT', `/api/v1/prompts/${slug}`, { body: changed });
    for (const target of [
      { model: `prompt/${slug}@1` },
      { model: `prompt/${slug}`, prompt: { version: '1' } },
      { model: null, prompt: { id: slug, version: '1' } },
      { model: `prompt/${slug}@1`, prompt: { id: slug, version: '1' } },
    ]) {
      harness.mock.reset();
      expect((await create({ ...target, messages: [] })).status).toBe(200);
      expect(sent()['messages']).toEqual([{ role: 'user', content: 'Hello world' }]);
    }
  });

  it('runs a stored prompt on another model', async () => {
    const slug = await harness.createPrompt();
    const { body } = await create({ model: 'mock/model-b', prompt: { id: slug }, messages: [] });
    expect(body.model).toBe('mock/model-b');
    expect(sent()).toMatchObject({ model: 'model-b', messages: [{ content: 'Hello world' }] });
  });

  it('says what ran, also in streams and replays', async () => {
    const slug = await harness.createPrompt();
    await harness.service.call('PUT', `/api/v1/prompts/${slug}`, {
      body: { messages: [{ role: 'user', content: 'B' }] },
    });
    const fallbacks = [{ provider: 'spare', model: 'spare-a' }];
    const broken = await harness.createPrompt({ selected_model: 'mock-500', fallbacks });
    for (const stream of [false, true]) {
      for (const [body, expected] of [
        [{ model: 'mock/model-b', messages }, ['mock', 'model-b', undefined]],
        [{ model: `prompt/${slug}`, messages }, ['mock', 'model-a', '2']],
        [{ model: `prompt/${slug}@1`, messages }, ['mock', 'model-a', '1']],
        [{ model: `prompt/${broken}`, messages }, ['spare', 'spare-a', '1']],
      ] as const) {
        const options = { headers: { 'Idempotency-Key': `ran-${stream}-${body.model}` } };
        for (const { status, headers } of [
          await create({ ...body, stream }, options),
          await create({ ...body, stream }, options),
        ]) {
          const ran = [headers['x-provider'], headers['x-model'], headers['x-served-version']];
          expect([body.model, status, ...ran]).toEqual([body.model, 200, ...expected]);
        }
      }
    }
  });

  it('finds the only configured provider that lists a model', async () => {
    const { status, body } = await create({ model: 'model-b', messages });
    expect([status, body.model, sent()['model']]).toEqual([200, 'mock/model-b', 'model-b']);
    const slug = await harness.createPrompt();
    const stored = await create({ model: 'model-b', prompt: { id: slug }, messages: [] });
    expect([stored.status, stored.body.model]).toEqual([200, 'mock/model-b']);
  });

  it('passes on parameters, tools and the form of the answer', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const tools = [{ type: 'function', function: { name: 'get_weather', description: 'Weather', parameters: schema } }];
    const parameters = {
      temperature: 0.2,
      top_p: 0.9,
      seed: 7,
      presence_penalty: 0.5,
      frequency_penalty: -0.5,
      stop: ['###'],
      reasoning_effort: 'low',
    };
    const tool_choice = { type: 'function', function: { name: 'get_weather' } };
    await create({ model: 'mock/model-a', messages, ...parameters, max_completion_tokens: 50, tools, tool_choice });
    expect(sent()).toMatchObject({ ...parameters, max_tokens: 50, tools, tool_choice });
  });

  it('returns the calls of tools, and takes their results', async () => {
    const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }];
    const first = await create({ model: 'mock/mock-tools', messages, tools });
    const [{ message, finish_reason }] = first.body.choices;
    expect(finish_reason).toBe('tool_calls');
    expect(message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get_weather' } },
      { type: 'function', function: { name: 'get_time' } },
    ]);
    harness.mock.reset();
    const results = message.tool_calls.map(({ id }: { id: string }) => ({
      role: 'tool',
      tool_call_id: id,
      content: [{ type: 'text', text: '21 °C' }],
    }));
    const second = await create({ model: 'mock/model-a', messages: [...messages, message, ...results], tools });
    expect(second.status).toBe(200);
    expect((sent()['messages'] as object[]).slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: message.tool_calls },
      { role: 'tool', tool_call_id: message.tool_calls[0].id, content: '21 °C' },
      { role: 'tool', tool_call_id: message.tool_calls[1].id, content: '21 °C' },
    ]);
  });

  it.each([
    ['tools', { tools: [{ type: 'function', function: { name: 'x', parameters: { title: 'x'.repeat(2 ** 20) } } }] }],
    [
      'response_format',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'x', schema: { title: 'x'.repeat(2 ** 20) } },
        },
      },
    ],
  ])('refuses %s of more than 1 MiB, directly and with a prompt, and calls no provider', async (param, members) => {
    const slug = await harness.createPrompt();
    for (const model of ['mock/model-a', `prompt/${slug}`]) {
      const { status, body } = await create({ model, messages: [{ role: 'user', content: 'x' }], ...members });
      expect([status, body.error.code, body.error.param]).toEqual([422, 'inconsistent-content', param]);
    }
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('takes bodies above 1 MiB, for images', async () => {
    const image_url = { url: `data:image/png;base64,${'A'.repeat(2 * 1024 * 1024)}` };
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url },
    ];
    const { status, body } = await create({ model: 'echo/echo-1', messages: [{ role: 'user', content }] });
    expect([status, body.choices[0].message.content]).toEqual([200, 'What is this?']);
  });

  it('returns thought signatures as Google’s own endpoint does, and takes them back, also without the provider', async () => {
    const google = { thought_signature: 'SIG' };
    const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } };
    const message = { role: 'assistant', content: null, tool_calls: [{ ...call, extra_content: { google } }] };
    const body = JSON.stringify({ id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
    harness.mock.behave('model-a', { kind: 'body', contentType: 'application/json', body });
    const first = await create({ model: 'mock/model-a', messages });
    const [{ extra_content: extra }] = first.body.choices[0].message.tool_calls;
    expect(extra).toEqual({ provider: 'mock', google });

    const result = { role: 'tool', tool_call_id: call.id, content: '21 °C' };
    const returned = async (extra_content: object): Promise<unknown> => {
      harness.mock.reset();
      const assistant = { role: 'assistant', tool_calls: [{ ...call, extra_content }] };
      await create({ model: 'mock/model-a', messages: [...messages, assistant, result] });
      const [, { tool_calls }] = sent()['messages'] as [object, { tool_calls: { extra_content?: unknown }[] }];
      return tool_calls[0]?.extra_content;
    };
    expect(await returned(extra)).toEqual({ google });
    expect(await returned({ google })).toEqual({ google });
    expect(await returned({ provider: 'another', google })).toBeUndefined();
  });

  it('takes null for every optional member, and values that mean the same as none', async () => {
    const neutral = {
      n: 1,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      modalities: ['text'],
      service_tier: 'auto',
      verbosity: 'medium',
      functions: [],
      stream: false,
      store: true,
      user: 'u',
      metadata: { a: 'b' },
      safety_identifier: 's',
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
    };
    expect((await create({ model: 'mock/model-a', messages, ...neutral })).status).toBe(200);
    expect(sent()).toEqual({ model: 'model-a', messages });
    harness.mock.reset();
    const names = [
      ...Object.keys(neutral),
      ...['prompt', 'temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'stop', 'seed', 'presence_penalty'],
      ...['frequency_penalty', 'reasoning_effort', 'parallel_tool_calls', 'response_format', 'tools', 'tool_choice'],
      ...['stream_options', 'function_call', 'audio', 'moderation', 'prediction', 'web_search_options'],
    ];
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    expect((await create({ model: 'mock/model-a', messages, ...nulls })).status).toBe(200);
    expect(sent()).toEqual({ model: 'model-a', messages });
  });
});

describe('400', () => {
  it.each([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['top_logprobs', { top_logprobs: 2 }],
    ['logit_bias[50256]', { logit_bias: { 50256: -100 } }],
    ['audio', { audio: { voice: 'alloy', format: 'wav' } }],
    ['modalities[0]', { modalities: ['audio'] }],
    ['prediction', { prediction: { type: 'content', content: 'x' } }],
    ['web_search_options', { web_search_options: {} }],
    ['service_tier', { service_tier: 'flex' }],
    ['verbosity', { verbosity: 'low' }],
    ['functions', { functions: [{ name: 'f' }] }],
    ['function_call', { function_call: 'auto' }],
    ['tools[0].type', { tools: [{ type: 'custom', custom: { name: 'c' } }] }],
    ['provider_options', { provider_options: { openai: { model: 'x' } } }],
    ['messages[0].role', { messages: [{ role: 'function', name: 'f', content: 'x' }] }],
    ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] }],
    ['prompt.variables.a', { prompt: { id: 'x', variables: { a: 1 } } }],
  ])('invalid-request names what is not supported: %s', async (param, members) => {
    const { status, body } = await create({ model: 'mock/model-a', messages, ...members });
    expect([status, body.error.code]).toEqual([400, 'invalid-request']);
    const named = `${String(body.error.param)} ${String(body.error.message)}`;
    expect(named).toContain(param);
    expect(harness.mock.requests).toHaveLength(0);
  });

  const image = { type: 'image_url', image_url: { url: 'https://images.example.com/a.png' } };

  it.each([
    ['prompt.id', { model: 'prompt/one', prompt: { id: 'two' } }],
    ['prompt.version', { model: 'prompt/one@1', prompt: { version: '2' } }],
    ['prompt.id', { model: 'mock/model-a', prompt: { variables: { a: 'b' } } }],
    ['model', {}],
    ['messages', { model: 'mock/model-a', messages: [] }],
    ['max_tokens', { model: 'mock/model-a', max_tokens: 1, max_completion_tokens: 2 }],
    [
      'messages[0].tool_call_id',
      { model: 'mock/model-a', messages: [{ role: 'tool', tool_call_id: 'c', content: 'x' }] },
    ],
    ['messages[0].content[0]', { model: 'mock/model-a', messages: [{ role: 'system', content: [image] }] }],
  ])('conflicting-members: %s', async (param, members) => {
    const { status, body } = await create({ messages, ...members });
    expect([status, body.error]).toMatchObject([400, { code: 'conflicting-members', param }]);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('403', () => {
  it.each([
    ['mock/model-a', 'prompts:invoke', {}],
    ['prompt/greeting', 'providers:invoke', {}],
    ['prompt/greeting', 'prompts:invoke', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['prompt/greeting', 'prompts:invoke', { tool_choice: 'none' }],
  ] as const)('insufficient-scope: %s with %s only (%j)', async (model, scope, members) => {
    const key = await harness.service.createKey(scope);
    const { status, body } = await create({ model, messages, ...members }, { key });
    expect([status, problemIn(body)]).toEqual([403, problem('insufficient-scope')]);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('404', () => {
  it.each([
    ['model-not-found', 'gpt-4.1'],
    ['model-not-found', 'nobody/gpt-4.1'],
    ['prompt-not-found', 'prompt/nothing'],
  ])('%s: %s', async (code, model) => {
    const { status, body } = await create({ model, messages });
    expect([status, body.error.code]).toEqual([404, code]);
  });

  it('version-not-found', async () => {
    const slug = await harness.createPrompt();
    const { status, body } = await create({ model: `prompt/${slug}@7`, messages });
    expect([status, body.error.code]).toEqual([404, 'version-not-found']);
  });
});

describe('422', () => {
  it('missing-variables', async () => {
    const slug = await harness.createPrompt({ messages: [{ role: 'user', content: 'Hello {{name}}' }] });
    const { status, body } = await create({ model: `prompt/${slug}`, messages: [] });
    expect([status, body.error.code]).toEqual([422, 'missing-variables']);
    expect(body.error.message).toContain('name');
  });

  it('unknown-variables, at their place in this API', async () => {
    const slug = await harness.createPrompt({ strict: true });
    const { status, body } = await create({
      model: `prompt/${slug}`,
      prompt: { variables: { nam: 'x' } },
      messages: [],
    });
    expect([status, body.error]).toMatchObject([422, { code: 'unknown-variables', param: 'prompt.variables.nam' }]);
  });

  it('provider-not-configured', async () => {
    const { status, body } = await create({ model: 'openai/gpt-4.1', messages });
    expect([status, body.error.code]).toEqual([422, 'provider-not-configured']);
  });

  it('no-provider-selected', async () => {
    const slug = await harness.createPrompt({ selected_provider: undefined });
    const { status, body } = await create({ model: `prompt/${slug}`, messages: [] });
    expect([status, body.error.code]).toEqual([422, 'no-provider-selected']);
  });

  it('unsupported-by-provider: an image that the provider does not take', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://images.example.com/a.png' } };
    const { status, body } = await create({ model: 'mock/model-a', messages: [{ role: 'user', content: [image] }] });
    expect([status, body.error]).toMatchObject([
      422,
      { code: 'unsupported-by-provider', param: expect.stringMatching(/^messages\[0\]\.content\[0\]/) },
    ]);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it.each([
    'http://images.example.com/a.png',
    'https://169.254.169.254/a.png',
    's3://bucket/a.png',
    'data:text/html,x',
  ])('image-not-allowed: %s', async (url) => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url } },
    ];
    const { status, body } = await create({ model: 'mock/model-a', messages: [{ role: 'user', content }] });
    expect([status, body.error]).toMatchObject([422, { code: 'image-not-allowed', param: 'messages[0].content[1]' }]);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('inconsistent-content: tools that do not fit together', async () => {
    const tool = { type: 'function', function: { name: 'f' } };
    const { status, body } = await create({ model: 'mock/model-a', messages, tools: [tool, tool] });
    expect([status, body.error]).toMatchObject([
      422,
      { code: 'inconsistent-content', param: 'tools[1].function.name' },
    ]);
  });

  it('unknown-label', async () => {
    const slug = await harness.createPrompt();
    const { status, body } = await create({ model: `prompt/${slug}@production`, messages });
    expect([status, body.error]).toMatchObject([422, { code: 'unknown-label', param: 'prompt.version' }]);
  });

  it('rendered-prompt-too-large', async () => {
    const slug = await harness.createPrompt({ messages: [{ role: 'user', content: '{{a}}'.repeat(10_000) }] });
    const prompt = { variables: { a: 'x'.repeat(10_000) } };
    const { status, body } = await create({ model: `prompt/${slug}`, prompt, messages: [] });
    expect([status, body.error.code]).toEqual([422, 'rendered-prompt-too-large']);
  });
});

describe('200 with a label', () => {
  it('runs the version that the label names', async () => {
    const slug = await harness.createPrompt();
    const path = `/api/v1/prompts/${slug}`;
    await harness.service.call('PUT', `${path}/labels/production`, {
      body: { version: 1 },
      headers: { 'If-None-Match': '*' },
    });
    await harness.service.call('PUT', path, { body: { messages: [{ role: 'user', content: 'Second' }] } });
    expect((await create({ model: `prompt/${slug}@production`, messages: [] })).status).toBe(200);
    expect(sent()['messages']).toEqual([{ role: 'user', content: 'Hello world' }]);
  });
});

describe('what a provider says to the caller', () => {
  it('429 provider-rate-limited, with the time to wait', async () => {
    const { status, body, headers } = await create({ model: 'mock/mock-429-300', messages });
    expect([status, body.error.code]).toEqual([429, 'provider-rate-limited']);
    expect(body.error.type).toBe('rate_limit_error');
    expect([headers['retry-after'], headers['x-should-retry']]).toEqual(['300', 'false']);
    expect(headers['x-provider-status']).toBe('429');
  });

  it.each([
    ['400', 'mock-400', 400],
    ['404', 'mock-404', 404],
  ])('%s: it refuses the request itself', async (said, model, status) => {
    const answer = await create({ model: `mock/${model}`, messages });
    expect([answer.status, answer.body.error.type]).toEqual([status, 'invalid_request_error']);
    expect([answer.headers['x-provider-status'], answer.headers['x-should-retry']]).toEqual([said, 'false']);
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('502', () => {
  it.each([
    ['provider-failed', 'mock-500', 'false'],
    ['provider-refused-credentials', 'mock-401', 'false'],
    ['provider-bad-answer', 'mock-garbage', 'false'],
    ['provider-bad-answer', 'mock-cut', 'false'],
  ])('%s of %s, which must not simply be sent again', async (code, model, shouldRetry) => {
    const { status, body, headers } = await create({ model: `mock/${model}`, messages });
    expect([status, body.error]).toMatchObject([502, { type: 'server_error', code }]);
    expect(headers['x-should-retry']).toBe(shouldRetry);
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('another process', () => {
  let other: TestService;
  beforeAll(async () => {
    const provider = { id: 'other', base_url: harness.mock.url, models: ['model-a'] };
    const OPENAI_COMPATIBLE_PROVIDERS = JSON.stringify([provider]);
    other = await startAnother(harness.service, { INVOKE_TIMEOUT_MS: '2000', OPENAI_COMPATIBLE_PROVIDERS });
  });
  afterAll(() => other.close());

  it('422 unknown-provider: the prompt selects one that it does not know', async () => {
    const slug = await harness.createPrompt();
    const body = { model: `prompt/${slug}`, messages: [] };
    const answer = await other.call('POST', '/v1/chat/completions', { body });
    expect([answer.status, answer.body.error.code]).toEqual([422, 'unknown-provider']);
  });

  it('502 provider-timeout, which must not simply be sent again', async () => {
    const body = { model: 'other/mock-hang', messages };
    const { status, body: answer, headers } = await other.call('POST', '/v1/chat/completions', { body });
    expect([status, answer.error.code, headers['x-should-retry']]).toEqual([502, 'provider-timeout', 'false']);
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('a stream', () => {
  const stream = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    create({ messages, stream: true, ...body }, { headers });
  const dataOf = ({ text }: Answer): string[] =>
    text.split('\n\n').flatMap((block) => (block.startsWith('data: ') ? [block.slice('data: '.length)] : []));
  const textOf = (answer: Answer): string =>
    dataOf(answer)
      .filter((data) => data !== '[DONE]')
      .map((data) => (JSON.parse(data) as Chunk).choices?.[0]?.delta.content ?? '')
      .join('');
  interface Chunk {
    readonly choices?: readonly { readonly delta: { readonly content?: string } }[];
  }

  it('has chunks of the same answer, and ends with [DONE]', async () => {
    const answer = await stream({ model: 'mock/model-a' });
    expect([answer.status, answer.headers['content-type'], answer.headers['x-accel-buffering']]).toEqual([
      ...[200, 'text/event-stream', 'no'],
    ]);
    const data = dataOf(answer);
    expect(data.at(-1)).toBe('[DONE]');
    const chunks = data.slice(0, -1).map((text) => JSON.parse(text) as object);
    const common = { id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/), object: 'chat.completion.chunk' };
    for (const chunk of chunks)
      expect(chunk).toMatchObject({ ...common, model: 'mock/model-a', created: expect.any(Number) });
    expect(chunks[0]).toMatchObject({ choices: [{ delta: { role: 'assistant', content: '' }, finish_reason: null }] });
    expect(chunks.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }] });
    expect(textOf(answer)).toBe('Hello from model-a.');
  });

  it.each(['mock-error', 'mock-cut', 'mock-unended', 'mock-broken'])(
    'ends with an error and without [DONE] if it fails after its first content: %s',
    async (model) => {
      const answer = await stream({ model: `mock/${model}` });
      expect([answer.status, textOf(answer).startsWith('Hello')]).toEqual([200, true]);
      const last = JSON.parse(dataOf(answer).at(-1) ?? '') as object;
      expect(last).toEqual({
        error: {
          message: expect.any(String),
          type: 'server_error',
          param: null,
          code: expect.stringMatching(/^provider-/),
        },
      });
      expect(harness.mock.requests).toHaveLength(1);
    },
  );

  it('is replayed for an Idempotency-Key, also if it has failed', async () => {
    for (const [key, model] of [
      ['whole', 'model-a'],
      ['failed', 'mock-error'],
    ] as const) {
      harness.mock.reset();
      const headers = { 'Idempotency-Key': `stream-${key}` };
      const first = await stream({ model: `mock/${model}` }, headers);
      const again = await stream({ model: `mock/${model}` }, headers);
      expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
      expect(textOf(again)).toBe(textOf(first));
      expect(dataOf(again).at(-1)).toBe(dataOf(first).at(-1));
      expect(harness.mock.requests).toHaveLength(1);
    }
  });

  it('has the status of a failure before its first content', async () => {
    const { status, body } = await stream({ model: 'mock/mock-early-error' });
    expect([status, body.error.type]).toEqual([502, 'server_error']);
  });
});

it('counts invocations of stored prompts, also of streams and failures', async () => {
  const slug = await harness.createPrompt();
  await create({ model: `prompt/${slug}`, messages: [] });
  await create({ model: `prompt/${slug}`, messages: [], stream: true });
  harness.mock.behave('model-a', { kind: 'status', status: 400 });
  await create({ model: `prompt/${slug}`, messages: [] });
  const path = `/api/v1/prompts/${slug}/statistics`;
  const { totals } = await untilTotals(harness.service, path, { invocations: 3 });
  expect(totals).toMatchObject({ errors: 1, input_tokens: 22, output_tokens: 14 });
});
