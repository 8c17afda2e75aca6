/** Members that only some providers have, as `extra_body` of OpenAI's SDKs sends them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { vendors } from '../../../src/models/vendors/index.ts';
import { startMockProvider, type MockProvider } from '../../support/mock-provider.ts';
import type { Answer } from '../../support/service.ts';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';

let vendor: MockProvider;
let harness: InvokeHarness;
beforeAll(async () => {
  vendor = await startMockProvider();
  const settings = vendors.flatMap(({ variables }) => variables.map(({ name, setting }) => [name, valueOf(setting)]));
  harness = await startInvokeHarness({ environment: Object.fromEntries(settings) as Record<string, string> });
});
afterAll(async () => {
  await harness.close();
  await vendor.close();
});
afterEach(() => {
  vendor.reset();
  harness.mock.reset();
});

function valueOf(setting: string): string {
  if (setting === 'baseUrl') return vendor.url;
  return setting === 'region' ? 'eu-central-1' : 'of-the-tests';
}

const messages = [{ role: 'user', content: 'What is a webhook?' }] satisfies OpenAI.ChatCompletionMessageParam[];
const max_output_tokens = 3000;

/** Both APIs, with a body of each that asks for the same. */
const apis: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', { messages, max_completion_tokens: max_output_tokens }],
  ['/v1/responses', { input: 'What is a webhook?', max_output_tokens }],
];

function create(path: string, body: object): Promise<Answer> {
  return harness.service.call('POST', path, { body });
}

/** What the provider got. */
function sent(): Record<string, unknown> {
  const requests = [...vendor.requests, ...harness.mock.requests];
  expect(requests).toHaveLength(1);
  return requests[0]?.body ?? {};
}

const settings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' }];
const ofServers = {
  ...{ top_k: 40, min_p: 0.05, typical_p: 0.9, repetition_penalty: 1.1 },
  chat_template_kwargs: { enable_thinking: false },
};

describe('members that a provider has', () => {
  const rows: readonly (readonly [provider: string, members: object, body?: object])[] = [
    ['mock', ofServers],
    ['openrouter', ofServers],
    ['together', ofServers],
    ['anthropic', { top_k: 40 }],
    ['anthropic', { thinking: { type: 'enabled', budget_tokens: 2048 } }],
    ['google', { top_k: 40 }, { generationConfig: { topK: 40 } }],
    ['google', { safety_settings: settings }, { safetySettings: settings }],
    [
      'google',
      { thinking_config: { thinking_budget: 1024 } },
      { generationConfig: { thinkingConfig: { thinkingBudget: 1024 } } },
    ],
    ['cohere', { top_k: 40 }, { k: 40 }],
    ['cohere', { thinking: { type: 'enabled', token_budget: 2048 } }],
    ['amazon-bedrock', { top_k: 40 }, { inferenceConfig: { topK: 40 } }],
    ['deepseek', { thinking: { type: 'disabled' } }],
    ['mistral', { safe_prompt: true }],
    ['xai', { min_p: 0.05 }],
  ];

  describe.each(apis)('%s', (path, body) => {
    it.each(rows)('reach %s: %j', async (provider, members, expected = members) => {
      const answer = await create(path, { model: `${provider}/model-a`, ...body, ...members });
      expect([answer.status, answer.body.error ?? undefined]).toEqual([200, undefined]);
      expect(sent()).toMatchObject(expected);
    });

    it('count as left out if they are null', async () => {
      const names = [...Object.keys(ofServers), 'thinking', 'thinking_config', 'safety_settings', 'safe_prompt'];
      const members = Object.fromEntries(names.map((name) => [name, null]));
      const { status } = await create(path, { model: 'openai/gpt-4.1', ...body, ...members });
      expect(status).toBe(200);
      for (const name of names) expect(sent()).not.toHaveProperty(name);
    });

    it('take precedence over the options of a stored prompt, and leave the others', async () => {
      const slug = await harness.createPrompt({ provider_options: { mock: { top_k: 5, min_p: 0.1 } } });
      const { status } = await create(path, { model: `prompt/${slug}`, ...body, top_k: 40 });
      expect(status).toBe(200);
      expect(sent()).toMatchObject({ top_k: 40, min_p: 0.1 });
    });
  });
});

describe('reasoning of chat completions', () => {
  const [path, body] = ['/v1/chat/completions', { messages, max_completion_tokens: max_output_tokens }];

  it.each([
    ['openrouter', { effort: 'low' }, { reasoning_effort: 'low' }],
    ['openai', { effort: 'low' }, { reasoning_effort: 'low' }],
    ['openrouter', { max_tokens: 2000, exclude: true }, { reasoning: { max_tokens: 2000, exclude: true } }],
    ['together', { enabled: false }, { reasoning: { enabled: false } }],
  ])('reaches %s: %j', async (provider, reasoning, expected) => {
    const model = provider === 'openai' ? 'openai/gpt-5' : `${provider}/model-a`;
    expect((await create(path, { model, ...body, reasoning })).status).toBe(200);
    expect(sent()).toMatchObject(expected);
  });

  it.each([
    [400, 'reasoning.effort', 'openrouter/model-a', { reasoning: { effort: 'low' }, reasoning_effort: 'high' }],
    [422, 'reasoning', 'anthropic/claude-sonnet-4-5', { reasoning: { max_tokens: 2000 } }],
    [422, 'reasoning.effort', 'mistral/mistral-large-latest', { reasoning: { effort: 'low' } }],
  ])('%i names %s', async (status, param, model, members) => {
    const answer = await create(path, { model, ...body, ...members });
    expect([answer.status, answer.body.error.param]).toEqual([status, param]);
    expect(vendor.requests).toEqual([]);
  });
});

describe.each(apis)('%s refuses', (path, body) => {
  it.each([
    ['openai', 'top_k', { top_k: 40 }],
    ['openai', 'min_p', { min_p: 0.05 }],
    ['groq', 'thinking', { thinking: { type: 'enabled' } }],
    ['deepseek', 'thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: 2048 } }],
    ['cohere', 'thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: 2048 } }],
    ['anthropic', 'thinking_config', { thinking_config: { thinking_budget: 1024 } }],
    ['google', 'safety_settings', { safety_settings: [{ category: 'X', threshold: 'NEVER' }] }],
    ['mock', 'safe_prompt', { safe_prompt: true }],
    ['echo', 'chat_template_kwargs', { chat_template_kwargs: { a: 1 } }],
  ])('422 what %s does not have: %s', async (provider, param, members) => {
    const { status, body: answer } = await create(path, { model: `${provider}/model-a`, ...body, ...members });
    expect([status, answer.error]).toMatchObject([422, { code: 'unsupported-by-provider', param }]);
    expect([...vendor.requests, ...harness.mock.requests]).toEqual([]);
  });

  it('422 what a fallback does not have', async () => {
    const fallbacks = [{ provider: 'openai', model: 'gpt-4.1' }];
    const slug = await harness.createPrompt({ fallbacks });
    const { status, body: answer } = await create(path, { model: `prompt/${slug}`, ...body, min_p: 0.05 });
    expect([status, answer.error.param]).toEqual([422, 'min_p']);
    expect(harness.mock.requests).toEqual([]);
  });

  it.each([
    ['ignore_eos', { ignore_eos: true }],
    ['models', { models: ['openai/gpt-4.1'] }],
    ['extra_body', { extra_body: { top_k: 40 } }],
    ['thinking', { thinking: { type: 'enabled', include: true } }],
    ['chat_template_kwargs', { chat_template_kwargs: { a: { b: 1 } } }],
    ['top_k', { top_k: -1 }],
  ])('400 what the contract does not have: %s', async (name, members) => {
    const { status, body: answer } = await create(path, { model: 'openrouter/model-a', ...body, ...members });
    expect([status, answer.error.code]).toEqual([400, 'invalid-request']);
    expect(`${String(answer.error.param)} ${String(answer.error.message)}`).toContain(name);
    expect(vendor.requests).toEqual([]);
  });
});

it('comes from the official SDK, which sends members that it does not know as they are', async () => {
  const { url, adminKey } = harness.service;
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: adminKey, maxRetries: 0 });
  const model = 'openrouter/model-a';
  const extra = { top_k: 40, min_p: 0.05 };
  await openai.chat.completions.create({ model, messages, ...extra, ...{ reasoning: { max_tokens: 2000 } } });
  expect(sent()).toMatchObject({ ...extra, reasoning: { max_tokens: 2000 } });
  vendor.reset();
  const response = await openai.responses.create({ model, input: 'What is a webhook?', ...extra });
  expect(response.output_text).not.toBe('');
  expect(sent()).toMatchObject(extra);
  const refused = openai.chat.completions.create({ model: 'openai/gpt-4.1', messages, ...{ top_k: 40 } });
  await expect(refused).rejects.toMatchObject({ status: 422, code: 'unsupported-by-provider', param: 'top_k' });
});
