/** Values that mean the same as leaving a member out, which some SDKs always send. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
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
});

function valueOf(setting: string): string {
  if (setting === 'baseUrl') return vendor.url;
  return setting === 'region' ? 'eu-central-1' : 'of-the-tests';
}

const user = [{ role: 'user', content: 'What is a webhook?' }];
const apis: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', { messages: user }],
  ['/v1/responses', { input: 'What is a webhook?' }],
  ['/v1/messages', { messages: user, max_tokens: 100 }],
];

function create(path: string, body: object): Promise<Answer> {
  return harness.service.call('POST', path, { body });
}

/** Of the members of an API, those that it has. */
const penalties = { presence_penalty: 0, frequency_penalty: 0 };
const ofServers = { top_k: 0, min_p: 0, typical_p: 1, repetition_penalty: 1, safe_prompt: false };
const empty = { chat_template_kwargs: {}, safety_settings: [], thinking_config: {} };
const off = { thinking: { type: 'disabled' } };

/** A model of each provider, and those that refuse sampling. */
const models = [
  ...vendors.map(({ id, defaultModel }) => `${id}/${defaultModel}`),
  'openai/gpt-5',
  'openai/o3',
  'echo/echo-1',
];

describe.each(apis)('%s', (path, body) => {
  it.each(models)('takes defaults for %s', async (model) => {
    // Some models of Anthropic always think, and say so.
    const thinking = model.startsWith('anthropic/') ? {} : off;
    const others = path === '/v1/messages' ? thinking : { ...penalties, ...ofServers, ...empty, ...thinking };
    const answer = await create(path, { model, ...body, temperature: 1, top_p: 1, ...others });
    expect([answer.status, answer.body.error ?? undefined]).toEqual([200, undefined]);
  });

  it('leaves them out for a model that has no sampling', async () => {
    const others = path === '/v1/messages' ? {} : penalties;
    expect((await create(path, { model: 'openai/gpt-5', ...body, temperature: 1, top_p: 1, ...others })).status).toBe(
      200,
    );
    const names = Object.keys(vendor.requests[0]?.body ?? {});
    for (const name of ['temperature', 'top_p', ...Object.keys(penalties)]) expect(names).not.toContain(name);
  });

  it('sends them where the model takes them', async () => {
    expect((await create(path, { model: 'openai/gpt-4.1', ...body, temperature: 1, top_p: 1 })).status).toBe(200);
    expect(vendor.requests[0]?.body).toMatchObject({ temperature: 1, top_p: 1 });
  });

  it('422 names another value once', async () => {
    const answer = await create(path, { model: 'openai/gpt-5', ...body, temperature: 0.5 });
    expect([answer.status, answer.body.error.code]).toEqual([422, 'unsupported-by-provider']);
    const words = 'The provider "openai" cannot do everything that the request asks for.';
    expect(answer.body.error.message).toBe(`${words} temperature is not supported for reasoning models.`);
    expect(vendor.requests).toEqual([]);
  });
});
