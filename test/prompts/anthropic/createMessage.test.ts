import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import { startAnother } from '../../support/per-operation.ts';
import { until } from '../../support/until.ts';
import { readEvents } from '../../support/server-sent-events.ts';
import { counting, untilTotals } from '../../accounting/statistics/statistics-harness.ts';
import type { Answer, CallOptions, TestService } from '../../support/service.ts';

/** Any provider, called by blocks. */
let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness(counting);
});
afterAll(() => harness.close());
afterEach(() => {
  harness.mock.reset();
});

const messages = [{ role: 'user', content: 'What is a webhook?' }];
const model = 'mock/model-a';

function create(body: object, options: CallOptions = {}): Promise<Answer> {
  const headers = { 'anthropic-version': '2023-06-01', ...options.headers };
  return harness.service.call('POST', '/v1/messages', { body: { max_tokens: 100, ...body }, ...options, headers });
}

/** The record of an invocation, as soon as it is there. */
async function recordOf({ headers }: Answer): Promise<unknown> {
  const path = `/api/v1/invocations/${headers['x-invocation-id']}`;
  const { body } = await until(
    () => harness.service.call('GET', path),
    ({ status }) => status === 200,
  );
  return body;
}

/** What the provider got. */
function sent(): Record<string, unknown> {
  expect(harness.mock.requests).toHaveLength(1);
  return harness.mock.requests[0]?.body ?? {};
}

const unknownUsage = {
  cache_creation: null,
  output_tokens_details: null,
  inference_geo: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
};

describe('200', () => {
  it('answers with a model of a provider', async () => {
    const { status, body, headers } = await create({ model, messages });
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
        type: 'message',
        role: 'assistant',
        model,
        container: null,
        diagnostics: null,
        content: [{ type: 'text', text: 'Hello from model-a.', citations: null }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        stop_details: null,
        usage: {
          ...unknownUsage,
          ...{ input_tokens: 11, output_tokens: 7, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
        },
      },
    ]);
    expect(headers['request-id']).toBe(headers['x-request-id']);
    expect(sent()).toEqual({ model: 'model-a', messages, max_tokens: 100 });
  });

  it('says 0 for tokens that the provider does not give', async () => {
    const { body } = await create({ model: 'mock/mock-nousage', messages });
    expect(body.usage).toMatchObject({ input_tokens: 0, output_tokens: 0 });
  });

  it('counts tokens of the cache of the provider apart', async () => {
    const { body } = await create({ model: 'mock/model-detailed', messages });
    expect(body.usage).toMatchObject({ input_tokens: 7, cache_read_input_tokens: 4 });
    expect(body.usage.output_tokens_details).toEqual({ thinking_tokens: 5 });
  });

  it('takes a key as a bearer token and as x-api-key, and `?beta=true`', async () => {
    const key = await harness.service.createKey('providers:invoke');
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }]) {
      const answer = await harness.service.call('POST', '/v1/messages?beta=true', {
        body: { model, messages, max_tokens: 10 },
        headers: { ...headers, 'anthropic-beta': 'interleaved-thinking-2025-05-14, claude-code-20250219' },
        key: null,
      });
      expect(answer.status).toBe(200);
    }
    const sentHeaders = harness.mock.requests.map(({ headers }) => headers);
    for (const headers of sentHeaders) {
      expect(JSON.stringify(headers)).not.toContain(key);
      expect(headers['anthropic-beta']).toBeUndefined();
    }
  });

  it('runs a stored prompt: its messages first, with its variables, then the instruction of the request', async () => {
    const slug = await harness.createPrompt({ parameters: { max_output_tokens: 77 } });
    const variables = { name: 'Ada {{name}}' };
    const body = { model: `prompt/${slug}`, prompt: { variables }, system: 'Be brief.', messages: messages.slice() };
    const { status, body: answer } = await create({ ...body, max_tokens: undefined });
    expect([status, answer.model]).toEqual([200, model]);
    expect(sent()).toMatchObject({
      max_tokens: 77,
      messages: [
        { role: 'user', content: 'Hello Ada {{name}}' },
        { role: 'system', content: 'Be brief.' },
        ...messages,
      ],
    });
  });

  it('runs the version that a label names, and a stored prompt on another model', async () => {
    const slug = await harness.createPrompt();
    const path = `/api/v1/prompts/${slug}`;
    const label = { body: { version: 1 }, headers: { 'If-None-Match': '*' } };
    await harness.service.call('PUT', `${path}/labels/production`, label);
    await harness.service.call('PUT', path, { body: { messages: [{ role: 'user', content: 'Second' }] } });
    const labelled = await create({ model: `prompt/${slug}@production`, messages: [] });
    expect([labelled.status, labelled.headers['x-served-version']]).toEqual([200, '1']);
    expect(sent()['messages']).toEqual([{ role: 'user', content: 'Hello world' }]);
    const other = await create({ model: 'mock/model-b', prompt: { id: slug }, messages: [] });
    expect([other.body.model, other.headers['x-model']]).toEqual(['mock/model-b', 'model-b']);
  });

  it('finds the only configured provider that lists a model', async () => {
    const { status, body } = await create({ model: 'model-b', messages });
    expect([status, body.model]).toEqual([200, 'mock/model-b']);
  });

  it('passes on parameters, tools and the form of the answer', async () => {
    const input_schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    await create({
      model,
      messages,
      temperature: 0.2,
      top_p: 0.9,
      stop_sequences: ['###'],
      thinking: { type: 'disabled' },
      metadata: { user_id: 'u' },
      service_tier: 'auto',
      cache_control: { type: 'ephemeral' },
      tools: [
        {
          name: 'get_weather',
          description: 'Weather',
          input_schema,
          strict: true,
          cache_control: { type: 'ephemeral', ttl: '1h' },
          eager_input_streaming: true,
        },
      ],
      tool_choice: { type: 'tool', name: 'get_weather', disable_parallel_tool_use: true },
      output_config: { effort: 'low', format: { type: 'json_schema', schema: input_schema } },
    });
    expect(sent()).toMatchObject({
      ...{ temperature: 0.2, top_p: 0.9, stop: ['###'], reasoning_effort: 'low', max_tokens: 100 },
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: input_schema, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      response_format: { type: 'json_schema', json_schema: { schema: input_schema } },
    });
    expect(Object.keys(sent())).not.toContain('metadata');
  });

  it.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
  ])('passes on the choice of tools %j', async (tool_choice, expected) => {
    await create({ model, messages, tool_choice, tools: [{ name: 'f', input_schema: { type: 'object' } }] });
    expect(sent()['tool_choice']).toBe(expected);
  });

  it('returns the calls of tools, and takes their results back with texts and errors', async () => {
    const tools = [{ name: 'get_weather', input_schema: { type: 'object' } }];
    const first = await create({ model: 'mock/mock-tools', messages, tools });
    const { content, stop_reason } = first.body;
    expect(stop_reason).toBe('tool_use');
    expect(content).toEqual([
      { type: 'text', text: 'Let me look.', citations: null },
      {
        type: 'tool_use',
        ...{ id: 'call_1', name: 'get_weather', caller: { type: 'direct' } },
        input: { city: 'Zürich', unit: 'celsius' },
      },
      expect.objectContaining({ id: 'call_2', name: 'get_time' }),
    ]);
    harness.mock.reset();
    // As the SDKs return it: without what is null.
    const assistant = content.map(({ citations: _, ...block }: Record<string, unknown>) => block);
    const results = [
      { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: '21 °C' }] },
      { type: 'tool_result', tool_use_id: 'call_2', is_error: true, content: 'No clock.' },
      { type: 'text', text: 'Go on.' },
    ];
    const turns = [...messages, { role: 'assistant', content: assistant }, { role: 'user', content: results }];
    expect((await create({ model, messages: turns, tools })).status).toBe(200);
    expect((sent()['messages'] as object[]).slice(1)).toMatchObject([
      { role: 'assistant', content: 'Let me look.', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] },
      { role: 'tool', tool_call_id: 'call_1', content: '21 °C' },
      { role: 'tool', tool_call_id: 'call_2', content: 'No clock.' },
      { role: 'user', content: 'Go on.' },
    ]);
  });

  it('passes on the arguments of calls as they are written', async () => {
    const written = String.raw`{ "count": 1.0, "id":12345678901234567890, "share":1e2, "name":"\u0041", "__proto__": {"deep": [0.50]} }`;
    const call = `{"type":"tool_use","id":"call_1","input":${written},"name":"f"}`;
    const result = '{"type":"tool_result","tool_use_id":"call_1","content":"x"}';
    const { status } = await harness.service.call('POST', '/v1/messages', {
      body: `{"model":"${model}","max_tokens":10,"messages":[{"role":"user","content":"Hi"},
        {"role":"assistant","content":[{"type":"text","text":"{\\"input\\":{}}"}, ${call} ]},{"role":"user","content":[${result}]}]}`,
      headers: { 'content-type': 'application/json' },
    });
    expect(status).toBe(200);
    expect(sent()['messages']).toMatchObject([{}, { tool_calls: [{ function: { arguments: written } }] }, {}]);
  });

  it('takes images by their bytes and addresses, messages of the system, and bodies above 1 MiB', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(2 * 1024 * 1024) };
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', source },
      { type: 'image', source: { type: 'url', url: 'https://images.example.com/a.png' } },
    ];
    const turns = [
      { role: 'system', content: [{ type: 'text', text: 'Look.' }] },
      { role: 'user', content },
    ];
    const { status, body } = await create({
      model: 'echo/echo-1',
      system: [{ type: 'text', text: 'S' }],
      messages: turns,
    });
    expect([status, body.content[0].text]).toEqual([200, 'What is this?']);
  });
});

describe('thinking', () => {
  it('comes in its place, and has no signature if its provider does not need it back', async () => {
    const { text } = await create({ model: 'mock/mock-reasoning', messages, stream: true });
    const events = readEvents(text).map(({ data }) => JSON.parse(data));
    expect(
      events.filter(({ type }) => type === 'content_block_start').map((event) => event.content_block.type),
    ).toEqual(['thinking', 'text']);
    expect(events.some(({ delta }) => delta?.type === 'signature_delta')).toBe(false);
    harness.mock.reset();
    const back = [
      { type: 'thinking', thinking: 'I think about it.', signature: '' },
      { type: 'text', text: 'Hello' },
    ];
    await create({ model, messages: [...messages, { role: 'assistant', content: back }, ...messages] });
    expect(sent()['messages']).toEqual([...messages, { role: 'assistant', content: 'Hello' }, ...messages]);
  });

  it('is refused by its place for another provider than the one that wrote it', async () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' };
    for (const block of [thought, { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' }]) {
      const turns = [...messages, { role: 'assistant', content: [block, { type: 'text', text: 'x' }] }, ...messages];
      const { status, body } = await create({ model, messages: turns });
      expect([status, body.error.code]).toEqual([422, 'unsupported-by-provider']);
      expect(body.error.message).toContain('messages[1].content[0]: The thinking is that of anthropic');
    }
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('comes with what the provider needs back for a call, which goes back to this provider alone', async () => {
    const google = { thought_signature: 'SIG' };
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1.0}' } };
    const message = { role: 'assistant', content: null, tool_calls: [{ ...call, extra_content: { google } }] };
    const answer = JSON.stringify({ id: '1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
    for (const stream of [false]) {
      harness.mock.behave('model-a', { kind: 'body', contentType: 'application/json', body: answer });
      const { body, text } = await create({ model, messages, stream });
      expect(text).toContain('"input":{"a":1.0}');
      expect(body.content.map(({ type }: { type: string }) => type)).toEqual(['redacted_thinking', 'tool_use']);
      harness.mock.reset();
      const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'x' };
      const turns = [...messages, { role: 'assistant', content: body.content }, { role: 'user', content: [result] }];
      await create({ model, messages: turns });
      expect(sent()['messages']).toMatchObject([{}, { tool_calls: [{ id: 'call_1', extra_content: { google } }] }, {}]);
      harness.mock.reset();
      await create({ model: 'spare/spare-a', messages: turns });
      expect(JSON.stringify(sent())).not.toContain('SIG');
    }
  });

  it('takes a block that only looks like one of this service', async () => {
    const texts = ['gateway.', 'gateway.e30', `gateway.${Buffer.from('[1]').toString('base64url')}`, 'gateway.%%'];
    for (const signature of texts) {
      const content = [
        { type: 'thinking', thinking: 'x', signature },
        { type: 'text', text: 'y' },
      ];
      const { status } = await create({ model, messages: [...messages, { role: 'assistant', content }, ...messages] });
      expect([signature, [200, 422].includes(status)]).toEqual([signature, true]);
    }
  });
});

describe('400', () => {
  it.each([
    ['fallbacks', { fallbacks: [{ model: 'claude-opus-4-8' }] }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] }],
    ['container', { container: 'c_1' }],
    ['speed', { speed: 'fast' }],
    ['inference_geo', { inference_geo: 'us' }],
    ['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['tools[0].type', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
    ['tools[0].allowed_callers', { tools: [{ name: 'f', input_schema: {}, allowed_callers: ['direct'] }] }],
    ['tools[0].input_schema', { tools: [{ name: 'f' }] }],
    ['context_management.edits[0].type', { context_management: { edits: [{ type: 'compact_20260112' }] } }],
    ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'container_upload' }] }] }],
    [
      'messages[0].content[0].source',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }] }] },
    ],
    ['messages[0].content[0].text', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['max_tokens', { max_tokens: 0 }],
    ['metadata.team', { metadata: { team: 'x' } }],
  ])('invalid-request names what is not supported: %s', async (place, members) => {
    const { status, body, headers } = await create({ model, messages, ...members });
    expect([status, body]).toEqual([
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining(place), code: 'invalid-request' },
        request_id: headers['request-id'],
      },
    ]);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('names a beta that is not passed on, and a version of the API that does not exist', async () => {
    const beta = await create(
      { model, messages },
      { headers: { 'anthropic-beta': 'context-1m-2025-08-07,fast-mode-2026-02-01' } },
    );
    expect([beta.status, beta.body.error.message]).toEqual([400, expect.stringContaining('"fast-mode-2026-02-01"')]);
    const version = await create({ model, messages }, { headers: { 'anthropic-version': '2024-01-01' } });
    expect([version.status, version.body.error.message]).toEqual([400, expect.stringContaining('anthropic-version')]);
  });

  it.each([
    ['max_tokens', { max_tokens: undefined }],
    ['messages', { messages: [] }],
    ['prompt.id', { model: 'prompt/one', prompt: { id: 'two' } }],
    [
      'messages[0].content[0]',
      { messages: [{ role: 'user', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] }] },
    ],
    [
      'messages[0].content[0].tool_use_id',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }] },
    ],
    [
      'messages[1].content[0]',
      {
        messages: [
          ...messages,
          { role: 'assistant', content: [{ type: 'image', source: { type: 'url', url: 'https://a.example.com' } }] },
        ],
      },
    ],
    [
      'messages[0].content[0].source',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'content', content: 'x' } }] }] },
    ],
    [
      'messages[1].content[0].cache_control',
      {
        messages: [
          ...messages,
          {
            role: 'assistant',
            content: [{ type: 'thinking', thinking: 'x', signature: '', cache_control: { type: 'ephemeral' } }],
          },
        ],
      },
    ],
  ])('conflicting-members: %s', async (place, members) => {
    const { status, body } = await create({ model, messages, ...members });
    expect([status, body.error.code]).toEqual([400, 'conflicting-members']);
    expect(body.error.message).toContain(`${place} `);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('malformed-body', async () => {
    const { status, body } = await harness.service.call('POST', '/v1/messages', { body: '{"model":' });
    expect([status, body.error]).toMatchObject([400, { type: 'invalid_request_error', code: 'malformed-body' }]);
  });
});

describe('403', () => {
  it.each([
    [model, 'prompts:invoke', {}],
    ['prompt/greeting', 'providers:invoke', {}],
    ['prompt/greeting', 'prompts:invoke', { tools: [{ name: 'f', input_schema: {} }] }],
  ] as const)('insufficient-scope: %s with %s only', async (name, scope, members) => {
    const key = await harness.service.createKey(scope);
    const { status, body } = await create({ model: name, messages, ...members }, { key });
    expect([status, body.error]).toMatchObject([403, { type: 'permission_error', code: 'insufficient-scope' }]);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('404', () => {
  it.each([
    ['model-not-found', 'claude-nothing'],
    ['model-not-found', 'nobody/claude'],
    ['prompt-not-found', 'prompt/nothing'],
  ])('%s: %s', async (code, name) => {
    const { status, body } = await create({ model: name, messages });
    expect([status, body.error]).toMatchObject([404, { type: 'not_found_error', code }]);
  });

  it('names the provider of a name with a date', async () => {
    const { status, body } = await create({ model: 'model-a-20260101', messages });
    expect([status, body.error.message]).toEqual([404, expect.stringContaining('mock/model-a-20260101')]);
  });

  it('version-not-found', async () => {
    const slug = await harness.createPrompt();
    const { status, body } = await create({ model: `prompt/${slug}@7`, messages });
    expect([status, body.error.code]).toEqual([404, 'version-not-found']);
  });
});

describe('the form of errors', () => {
  const error = (type: string): object => ({
    type: 'error',
    error: { type, message: expect.any(String), code: expect.any(String) },
    request_id: expect.any(String),
  });

  it.each([
    ['POST', '/v1/messages/batches', 404, 'not_found_error'],
    ['GET', '/v1/messages/nothing', 404, 'not_found_error'],
    ['GET', '/v1/messages', 405, 'invalid_request_error'],
  ])('%s %s', async (method, path, status, type) => {
    const answer = await harness.service.call(method, path, { unchecked: true } as CallOptions);
    expect([answer.status, answer.body]).toEqual([status, error(type)]);
    expect(answer.headers['request-id']).toBe(answer.body.request_id);
  });

  it.each([
    ['/v1/v1/messages', '/v1/messages', 'without'],
    ['/v1/v1/chat/completions', '/v1/chat/completions', 'without'],
    ['/chat/completions', '/v1/chat/completions', 'with'],
  ])('says what the base URL has to be for %s', async (path, meant, rule) => {
    const { status, text } = await harness.service.call('POST', path, { body: {} });
    expect(status).toBe(404);
    expect(text).toContain(`but ${meant}. Set the base URL of your client ${rule} /v1 at its end.`);
  });

  it('is that of a path of both APIs if the caller says so', async () => {
    const headers = { 'anthropic-version': '2023-06-01' };
    const answer = await harness.service.call('GET', '/v1/nothing', { headers });
    expect([answer.status, answer.body]).toEqual([404, error('not_found_error')]);
    const other = await harness.service.call('GET', '/v1/nothing');
    expect(other.body.error.param).toBeNull();
  });

  it.each(['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/chat/nothing'])(
    'is that of OpenAI at %s, whatever version of the other API comes',
    async (path) => {
      const headers = { 'anthropic-version': '2023-06-01' };
      for (const key of [harness.service.adminKey, 'nobody']) {
        const { status, headers: fields, body } = await harness.service.call('POST', path, { body: {}, headers, key });
        expect([400, 401, 404]).toContain(status);
        expect(body).toEqual({
          error: expect.objectContaining({ type: 'invalid_request_error', code: expect.anything() }),
        });
        expect(fields['request-id']).toBeUndefined();
      }
    },
  );

  it('is that of a refused key, media type and length', async () => {
    const unknown = await create({ model, messages }, { key: 'nobody' });
    expect([unknown.status, unknown.body]).toEqual([401, error('authentication_error')]);
    const type = await create({ model, messages }, { headers: { 'content-type': 'text/plain' } });
    expect([type.status, type.body]).toEqual([415, error('invalid_request_error')]);
    const large = await create({ model, messages: [{ role: 'user', content: 'x'.repeat(21 * 1024 * 1024) }] });
    expect([large.status, large.body]).toEqual([413, error('request_too_large')]);
  });
});

describe('422', () => {
  it('missing-variables, unknown-variables, unknown-label, no-provider-selected and provider-not-configured', async () => {
    const strict = await harness.createPrompt({ strict: true, messages: [{ role: 'user', content: '{{name}}' }] });
    const alone = await harness.createPrompt({ selected_provider: undefined });
    for (const [code, body] of [
      ['missing-variables', { model: `prompt/${strict}` }],
      ['unknown-variables', { model: `prompt/${strict}`, prompt: { variables: { name: 'x', nam: 'x' } } }],
      ['unknown-label', { model: `prompt/${strict}@production` }],
      ['no-provider-selected', { model: `prompt/${alone}` }],
      ['provider-not-configured', { model: 'openai/gpt-4.1' }],
    ] as const) {
      const answer = await create({ messages, ...body });
      expect([answer.status, answer.body.error]).toMatchObject([422, { type: 'invalid_request_error', code }]);
    }
  });

  it('inconsistent-content: tools that do not fit together', async () => {
    const tool = { name: 'f', input_schema: { type: 'object' } };
    const { status, body } = await create({ model, messages, tools: [tool, tool] });
    expect([status, body.error.code]).toEqual([422, 'inconsistent-content']);
    expect(body.error.message).toContain('tools[1].name');
  });

  it('image-not-allowed, at its place', async () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://169.254.169.254/a.png' } };
    const { status, body } = await create({ model, messages: [{ role: 'user', content: [image] }] });
    expect([status, body.error.code]).toEqual([422, 'image-not-allowed']);
    expect(body.error.message).toContain('messages[0].content[0]');
  });

  it('rendered-prompt-too-large', async () => {
    const slug = await harness.createPrompt({ messages: [{ role: 'user', content: '{{a}}'.repeat(10_000) }] });
    const prompt = { variables: { a: 'x'.repeat(10_000) } };
    const { status, body } = await create({ model: `prompt/${slug}`, prompt, messages: [] });
    expect([status, body.error.code]).toEqual([422, 'rendered-prompt-too-large']);
  });

  const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } };
  const search = { type: 'search_result', source: 'x', title: 'x', content: [{ type: 'text', text: 'x' }] };

  it.each([
    ['messages[0].content[0]', { messages: [{ role: 'user', content: [document] }] }],
    ['messages[0].content[0]', { messages: [{ role: 'user', content: [search] }] }],
    ['tools[0].type', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    ['tools[0].input_examples', { tools: [{ name: 'f', input_schema: {}, input_examples: [{}] }] }],
    ['context_management', { context_management: { edits: [{ type: 'clear_thinking_20251015' }] } }],
    ['output_config.effort', { output_config: { effort: 'max' } }],
    ['thinking', { thinking: { type: 'enabled', budget_tokens: 2000 } }],
    ['thinking.display', { thinking: { type: 'disabled', display: 'omitted' } }],
  ])('unsupported-by-provider: %s', async (place, members) => {
    const { status, body } = await create({ model: 'spare/spare-a', messages, ...members });
    expect([status, body.error.code]).toEqual([422, 'unsupported-by-provider']);
    expect(body.error.message).toContain(place);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('what a provider says to the caller', () => {
  it.each([
    ['mock-429-300', 429, 'rate_limit_error', 'provider-rate-limited'],
    ['mock-400', 400, 'invalid_request_error', 'mock_error'],
    ['mock-404', 404, 'not_found_error', 'mock_error'],
  ])('%s', async (name, status, type, code) => {
    const answer = await create({ model: `mock/${name}`, messages });
    expect([answer.status, answer.body.error]).toMatchObject([status, { type, code }]);
    expect(answer.headers['x-should-retry']).toBe('false');
  });
});

describe('502', () => {
  it.each([
    ['provider-failed', 'mock-500'],
    ['provider-refused-credentials', 'mock-401'],
    ['provider-bad-answer', 'mock-garbage'],
  ])('%s of %s, which must not simply be sent again', async (code, name) => {
    const { status, body, headers } = await create({ model: `mock/${name}`, messages });
    expect([status, body.error]).toMatchObject([502, { type: 'api_error', code }]);
    expect(headers['x-should-retry']).toBe('false');
  });

  const badCall = { id: 'call_1', name: 'f', arguments: '[1]' };
  const bad = { kind: 'stream', steps: [{ toolCall: badCall }, { finish: 'tool-calls' }] } as const;

  it.each(['[1]', '{"a":', '"x"', 'null'])('provider-bad-answer for arguments that are no object: %s', async (text) => {
    const toolCall = { ...badCall, arguments: text };
    for (const stream of [false, true]) {
      harness.mock.behave('model-a', {
        kind: 'stream',
        steps: [{ text: 'x' }, { toolCall }, { finish: 'tool-calls' }],
      });
      const answer = await create({ model, messages, stream });
      expect([answer.status, answer.text]).toEqual([
        stream ? 200 : 502,
        expect.stringContaining('"provider-bad-answer"'),
      ]);
      expect(answer.text).not.toContain('"type":"tool_use"');
      expect(await recordOf(answer)).toMatchObject({
        status: 'failed',
        problem: 'urn:prompt-gateway:problem:provider-bad-answer',
        attempts: [{ status: 'failed' }],
      });
    }
  });

  it.each([false, true])('provider-bad-answer for a call by `echo`; streamed: %s', async (stream) => {
    const tools = [{ name: 'f', input_schema: { type: 'object' } }];
    const asked = [{ role: 'user', content: 'call f [1]' }];
    const answer = await create({ model: 'echo/echo-1', messages: asked, tools, stream });
    expect(answer.text).toContain('"provider-bad-answer"');
    expect(await recordOf(answer)).toMatchObject({ status: 'failed' });
  });

  it.each([false, true])('does not come if a fallback writes an object; streamed: %s', async (stream) => {
    const fallbacks = [{ provider: 'spare', model: 'spare-a' }];
    const slug = await harness.createPrompt({ fallbacks });
    harness.mock.behave('model-a', bad);
    const answer = await create({ model: `prompt/${slug}`, messages, stream });
    expect([answer.status, answer.headers['x-provider']]).toEqual([200, 'spare']);
    expect(await recordOf(answer)).toMatchObject({
      ...{ status: 'succeeded', provider: 'spare' },
      attempts: [{ status: 'failed' }, { status: 'succeeded' }],
    });
  });

  it('leaves arguments to callers of other APIs', async () => {
    harness.mock.behave('model-a', bad);
    const { status, text } = await harness.service.call('POST', '/v1/chat/completions', { body: { model, messages } });
    expect([status, text]).toEqual([200, expect.stringContaining('"arguments":"[1]"')]);
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
    const slug = await harness.createPrompt();
    const body = { model: `prompt/${slug}`, messages: [] };
    const answer = await other.call('POST', '/v1/messages', { body });
    expect([answer.status, answer.body.error.code]).toEqual([422, 'unknown-provider']);
  });

  it('502 provider-timeout, which must not simply be sent again', async () => {
    const body = { model: 'other/mock-hang', messages, max_tokens: 10 };
    const { status, body: answer, headers } = await other.call('POST', '/v1/messages', { body });
    expect([status, answer.error.code, headers['x-should-retry']]).toEqual([502, 'provider-timeout', 'false']);
  });
});

describe('a stream', () => {
  const stream = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    create({ messages, stream: true, ...body }, { headers });
  const typesOf = ({ text }: Answer): string[] =>
    readEvents(text).map(({ name, data }) => {
      expect(JSON.parse(data).type).toBe(name);
      return name;
    });

  it('has the events of one message', async () => {
    const answer = await stream({ model: 'mock/mock-tools' });
    expect([answer.status, answer.headers['content-type'], answer.headers['x-accel-buffering']]).toEqual([
      ...[200, 'text/event-stream', 'no'],
    ]);
    const call = ['content_block_start', 'content_block_delta', 'content_block_stop'];
    const types = typesOf(answer).filter((type, index, all) => type !== all[index - 1]);
    expect(types).toEqual(['message_start', 'ping', ...call, ...call, ...call, 'message_delta', 'message_stop']);
    const events = readEvents(answer.text).map(({ data }) => JSON.parse(data));
    expect(events.filter(({ index }) => index !== undefined).map(({ index }) => index)).toEqual(
      expect.arrayContaining([0, 1, 2]),
    );
    expect(events.at(-2)).toEqual({
      type: 'message_delta',
      delta: { container: null, stop_reason: 'tool_use', stop_sequence: null, stop_details: null },
      usage: expect.objectContaining({ input_tokens: 11, output_tokens: 7 }),
    });
  });

  it.each(['mock-error', 'mock-cut', 'mock-unended', 'mock-broken'])(
    'ends with an error and without message_stop if it fails after its first content: %s',
    async (name) => {
      const answer = await stream({ model: `mock/${name}` });
      expect([answer.status, typesOf(answer).at(-1)]).toEqual([200, 'error']);
      expect(typesOf(answer)).not.toContain('message_stop');
      expect(JSON.parse(readEvents(answer.text).at(-1)?.data ?? '')).toEqual({
        type: 'error',
        error: { type: 'api_error', message: expect.any(String), code: expect.stringMatching(/^provider-/) },
        request_id: answer.headers['request-id'],
      });
    },
  );

  it('is replayed for an Idempotency-Key, also if it has failed', async () => {
    for (const name of ['model-a', 'mock-error', 'mock-reasoning']) {
      harness.mock.reset();
      const headers = { 'Idempotency-Key': `message-${name}` };
      const first = await stream({ model: `mock/${name}` }, headers);
      const again = await stream({ model: `mock/${name}` }, headers);
      expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
      expect(typesOf(again).at(-1)).toBe(typesOf(first).at(-1));
      expect(harness.mock.requests).toHaveLength(1);
    }
  });

  it('has the status of a failure before its first content', async () => {
    const { status, body } = await stream({ model: 'mock/mock-early-error' });
    expect([status, body.error.type]).toEqual([502, 'api_error']);
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
