import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../../support/service.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

let harness: InvokeHarness;

beforeAll(async () => {
  const keys = { ANTHROPIC_API_KEY: 'sk-ant-test', XAI_API_KEY: 'x', GOOGLE_GENERATIVE_AI_API_KEY: 'g' };
  harness = await startInvokeHarness({ environment: keys });
});
afterEach(() => {
  expect(harness.mock.requests).toHaveLength(0);
});
afterAll(async () => {
  await harness.close();
});

const render = (prompt: string, body?: unknown, key: string = harness.service.adminKey): Promise<Answer> =>
  harness.service.call('POST', `/api/v1/prompts/${prompt}/render`, { ...(body !== undefined && { body }), key });
const tool = { name: 'now', parameters: { type: 'object' } };

describe('200', () => {
  it('shows what an invocation would send, and to whom', async () => {
    const prompt = await harness.createPrompt({
      messages: [
        { role: 'system', content: 'Be {{tone|calm}} with {{name}}. {name}} {{#if x}}' },
        { role: 'user', content: [{ type: 'text', text: 'Hello {{name}}' }] },
      ],
      variables: { name: {}, unused: {} },
      parameters: { temperature: 0.2, seed: 7 },
      tools: [tool],
      tool_choice: 'none',
      provider_options: { mock: { user: 'u' } },
      fallbacks: [{ provider: 'echo' }],
    });
    const { body: stored } = await harness.service.call('GET', `/api/v1/prompts/${prompt}`);
    const messages = [
      { role: 'assistant', content: '', tool_calls: [{ id: 'call-1', name: 'now', arguments: '{}' }] },
      { role: 'tool', tool_call_id: 'call-1', content: '{{noon}}', is_error: true },
    ];
    const variables = { name: '{{tone}}', nmae: 'Ada' };
    const { status, headers, body } = await render(prompt, { variables, messages, parameters: { seed: 8 } });
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      prompt_id: stored.id,
      version: 1,
      targets: [
        { provider: 'mock', model: 'model-a', provider_options: { user: 'u' } },
        { provider: 'echo', model: 'echo-1' },
      ],
      messages: [
        { role: 'system', content: 'Be calm with {{tone}}. {name}} {{#if x}}' },
        { role: 'user', content: 'Hello {{tone}}' },
        ...messages,
      ],
      parameters: { temperature: 0.2, seed: 8 },
      tools: [tool],
      tool_choice: 'none',
      variables: ['tone', 'name'],
      warnings: [
        { code: 'not-a-placeholder', detail: expect.stringContaining('{{#if x}}'), pointer: '#/messages/0/content' },
        { code: 'not-a-placeholder', detail: expect.stringContaining('{name}}'), pointer: '#/messages/0/content' },
        { code: 'unknown-variable', detail: expect.any(String), pointer: '#/variables/nmae' },
      ],
    });
  });

  it('needs no body', async () => {
    const { body } = await render(await harness.createPrompt());
    expect(body).toMatchObject({
      targets: [{ provider: 'mock', model: 'model-a' }],
      messages: [{ role: 'user', content: 'Hello world' }],
      variables: ['name'],
    });
    expect(body).not.toHaveProperty('warnings');
  });

  it('shows a single text in one form, and says what happens to it there', async () => {
    const part = { type: 'text', text: 'Answer in JSON: ' };
    const shown = async (content: unknown): Promise<unknown[]> => {
      const prompt = await harness.createPrompt();
      const messages = [{ role: 'assistant', content }];
      const { body } = await render(prompt, { provider: 'anthropic', model: 'claude-sonnet-4-5', messages });
      return [body.messages[1].content, body.targets[0].rewritten];
    };
    const rewritten = [{ member: 'messages/1/content', detail: expect.stringContaining('ends') }];
    for (const content of [part.text, [part]]) expect(await shown(content)).toEqual([part.text, rewritten]);
    const parts = [part, part];
    expect((await shown(parts))[0]).toEqual(parts);
    const hinted = [{ ...part, cache_control: { type: 'ephemeral' } }];
    expect((await shown(hinted))[0]).toEqual(hinted);
  });

  it('lists what each target cannot do', async () => {
    const prompt = await harness.createPrompt({ fallbacks: [{ provider: 'plain' }] });
    const request = { response_format: { type: 'json', schema: { type: 'object' } }, parameters: { top_k: 5 } };
    for (const unsupported of ['refuse', 'ignore']) {
      const { body } = await render(prompt, { ...request, unsupported });
      const members = (body.targets as { provider: string; unsupported?: { member: string }[] }[]).map(
        ({ provider, unsupported: some = [] }) => [provider, some.map(({ member }) => member).sort()],
      );
      expect(members).toEqual([
        ['mock', ['parameters/top_k']],
        ['plain', ['parameters/top_k', 'response_format/schema']],
      ]);
      expect(body).toMatchObject(request);
    }
  });

  it('shows what each target gets in another form', async () => {
    const images = [{ type: 'image', url: 'https://example.com/a b.png' }];
    const prompt = await harness.createPrompt({ fallbacks: [{ provider: 'echo' }] });
    const { body } = await render(prompt, {
      provider: 'anthropic',
      model: 'claude-3-haiku-20240307',
      messages: [{ role: 'user', content: images }],
      response_format: { type: 'json', schema: { type: 'object' } },
    });
    expect(body.messages[1].content).toEqual(images);
    expect(body.targets.map(({ rewritten }: { rewritten?: object[] }) => rewritten)).toEqual([
      [
        { member: 'response_format', detail: expect.stringContaining('as a function') },
        { member: 'messages/1/content/0', detail: 'The provider gets the address https://example.com/a%20b.png' },
      ],
      undefined,
    ]);
  });

  it.each([
    ['xai', 'grok-4.7', false, 'The provider gets true.'],
    ['google', 'gemini-3.8-flash', true, expect.stringContaining('does not get it')],
    ['anthropic', 'claude-sonnet-4-5', true, expect.stringContaining('does not get it')],
  ])('shows what %s makes of strict, and of the end of a conversation', async (provider, model, strict, detail) => {
    const prompt = await harness.createPrompt();
    const { status, body } = await render(prompt, {
      ...{ provider, model },
      messages: [{ role: 'assistant', content: ' {' }],
      response_format: { type: 'json', schema: { type: 'object', additionalProperties: false }, strict },
    });
    expect(status).toBe(200);
    expect(body.targets[0].unsupported).toBeUndefined();
    expect(body.targets[0].rewritten).toEqual([
      { member: 'response_format/strict', detail },
      ...(provider === 'anthropic' ? [{ member: 'messages/1/content', detail: expect.stringContaining('ends') }] : []),
    ]);
  });

  it('renders a version, and the version of a label', async () => {
    const prompt = await harness.createPrompt();
    const path = `/api/v1/prompts/${prompt}`;
    await harness.service.call('PUT', path, { body: { messages: [{ role: 'user', content: 'New' }] } });
    await harness.service.call('PUT', `${path}/labels/production`, { body: { version: 1 } });
    expect((await render(prompt)).body).toMatchObject({ version: 2, messages: [{ content: 'New' }] });
    for (const body of [{ version: 1 }, { label: 'production' }]) {
      expect((await render(prompt, body)).body).toMatchObject({ version: 1, messages: [{ content: 'Hello world' }] });
    }
  });
});

describe('403', () => {
  it('protects tools, options and fallbacks as an invocation does', async () => {
    const prompt = await harness.createPrompt();
    const key = await harness.service.createKey('prompts:invoke');
    expect((await render(prompt, {}, key)).status).toBe(200);
    for (const body of [{ tools: [] }, { tool_choice: null }, { provider_options: {} }, { fallbacks: [] }]) {
      expect(problemOf(await render(prompt, body, key))).toBe('insufficient-scope');
    }
  });
});

describe('404', () => {
  it('is the answer for a prompt or version that does not exist', async () => {
    expect(problemOf(await render('no-such-prompt'))).toBe('prompt-not-found');
    expect(problemOf(await render(await harness.createPrompt(), { version: 9 }))).toBe('version-not-found');
  });
});

describe('422', () => {
  it.each<[string, object, object]>([
    ['unknown-label', {}, { label: 'nowhere' }],
    ['missing-variables', { variables: { name: { required: true } } }, {}],
    ['unknown-variables', { strict: true }, { variables: { nmae: 'Ada' } }],
    [
      'rendered-prompt-too-large',
      { messages: [{ role: 'user', content: '{{a}}'.repeat(100) }] },
      { variables: { a: 'x'.repeat(50_000) } },
    ],
    ['inconsistent-content', {}, { tool_choice: 'required' }],
    ['invalid-schema', {}, { response_format: { type: 'json', schema: { type: 'x' } } }],
    ['invalid-provider-option', {}, { provider_options: { mock: { model: 'gpt-5' } } }],
    ['image-not-allowed', {}, { messages: [{ role: 'user', content: [{ type: 'image', url: 's3://a/b' }] }] }],
    ['unknown-provider', {}, { provider: 'opnai' }],
    ['provider-not-configured', {}, { provider: 'openai' }],
    ['no-provider-selected', { selected_provider: undefined }, {}],
  ])('%s is what an invocation would get', async (problem, fields, body) => {
    const prompt = await harness.createPrompt({ ...fields });
    const answer = await render(prompt, body);
    expect([answer.status, problemOf(answer)]).toEqual([422, problem]);
    const invoked = await harness.invoke(prompt, body);
    expect([invoked.status, problemOf(invoked), invoked.body.errors]).toEqual([422, problem, answer.body.errors]);
  });
});
