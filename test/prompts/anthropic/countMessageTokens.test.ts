import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { providerKey } from '../invoke/invoke-harness.ts';
import { startMockProvider, type MockProvider } from '../../support/mock-provider.ts';
import { startAnother } from '../../support/per-operation.ts';
import { until } from '../../support/until.ts';
import { startTestService, type Answer, type CallOptions, type TestService } from '../../support/service.ts';

let mock: MockProvider;
let service: TestService;
beforeAll(async () => {
  mock = await startMockProvider();
  service = await startTestService({ environment: { ANTHROPIC_API_KEY: providerKey, ANTHROPIC_BASE_URL: mock.url } });
});
afterAll(async () => {
  await service.close();
  await mock.close();
});
afterEach(() => {
  mock.reset();
});

const name = 'claude-sonnet-4-5';
const model = `anthropic/${name}`;
const messages = [{ role: 'user', content: 'What is a webhook?' }];

function count(body: object | string, options: CallOptions = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json', ...options.headers };
  return service.call('POST', '/v1/messages/count_tokens', { body, ...options, headers });
}

describe('200', () => {
  it('is the count of the provider, which gets the body byte for byte', async () => {
    const written = `{ "messages":[{"content":"Hi \\u0041","role":"user"}],"model":"${model}",
      "tools":[{"name":"f","input_schema":{"type":"object","properties":{"a":{"maximum":1.50}}}}]}`;
    const headers = { 'anthropic-beta': 'token-counting-2024-11-01', 'anthropic-version': '2026-10-21' };
    const answer = await count(written, { headers });
    expect([answer.status, answer.body]).toEqual([200, { input_tokens: 11 }]);
    expect(answer.headers).toMatchObject({ 'x-provider': 'anthropic', 'x-model': name });
    expect(answer.headers['request-id']).toBe(answer.headers['x-request-id']);
    expect(mock.requests).toMatchObject([
      {
        path: '/messages/count_tokens',
        text: written.replace(model, name),
        headers: { ...headers, 'x-api-key': providerKey },
      },
    ]);
  });

  it('is that of `echo`, which counts words', async () => {
    const { status, body } = await count({ model: 'echo/echo-1', system: 'Be brief.', messages });
    expect([status, body]).toEqual([200, { input_tokens: 6 }]);
  });

  it('is no invocation', async () => {
    await count({ model, messages });
    const { body } = await service.call('GET', '/api/v1/invocations?model=claude-sonnet-4-5');
    expect(body.data).toEqual([]);
  });

  it('is what the SDK counts, with the name of the model alone', async () => {
    const client = new Anthropic({ baseURL: service.url, apiKey: service.adminKey });
    const counted = await client.messages.countTokens({ model: name, messages: [{ role: 'user', content: 'Hi' }] });
    expect(counted.input_tokens).toBe(11);
    const beta = await client.beta.messages.countTokens({ model: name, messages: [{ role: 'user', content: 'Hi' }] });
    expect(beta.input_tokens).toBe(11);
  });

  it("has the caller's trace", async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await count({ model, messages }, { headers: { traceparent, tracestate: 'a=1' } });
    expect(mock.requests[0]?.headers).toMatchObject({ traceparent, tracestate: 'a=1' });
  });

  it('counts the memory of the call', async () => {
    const memory = async (): Promise<number> => {
      const { text } = await service.call('GET', '/metrics');
      return Number(/request_memory_reserved_bytes (\d+)/.exec(text)?.[1]);
    };
    mock.behave(name, { kind: 'held' });
    const before = await memory();
    const counting = count({ model, messages });
    await until(
      async () => mock.requests.length,
      (length) => length === 1,
    );
    expect(await memory()).toBeGreaterThan(before);
    mock.release();
    expect((await counting).status).toBe(200);
    expect(await memory()).toBe(before);
  });

  it('comes after a repetition if the provider is overloaded', async () => {
    mock.behave(name, { kind: 'status', status: 529 }, { kind: 'answer' });
    expect((await count({ model, messages })).status).toBe(200);
    expect(mock.requests).toHaveLength(2);
  });
});

it.each([
  [400, 'invalid-request', { max_tokens: 5 }],
  [400, 'invalid-request', { mcp_servers: [] }],
  [400, 'conflicting-members', { messages: [] }],
  [404, 'model-not-found', { model: 'nobody/model' }],
  [404, 'model-not-found', { model: 'nothing' }],
  [422, 'inconsistent-content', { tools: [1, 2].map(() => ({ name: 'f', input_schema: {} })) }],
  [
    422,
    'image-not-allowed',
    {
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://10.0.0.1/a.png' } }] },
      ],
    },
  ],
  [
    422,
    'unsupported-by-provider',
    {
      messages: [
        ...messages,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'x', signature: '' },
            { type: 'text', text: 'x' },
          ],
        },
      ],
    },
  ],
  [501, 'tokens-not-counted', { model: 'openai/gpt-4.1' }],
  [501, 'tokens-not-counted', { model: 'prompt/greeting' }],
])('%s %s', async (status, code, members) => {
  const answer = await count({ model, messages, ...members });
  expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  expect(mock.requests).toHaveLength(0);
});

it('422 provider-not-configured', async () => {
  const other = await startAnother(service, { ANTHROPIC_API_KEY: '' });
  try {
    const answer = await other.call('POST', '/v1/messages/count_tokens', { body: { model, messages } });
    expect([answer.status, answer.body.error.code]).toEqual([422, 'provider-not-configured']);
  } finally {
    await other.close();
  }
});

describe('403', () => {
  it('insufficient-scope', async () => {
    const key = await service.createKey('prompts:invoke');
    const { status, body } = await count({ model, messages }, { key });
    expect([status, body.error]).toMatchObject([403, { type: 'permission_error', code: 'insufficient-scope' }]);
  });

  it('beyond-limits, also of a provider without a count', async () => {
    const made = await service.call('POST', '/api/v1/api-keys', {
      body: { name: 'k', scopes: ['providers:invoke'], limits: { models: ['anthropic/other'] } },
    });
    for (const named of [model, 'openai/gpt-4.1']) {
      const { status, body } = await count({ model: named, messages }, { key: made.body.secret ?? made.body.key });
      expect([status, body.error.code]).toEqual([403, 'beyond-limits']);
    }
    expect(mock.requests).toHaveLength(0);
  });
});

describe('what a provider says', () => {
  it.each([
    [{ kind: 'status', status: 400, code: 'invalid_request_error' }, 400, 'invalid_request_error'],
    [{ kind: 'status', status: 404, code: 'not_found_error' }, 404, 'not_found_error'],
    [{ kind: 'status', status: 429, headers: { 'Retry-After': '300' } }, 429, 'provider-rate-limited'],
    [{ kind: 'status', status: 401 }, 502, 'provider-refused-credentials'],
    [{ kind: 'status', status: 501 }, 502, 'provider-failed'],
    [{ kind: 'body', contentType: 'application/json', body: '{"input_tokens":-1}' }, 502, 'provider-bad-answer'],
    [{ kind: 'body', contentType: 'application/json', body: '{"input_tokens":"9"}' }, 502, 'provider-bad-answer'],
    [{ kind: 'body', contentType: 'application/json', body: '{' }, 502, 'provider-bad-answer'],
  ] as const)('%j is %s %s', async (behaviour, status, code) => {
    mock.behave(name, behaviour, behaviour, behaviour);
    const answer = await count({ model, messages });
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(answer.text).not.toContain(providerKey);
  });

  it('502 provider-timeout', async () => {
    const other = await startAnother(service, {
      INVOKE_TIMEOUT_MS: '300',
      ANTHROPIC_API_KEY: providerKey,
      ANTHROPIC_BASE_URL: mock.url,
    });
    mock.behave(name, { kind: 'hang' });
    const answer = await other.call('POST', '/v1/messages/count_tokens', { body: { model, messages } });
    expect([answer.status, answer.body.error.code]).toEqual([502, 'provider-timeout']);
    await other.close();
  });
});
