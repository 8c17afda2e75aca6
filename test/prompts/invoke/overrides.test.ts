import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../../support/service.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

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

const tool = (name: string): object => ({ name, parameters: { type: 'object' } });
const pointersOf = ({ body }: Answer): unknown[] =>
  ((body as { errors?: { pointer: string }[] }).errors ?? []).map(({ pointer }) => pointer);

/** The body that the provider received for an invocation. */
async function sentFor(fields: object, body: object): Promise<Record<string, unknown>> {
  harness.mock.reset();
  const { status, text } = await harness.invoke(await harness.createPrompt({ ...fields }), body);
  if (status !== 200) throw new Error(text);
  expect(harness.mock.requests).toHaveLength(1);
  return harness.mock.requests[0]?.body ?? {};
}

/** Invokes a prompt; no provider may be called. */
async function refused(fields: object, body: object, key?: string): Promise<Answer> {
  harness.mock.reset();
  const answer = await harness.invoke(await harness.createPrompt({ ...fields }), body, {}, key);
  expect(harness.mock.requests).toHaveLength(0);
  return answer;
}

describe('an invocation', () => {
  it('sends how the prompt generates', async () => {
    const fields = {
      parameters: { temperature: 0.2, top_p: 0.9, max_output_tokens: 50, stop: ['#'], seed: 7 },
      response_format: { type: 'text' },
      tools: [tool('now')],
      tool_choice: { name: 'now' },
      provider_options: { mock: { user: 'u-1' }, spare: { user: 'u-2' } },
    };
    expect(await sentFor(fields, {})).toEqual({
      model: 'model-a',
      messages: [{ role: 'user', content: 'Hello world' }],
      temperature: 0.2,
      top_p: 0.9,
      max_tokens: 50,
      stop: ['#'],
      seed: 7,
      user: 'u-1',
      tools: [{ type: 'function', function: tool('now') }],
      tool_choice: { type: 'function', function: { name: 'now' } },
    });
  });

  it('repeats what may have been billed as often as the request says, else the prompt, on every path', async () => {
    const prompt = await harness.createPrompt({ retries: 1, selected_model: 'mock-reset' });
    const calls = async (send: () => Promise<Answer>): Promise<number> => {
      harness.mock.reset();
      expect((await send()).status).toBeGreaterThan(500);
      return harness.mock.requests.length;
    };
    expect(await calls(() => harness.invoke(prompt))).toBe(2);
    expect(await calls(() => harness.invoke(prompt, { retries: 0 }))).toBe(1);
    expect(await calls(() => harness.invoke(prompt, { retries: 2, stream: true }))).toBe(3);
    const body = { model: `prompt/${prompt}`, messages: [] };
    expect(await calls(() => harness.service.call('POST', '/v1/chat/completions', { body }))).toBe(2);
    const run = { providers: [{ provider: 'mock', model: 'mock-reset' }] };
    harness.mock.reset();
    await harness.service.call('POST', `/api/v1/prompts/${prompt}/test`, { body: run });
    expect(harness.mock.requests).toHaveLength(2);
  });

  it('merges parameters, member by member', async () => {
    const fields = { parameters: { temperature: 0.2, max_output_tokens: 50 } };
    expect(await sentFor(fields, { parameters: { temperature: 0.9, seed: 1 } })).toMatchObject({
      temperature: 0.9,
      max_tokens: 50,
      seed: 1,
    });
    const none = await sentFor(fields, { parameters: null });
    expect(none).not.toHaveProperty('temperature');
    expect(none).not.toHaveProperty('max_tokens');
  });

  it('replaces the other members', async () => {
    const fields = { tools: [tool('now')], tool_choice: 'required', provider_options: { mock: { user: 'u' } } };
    const body = { tools: [tool('later')], provider_options: { mock: { min_p: 0.1 } } };
    const sent = await sentFor(fields, body);
    expect(sent).toMatchObject({ tools: [{ function: tool('later') }], tool_choice: 'required', min_p: 0.1 });
    expect(sent).not.toHaveProperty('user');
    const none = await sentFor(fields, { tools: null, tool_choice: null, provider_options: null });
    for (const name of ['tools', 'tool_choice', 'user']) expect(none).not.toHaveProperty(name);
  });

  it('replaces the format and the fallbacks', async () => {
    const fields = { response_format: { type: 'json' }, fallbacks: [{ provider: 'echo' }], selected_model: 'mock-503' };
    const prompt = await harness.createPrompt(fields);
    const spare = await harness.invoke(prompt, { response_format: null, fallbacks: [{ provider: 'spare' }] });
    expect(spare.headers).toMatchObject({ 'x-provider': 'spare' });
    expect(harness.mock.requests.map(({ body }) => body['response_format'])).toEqual([undefined, undefined]);
    harness.mock.reset();
    expect((await harness.invoke(prompt, { fallbacks: null })).status).toBe(502);
    expect(harness.mock.requests.map(({ body }) => body['response_format'])).toEqual(
      Array<object>(3).fill({ type: 'json_object' }),
    );
  });

  it('appends a conversation as it is', async () => {
    const messages = [
      { role: 'developer', content: 'Answer {{briefly}}.' },
      { role: 'user', content: [{ type: 'text', text: 'Look: {{name}}' }] },
      {
        role: 'assistant',
        content: 'One moment.',
        tool_calls: [{ id: 'call-1', name: 'now', arguments: '{"zone": "{{name}}"}' }],
      },
      { role: 'tool', tool_call_id: 'call-1', content: '{{noon}}' },
      { role: 'assistant', tool_calls: [{ id: 'call-2', name: 'now', arguments: '' }] },
      { role: 'tool', tool_call_id: 'call-2', content: '' },
      { role: 'user', content: 'And since when?' },
    ];
    const sent = await sentFor({}, { variables: { name: 'Ada' }, messages });
    expect(sent['messages']).toMatchObject([
      { role: 'user', content: 'Hello Ada' },
      { role: 'system', content: 'Answer {{briefly}}.' },
      { role: 'user', content: 'Look: {{name}}' },
      {
        role: 'assistant',
        content: 'One moment.',
        tool_calls: [{ id: 'call-1', function: { name: 'now', arguments: '{"zone": "{{name}}"}' } }],
      },
      { role: 'tool', tool_call_id: 'call-1', content: '{{noon}}' },
      { role: 'assistant', tool_calls: [{ id: 'call-2', function: { name: 'now' } }] },
      { role: 'tool', tool_call_id: 'call-2' },
      { role: 'user', content: 'And since when?' },
    ]);
  });

  it('returns calls of tools', async () => {
    const tools = [tool('get_weather'), tool('get_time')];
    const { body } = await harness.invoke(await harness.createPrompt({ tools, selected_model: 'mock-tools' }));
    expect([body.finishReason, body.tool_calls.map(({ name }: { name: string }) => name)]).toEqual([
      'tool-calls',
      ['get_weather', 'get_time'],
    ]);
  });

  it('has an entry in the cache for each way to generate', async () => {
    const prompt = await harness.createPrompt();
    const bodies = [
      {},
      { parameters: { temperature: 0.1 } },
      { parameters: { temperature: 0.2 } },
      { response_format: { type: 'json' } },
      { tools: [tool('now')] },
      { tools: [tool('now')], tool_choice: 'none' },
      { provider_options: { mock: { user: 'u' } } },
      { messages: [{ role: 'user', content: 'And?' }] },
    ];
    const cachedOnly = { 'Cache-Control': 'only-if-cached' };
    for (const body of bodies) {
      expect(problemOf(await harness.invoke(prompt, body, cachedOnly))).toBe('not-cached');
      harness.mock.behave('model-a', { kind: 'stream', steps: [{ text: '{}' }, { finish: 'stop' }] });
      expect((await harness.invoke(prompt, body, { 'Cache-Control': 'max-age=60' })).headers['x-cached']).toBe('false');
    }
    for (const body of bodies) expect((await harness.invoke(prompt, body, cachedOnly)).status).toBe(200);
    expect((await harness.invoke(prompt, { response_format: { type: 'text' } }, cachedOnly)).status).toBe(200);
    expect(harness.mock.requests).toHaveLength(bodies.length);
  });
});

describe('the conversation', () => {
  const call = (id: string): object => ({ id, name: 'now', arguments: '{}' });

  it.each<[string, object[]]>([
    ['#/messages/0/tool_call_id', [{ role: 'tool', tool_call_id: 'call-1', content: 'noon' }]],
    [
      '#/messages/1/tool_call_id',
      [
        { role: 'assistant', tool_calls: [call('call-1')] },
        { role: 'tool', tool_call_id: 'call-2', content: 'noon' },
      ],
    ],
    [
      '#/messages/0/tool_call_id',
      [
        { role: 'tool', tool_call_id: 'call-1', content: 'noon' },
        { role: 'assistant', tool_calls: [call('call-1')] },
      ],
    ],
  ])('has to fit together: %s', async (pointer, messages) => {
    const answer = await refused({}, { messages });
    expect([answer.status, problemOf(answer), pointersOf(answer)]).toEqual([422, 'inconsistent-content', [pointer]]);
  });

  it('has only the members of each role', async () => {
    const answer = await refused({}, { messages: [{ role: 'user', content: 'x', tool_calls: [call('a')] }] });
    expect([answer.status, pointersOf(answer)]).toEqual([400, ['#/messages/0/tool_calls']]);
  });
});

const image = (url: string): object => ({ role: 'user', content: [{ type: 'image', url }] });

describe('422', () => {
  it.each<[problem: string, pointer: string, body: object]>([
    ['inconsistent-content', '#/tools/1/name', { tools: [tool('now'), tool('now')] }],
    ['inconsistent-content', '#/tool_choice/name', { tool_choice: { name: 'later' } }],
    ['inconsistent-content', '#/tool_choice', { tools: null, tool_choice: 'required' }],
    ['inconsistent-content', '#/provider_options', { provider_options: { mock: { user: 'x'.repeat(17_000) } } }],
    ['unknown-provider', '#/provider_options/opnai', { provider_options: { opnai: {} } }],
    ['unknown-provider', '#/fallbacks/0/provider', { fallbacks: [{ provider: 'opnai' }] }],
    ['provider-not-configured', '#/fallbacks/0/provider', { fallbacks: [{ provider: 'openai' }] }],
    ['invalid-schema', '#/response_format/schema/type', { response_format: { type: 'json', schema: { type: 'x' } } }],
    ['invalid-schema', '#/tools/0/parameters/$ref', { tools: [{ name: 'a', parameters: { $ref: 'http://x/' } }] }],
    ['invalid-provider-option', '#/provider_options/mock/model', { provider_options: { mock: { model: 'gpt-5' } } }],
    ['invalid-provider-option', '#/provider_options/mock/n', { provider_options: { mock: { n: 9 } } }],
    ['invalid-provider-option', '#/provider_options/mock/messages', { provider_options: { mock: { messages: [] } } }],
    ['invalid-provider-option', '#/provider_options/mock/headers', { provider_options: { mock: { headers: {} } } }],
    ['invalid-provider-option', '#/provider_options/mock/baseURL', { provider_options: { mock: { baseURL: 'x' } } }],
    [
      'invalid-provider-option',
      '#/provider_options/mock/max_tokens',
      { provider_options: { mock: { max_tokens: 1 } } },
    ],
    // Also of a provider that is not called.
    ['invalid-provider-option', '#/provider_options/openai/store', { provider_options: { openai: { store: true } } }],
    ['image-not-allowed', '#/messages/0/content/0', { messages: [image('http://images.example.com/a.png')] }],
    ['image-not-allowed', '#/messages/0/content/0', { messages: [image('https://127.0.0.1/a.png')] }],
    ['image-not-allowed', '#/messages/0/content/0', { messages: [image('https://[::ffff:10.0.0.1]/a.png')] }],
    ['image-not-allowed', '#/messages/0/content/0', { messages: [image('https://169.254.169.254/latest/meta-data')] }],
    ['image-not-allowed', '#/messages/0/content/0', { messages: [image('https://2130706433/a.png')] }],
    ['image-not-allowed', '#/messages/0/content/0', { messages: [image('https://metadata.google.internal/')] }],
    ['image-not-allowed', '#/messages/0/content/0', { messages: [image('s3://bucket/key.png')] }],
    ['image-not-allowed', '#/messages/0/content/0', { messages: [image('file:///etc/passwd')] }],
    ['image-not-allowed', '#/messages/0/content/0', { messages: [image('https://user:pw@images.example.com/')] }],
    ['image-not-allowed', '#/messages/0/content/0', { messages: [image('data:text/html;base64,AAAA')] }],
  ])('%s names %s', async (problem, pointer, body) => {
    const answer = await refused({ tools: [tool('now')] }, body);
    expect([answer.status, problemOf(answer), pointersOf(answer)]).toEqual([422, problem, [pointer]]);
  });

  it('refuses an image whose address comes from a variable', async () => {
    const content = [
      { type: 'text', text: 'Look' },
      { type: 'image', url: '{{picture}}' },
    ];
    const messages = [{ role: 'user', content }];
    const answer = await refused({ messages }, { variables: { picture: 'https://10.0.0.1/a.png' } });
    expect([problemOf(answer), pointersOf(answer)]).toEqual(['image-not-allowed', ['#/messages/0/content/1']]);
    expect(answer.text).not.toContain('10.0.0.1');
  });

  it('comes in the documented order', async () => {
    const wrong = { tool_choice: { name: 'x' }, provider: 'opnai', messages: [image('s3://a/b')] };
    const fields = { variables: { name: { required: true } } };
    const prompt = await harness.createPrompt(fields);
    expect(problemOf(await harness.invoke(prompt, { version: 9, ...wrong }))).toBe('version-not-found');
    expect(problemOf(await harness.invoke(prompt, wrong))).toBe('missing-variables');
    const variables = { name: 'Ada' };
    expect(problemOf(await harness.invoke(prompt, { ...wrong, variables }))).toBe('inconsistent-content');
    const { tool_choice: _, ...rest } = wrong;
    expect(problemOf(await harness.invoke(prompt, { ...rest, variables }))).toBe('unknown-provider');
    expect(problemOf(await harness.invoke(prompt, { ...rest, provider: 'mock', variables }))).toBe('image-not-allowed');
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('403', () => {
  const guarded: [string, object][] = [
    ['tools', { tools: [tool('now')] }],
    ['no tools', { tools: null }],
    ['tool_choice', { tool_choice: 'none' }],
    ['provider_options', { provider_options: { mock: { user: 'u' } } }],
    ['fallbacks', { fallbacks: [{ provider: 'echo' }] }],
  ];

  it.each(guarded)('protects %s from a key that can only invoke prompts', async (_, body) => {
    const key = await harness.service.createKey('prompts:invoke');
    const answer = await refused({ tools: [tool('now')] }, body, key);
    expect([answer.status, problemOf(answer)]).toEqual([403, 'insufficient-scope']);
    expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="providers:invoke"');
    const both = await harness.service.createKey('prompts:invoke', 'providers:invoke');
    expect((await harness.invoke(await harness.createPrompt({ tools: [tool('now')] }), body, {}, both)).status).toBe(
      200,
    );
  });

  it('comes before a prompt that does not exist', async () => {
    const key = await harness.service.createKey('prompts:invoke');
    expect((await harness.invoke('no-such-prompt', { tools: [] }, {}, key)).status).toBe(403);
  });

  it('leaves parameters, format, messages, provider and model to it', async () => {
    const key = await harness.service.createKey('prompts:invoke');
    const body = {
      provider: 'echo',
      model: 'echo-upper',
      parameters: { seed: 1 },
      response_format: { type: 'text' },
      messages: [{ role: 'user', content: 'more' }],
      unsupported: 'ignore',
    };
    const answer = await harness.invoke(await harness.createPrompt(), body, {}, key);
    expect([answer.status, answer.body.text]).toEqual([200, 'MORE']);
  });
});

describe('what a provider cannot do', () => {
  const picture = { type: 'image', url: 'https://images.example.com/a.png' };
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  const body = {
    parameters: { top_k: 5, temperature: 0.5 },
    response_format: { type: 'json', schema },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Look' }, picture] }],
  };
  const members = ['#/messages/0/content/1', '#/parameters/top_k', '#/response_format/schema'];

  it('is refused before anything is called, also if it is a fallback', async () => {
    for (const fields of [
      { selected_provider: 'plain' },
      { selected_provider: 'echo', fallbacks: [{ provider: 'plain' }] },
    ]) {
      const answer = await refused(fields, { ...body, parameters: {}, ...(fields.fallbacks && { messages: [] }) });
      expect([answer.status, problemOf(answer)]).toEqual([422, 'unsupported-by-provider']);
    }
    const answer = await refused({ selected_provider: 'plain' }, body);
    expect(answer.body).toMatchObject({ provider: 'plain', model: 'plain-a' });
    expect(pointersOf(answer).sort()).toEqual(members);
  });

  it('is left out if the request says so; the answer still has to match its schema', async () => {
    const prompt = await harness.createPrompt({ selected_provider: 'plain' });
    const invoke = (text: string): Promise<Answer> => {
      harness.mock.behave('plain-a', { kind: 'stream', steps: [{ text }, { finish: 'stop' }] });
      return harness.invoke(prompt, { ...body, unsupported: 'ignore' });
    };
    expect((await invoke('{"a": 1}')).body.object).toEqual({ a: 1 });
    expect(harness.mock.requests[0]?.body).toEqual({
      model: 'plain-a',
      temperature: 0.5,
      response_format: { type: 'json_object' },
      messages: [
        { role: 'user', content: 'Hello world' },
        { role: 'user', content: 'Look' },
      ],
    });
    expect(problemOf(await invoke('{"a": "x"}'))).toBe('provider-bad-answer');
  });

  it('refuses a request of which nothing would be left', async () => {
    const messages = [{ role: 'user', content: [picture] }];
    const answer = await refused({ selected_provider: 'plain', messages }, { unsupported: 'ignore' });
    expect([answer.status, pointersOf(answer)]).toEqual([422, ['#/messages/0/content/0']]);
  });
});
