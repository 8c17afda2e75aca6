import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { textOf, type JsonObject } from '../../src/models/language-model.ts';
import { findProviderOptionMistakes, selectProviderOptions } from '../../src/models/provider-options.ts';
import { builtInProviderIds } from '../../src/models/provider-settings.ts';
import { provider, remoteIds, request, startHarness, type Harness } from './providers-harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

async function send(id: string, providerOptions: JsonObject, model = 'llama'): Promise<Record<string, unknown>> {
  await provider(harness.registry, id).generate(request(model, { providerOptions }));
  return harness.mock.requests[0]?.body ?? {};
}

describe('options that can be set', () => {
  it.each([
    ['openai', { user: 'u1', textVerbosity: 'low' }, { user: 'u1', verbosity: 'low' }],
    ['azure', { user: 'u1', serviceTier: 'flex' }, { user: 'u1' }],
    ['anthropic', { metadata: { userId: 'u1' }, cacheControl: { type: 'ephemeral' } }, { metadata: { user_id: 'u1' } }],
    [
      'google',
      { thinkingConfig: { thinkingBudget: 5 } },
      { generationConfig: { thinkingConfig: { thinkingBudget: 5 } } },
    ],
    ['mistral', { safePrompt: true }, { safe_prompt: true }],
    ['groq', { serviceTier: 'flex', user: 'u1' }, { service_tier: 'flex', user: 'u1' }],
    ['xai', { minP: 0.1, user: 'u1' }, { min_p: 0.1, user: 'u1', store: false }],
    ['deepseek', { thinking: { type: 'enabled' } }, { thinking: { type: 'enabled' } }],
    ['amazon-bedrock', { serviceTier: 'flex' }, { serviceTier: { type: 'flex' } }],
    ['cohere', { thinking: { tokenBudget: 5 } }, { thinking: { token_budget: 5 } }],
    [
      'local',
      { user: 'u1', reasoningEffort: 'max', top_k: 5, chat_template_kwargs: { enable_thinking: false } },
      { user: 'u1', reasoning_effort: 'max', top_k: 5, chat_template_kwargs: { enable_thinking: false } },
    ],
  ])('go to %s', async (id, options, expected) => {
    expect(findProviderOptionMistakes(id, options)).toEqual([]);
    expect(await send(id, options)).toMatchObject(expected);
  });

  it('take precedence over the reasoning effort, which has fewer values', async () => {
    const parameters = { reasoning_effort: 'low' } as const;
    const call = request('llama', { parameters, providerOptions: { reasoningEffort: 'max' } });
    await provider(harness.registry, 'local').generate(call);
    expect(harness.mock.requests[0]?.body).toMatchObject({ reasoning_effort: 'max' });
  });

  it('are plain values for compatible servers, whose package does not check them', () => {
    const options = { user: ['u1'], logit_bias: { 5: [1] }, chat_template_kwargs: { a: { b: 1 } }, top_k: null };
    expect(findProviderOptionMistakes('local', options).map(({ pointer }) => pointer)).toEqual([
      '/user',
      '/logit_bias',
      '/chat_template_kwargs',
      '/top_k',
    ]);
  });
});

/** What would reach further than a request may, in the spelling of the packages and of the wire. */
const attacks: Readonly<Record<string, JsonObject[string]>> = {
  model: 'gpt-5.4-pro',
  models: ['gpt-5.4-pro'],
  modelId: 'gpt-5.4-pro',
  messages: [{ role: 'user', content: 'INJECTED' }],
  system: 'INJECTED',
  input: 'INJECTED',
  contents: ['INJECTED'],
  stream: true,
  n: 99,
  best_of: 99,
  max_tokens: 987_654,
  maxTokens: 987_654,
  maxCompletionTokens: 987_654,
  max_completion_tokens: 987_654,
  max_output_tokens: 987_654,
  inferenceConfig: { maxTokens: 987_654 },
  generationConfig: { maxOutputTokens: 987_654, candidateCount: 99 },
  taskBudget: { type: 'tokens', total: 987_654 },
  tools: [{ type: 'INJECTED' }],
  toolConfig: { tools: [] },
  tool_choice: 'INJECTED',
  functions: ['INJECTED'],
  response_format: { type: 'INJECTED' },
  responseModalities: ['AUDIO'],
  structuredOutputMode: 'jsonTool',
  headers: { 'x-injected': 'INJECTED' },
  extra_headers: { 'x-injected': 'INJECTED' },
  extra_body: { model: 'INJECTED' },
  extra_query: { a: 'INJECTED' },
  anthropicBeta: ['INJECTED'],
  baseURL: 'http://169.254.169.254',
  baseUrl: 'http://169.254.169.254',
  api_key: 'INJECTED',
  mcpServers: [{ type: 'url', name: 'm', url: 'https://injected.example.com', authorizationToken: 'INJECTED' }],
  mcp_servers: [{ url: 'https://injected.example.com' }],
  container: { id: 'INJECTED' },
  fallbacks: [{ model: 'INJECTED' }],
  additionalModelRequestFields: { model: 'INJECTED' },
  guardrailConfig: { guardrailIdentifier: 'INJECTED' },
  cachedContent: 'cachedContents/INJECTED',
  files: ['INJECTED'],
  file_ids: ['INJECTED'],
  store: true,
  previousResponseId: 'INJECTED',
  metadata: { purpose: 'INJECTED' },
  include: ['INJECTED'],
  systemMessageMode: 'remove',
  chat_template: '{{ INJECTED }}',
  __proto__x: 'INJECTED',
  constructor: 'INJECTED',
  toString: 'INJECTED',
  '': 'INJECTED',
};

describe.each([...remoteIds, 'local'])('for %s', (id) => {
  it('everything that reaches further is refused by name, and not sent by anyone who forgot to ask', async () => {
    // Anthropic's `metadata` is the end user; the package drops all else from it.
    const { metadata, ...others } = attacks;
    const given = id === 'anthropic' ? others : { ...others, metadata: metadata ?? null };
    const mistakes = findProviderOptionMistakes(id, given);
    expect(mistakes.map(({ pointer }) => pointer)).toEqual(Object.keys(given).map((name) => `/${name}`));
    for (const { detail } of mistakes) expect(detail).toMatch(/^The option cannot be set\. .+\.$/);

    const sent = await send(id, given);
    expect(JSON.stringify(sent)).not.toMatch(/injected|987654|gpt-5\.4-pro|169\.254|AUDIO/i);
    expect(sent).not.toHaveProperty('n');
    expect(JSON.stringify(harness.mock.requests[0]?.headers)).not.toMatch(/injected/i);
    expect(harness.mock.requests[0]?.path).not.toMatch(/injected|pro/i);
    if (id === 'xai') expect(sent['store']).toBe(false);

    const plain = await provider(harness.registry, id).generate(request('llama'));
    expect(textOf(plain)).toBe('Hello from llama.');
    expect(harness.mock.requests[1]?.body).toEqual(sent);
  });
});

describe('own names', () => {
  it('are the only ones', () => {
    const options = JSON.parse('{"__proto__": {"user": "x"}}') as JsonObject;
    for (const id of builtInProviderIds) {
      expect(findProviderOptionMistakes(id, options)).toEqual([
        { pointer: '/__proto__', detail: expect.stringMatching(/^The option cannot be set\./) },
      ]);
    }
  });

  it('are escaped in pointers', () => {
    expect(findProviderOptionMistakes('openai', { 'a/b~c': 1 })[0]?.pointer).toBe('/a~1b~0c');
  });

  it('are told, with what to use instead', () => {
    const detailOf = (id: string, name: string): string | undefined =>
      findProviderOptionMistakes(id, { [name]: 1 })[0]?.detail;
    expect(detailOf('openai', 'parallelToolCalls')).toContain('`parameters.parallel_tool_calls`');
    expect(detailOf('cohere', 'nothing')).toBe('The option cannot be set. Options that can be set: thinking.');
    expect(detailOf('echo', 'nothing')).toBe('The option cannot be set. The provider has no options.');
  });
});

describe('values that a package does not accept', () => {
  it('are found without a call', async () => {
    const call = request('llama', { providerOptions: { serviceTier: 'fastest' } });
    const { model, messages, providerOptions = {} } = call;
    const find = harness.registry.get('groq');
    expect(await find?.unsupported({ model, messages, providerOptions })).toEqual([
      { member: 'provider_options/groq/serviceTier', detail: expect.any(String) },
    ]);
    expect(harness.mock.requests).toEqual([]);
  });
});

describe('ids of providers', () => {
  it.each(['amazon-bedrock', 'amazonBedrock', 'bedrock'])('can be %s', (id) => {
    expect(findProviderOptionMistakes(id, { reasoningConfig: {} })).toEqual([]);
    expect(findProviderOptionMistakes(id, { top_k: 1 })).toHaveLength(1);
  });
});

describe('selectProviderOptions', () => {
  const all = {
    openai: { user: 'a' },
    amazonBedrock: { serviceTier: 'flex' },
    'my-server': { top_k: 1 },
    myServer: { min_p: 1 },
  };

  it.each([
    ['openai', { user: 'a' }],
    ['azure', undefined],
    ['amazon-bedrock', { serviceTier: 'flex' }],
    ['my-server', { top_k: 1, min_p: 1 }],
    ['constructor', undefined],
  ])('takes those of %s: %j', (id, expected) => {
    expect(selectProviderOptions(id, all)).toEqual(expected);
  });

  it('knows the short name of Bedrock, and no options', () => {
    expect(selectProviderOptions('amazon-bedrock', { bedrock: { serviceTier: 'flex' } })).toEqual({
      serviceTier: 'flex',
    });
    expect(selectProviderOptions('openai', undefined)).toBeUndefined();
  });
});
