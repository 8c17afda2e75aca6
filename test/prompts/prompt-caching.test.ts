/** Hints for the providers' own caches: the second of two calls that begin alike reads, costs less, and its record says so. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startCachingProvider, type CachingProvider } from '../support/caching-provider.ts';
import { startTestService, type Answer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let provider: CachingProvider;
let service: TestService;
beforeAll(async () => {
  provider = await startCachingProvider();
  const key = 'of-the-tests';
  service = await startTestService({
    environment: {
      ...{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: provider.url },
      ...{ OPENAI_API_KEY: key, OPENAI_BASE_URL: provider.url },
      ...{ AWS_BEARER_TOKEN_BEDROCK: key, AWS_BEDROCK_REGION: 'eu-central-1', AWS_BEDROCK_BASE_URL: provider.url },
      ...{ MISTRAL_API_KEY: key, MISTRAL_BASE_URL: provider.url },
    },
  });
  for (const [id, model] of models) {
    const rates = [{ input: '10', cached_input: '1', cache_write: '12.5', output: '0' }];
    const body = { rates };
    const path = `/api/v1/prices/${id}/${encodeURIComponent(model)}`;
    expect((await service.call('PUT', path, { body })).status).toBe(201);
  }
});
afterEach(() => {
  provider.reset();
});
afterAll(async () => {
  await service.close();
  await provider.close();
});

const models = [
  ['anthropic', 'claude-sonnet-5-5'],
  ['openai', 'gpt-5.6'],
  ['amazon-bedrock', 'us.anthropic.claude-sonnet-5-5'],
] as const;

const control = { type: 'ephemeral' } as const;
const manual = 'Answer briefly. '.repeat(200);
const tool = { name: 'find', description: 'Finds a customer', parameters: { type: 'object', properties: {} } };

interface Caller {
  readonly name: string;
  /** Asks a question after what is kept. */
  ask(provider: string, model: string, question: string): Promise<Answer>;
}

const callers: readonly Caller[] = [
  {
    name: 'a stored prompt',
    async ask(id, model, question) {
      const slug = `kept-${id}`;
      const messages = [
        { role: 'system', content: [{ type: 'text', text: manual, cache_control: control }] },
        { role: 'user', content: '{{question}}' },
      ];
      const body = { name: slug, slug, messages, tools: [tool], selected_provider: id, selected_model: model };
      await service.call('POST', '/api/v1/prompts', { body });
      return service.call('POST', `/api/v1/prompts/${slug}/invoke`, { body: { variables: { question } } });
    },
  },
  {
    name: 'a conversation after a stored prompt',
    async ask(id, model, question) {
      const slug = `talk-${id}`;
      const messages = [{ role: 'system', content: 'Be kind.' }];
      const body = { name: slug, slug, messages, selected_provider: id, selected_model: model };
      await service.call('POST', '/api/v1/prompts', { body });
      const said = [
        { role: 'user', content: [{ type: 'text', text: manual, cache_control: control }] },
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: question },
      ];
      return service.call('POST', `/api/v1/prompts/${slug}/invoke`, { body: { messages: said } });
    },
  },
  ...(['cache_control', 'prompt_cache_breakpoint'] as const).flatMap((member): Caller[] => {
    const hint = { [member]: member === 'cache_control' ? control : { mode: 'explicit' } };
    return [
      {
        name: `chat completions with ${member}`,
        ask: (id, model, question) =>
          service.call('POST', '/v1/chat/completions', {
            body: {
              model: `${id}/${model}`,
              messages: [
                { role: 'system', content: [{ type: 'text', text: manual, ...hint }] },
                { role: 'user', content: question },
              ],
              tools: [{ type: 'function', function: tool }],
              prompt_cache_key: 'tests',
            },
          }),
      },
      {
        name: `responses with ${member}`,
        ask: (id, model, question) =>
          service.call('POST', '/v1/responses', {
            body: {
              model: `${id}/${model}`,
              input: [
                { role: 'developer', content: [{ type: 'input_text', text: manual, ...hint }] },
                { role: 'user', content: question },
              ],
              tools: [{ type: 'function', ...tool }],
              prompt_cache_key: 'tests',
            },
          }),
      },
    ];
  }),
  {
    name: 'messages',
    ask: (id, model, question) =>
      service.call('POST', '/v1/messages', {
        body: {
          model: `${id}/${model}`,
          max_tokens: 100,
          system: [{ type: 'text', text: manual, cache_control: control }],
          messages: [{ role: 'user', content: question }],
          tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }],
        },
        headers: { 'anthropic-version': '2023-06-01' },
      }),
  },
];

interface Logged {
  readonly usage?: { readonly inputTokens: number; readonly cachedInputTokens?: number };
  readonly cost: { readonly amount: string };
}

async function recordOf({ status, headers, text }: Answer): Promise<Logged> {
  expect([status, text]).toEqual([200, expect.anything()]);
  const path = `/api/v1/invocations/${String(headers['x-invocation-id'])}`;
  const { body } = await until(
    () => service.call('GET', path),
    (answer) => answer.status === 200,
  );
  return body as unknown as Logged;
}

describe.each(callers)('$name', ({ ask }) => {
  it.each(models)('is cheaper the second time with %s', async (id, model) => {
    const first = await recordOf(await ask(id, model, 'Who is Ada?'));
    const second = await recordOf(await ask(id, model, 'Who is Bob?'));
    expect(provider.bodies).toHaveLength(2);
    const least = manual.length / 4;
    expect(first.usage?.cachedInputTokens ?? 0).toBe(0);
    expect(second.usage?.cachedInputTokens).toBeGreaterThanOrEqual(least);
    expect(second.usage?.inputTokens).toBe(first.usage?.inputTokens);
    expect(Number(second.cost.amount)).toBeLessThan(Number(first.cost.amount) / 5);
  });

  it.each(models)('sends the same bytes for the same request with %s', async (id, model) => {
    for (let count = 0; count < 3; count += 1) await ask(id, model, 'Who is Ada?');
    expect(new Set(provider.bodies).size).toBe(1);
  });
});

describe('where hints go', () => {
  const chat = (model: string, members: object): Promise<Answer> =>
    service.call('POST', '/v1/chat/completions', { body: { model, ...members } });
  const sent = (): Record<string, unknown> => JSON.parse(provider.bodies.at(-1) ?? '') as Record<string, unknown>;
  const hour = { type: 'ephemeral', ttl: '1h' } as const;
  const text = (words: string, cache_control?: object): object => ({
    type: 'text',
    text: words,
    ...(cache_control && { cache_control }),
  });
  const messages = [
    { role: 'system', content: [text('a', hour), text('b')] },
    { role: 'user', content: [text('c'), text('d', control)] },
    { role: 'assistant', content: [text('e'), text('f', control)] },
    { role: 'user', content: 'g' },
  ];

  it('of Anthropic: tools, system, user and assistant, with their lifetimes', async () => {
    const tools = [{ type: 'function', function: tool, cache_control: hour }];
    expect((await chat('anthropic/claude-sonnet-5-5', { messages, tools })).status).toBe(200);
    expect(sent()).toMatchObject({
      tools: [{ name: 'find', cache_control: hour }],
      system: [
        { type: 'text', text: 'a', cache_control: hour },
        { type: 'text', text: 'b' },
      ],
      messages: [
        { content: [{ text: 'c' }, { text: 'd', cache_control: control }] },
        { content: [{ text: 'e' }, { text: 'f', cache_control: control }] },
        { content: [{ text: 'g' }] },
      ],
    });
    expect(JSON.stringify(sent()).match(/cache_control/g)).toHaveLength(4);
  });

  it('of Bedrock: after the block, and not to models that refuse them', async () => {
    await chat('amazon-bedrock/us.anthropic.claude-sonnet-5-5', { messages });
    expect(sent()).toMatchObject({
      system: [{ text: 'a' }, { cachePoint: { type: 'default', ttl: '1h' } }, { text: 'b' }],
      messages: [{ content: [{ text: 'c' }, { text: 'd' }, { cachePoint: { type: 'default' } }] }, {}, {}],
    });
    await chat('amazon-bedrock/us.amazon.nova-lite-v1:0', { messages });
    expect(sent()).toMatchObject({ system: [{ text: 'a' }, { cachePoint: { type: 'default' } }, { text: 'b' }] });
    await chat('amazon-bedrock/us.meta.llama4-scout-17b-instruct-v1:0', { messages });
    expect(JSON.stringify(sent())).not.toContain('cachePoint');
  });

  it('of OpenAI: breakpoints to models that know them, and the key', async () => {
    const options = { prompt_cache_key: 'ada', prompt_cache_options: { mode: 'explicit', ttl: '30m' } };
    await chat('openai/gpt-6-sol', { messages, ...options });
    expect(sent()).toMatchObject({
      ...options,
      messages: [
        { content: [{ text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }] },
        { content: 'b' },
        { content: [{ text: 'c' }, { text: 'd', prompt_cache_breakpoint: { mode: 'explicit' } }] },
        {},
        {},
      ],
    });
    await chat('openai/gpt-4.1-mini', { messages, prompt_cache_key: 'ada' });
    expect(JSON.stringify(sent())).not.toContain('breakpoint');
    expect(sent()).toMatchObject({ prompt_cache_key: 'ada' });
  });

  it('of the result of a tool', async () => {
    const called = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{}' } };
    const talk = [
      { role: 'user', content: 'Find Ada.' },
      { role: 'assistant', tool_calls: [called] },
      { role: 'tool', tool_call_id: 'call_1', content: [text('4711', control)] },
    ];
    const tools = [{ type: 'function', function: tool }];
    expect((await chat('anthropic/claude-sonnet-5-5', { messages: talk, tools })).status).toBe(200);
    expect(sent()).toMatchObject({
      messages: [{}, {}, { content: [{ type: 'tool_result', cache_control: control }] }],
    });
  });

  it('of Messages: every place, and the whole request', async () => {
    const said = [
      { role: 'user', content: [text('c', control)] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_1', name: 'find', input: {}, cache_control: control }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '4711', cache_control: hour }] },
    ];
    const tools = [{ name: 'find', input_schema: { type: 'object' }, cache_control: hour }];
    const members = { max_tokens: 100, system: [text('a'), text('b', control)], messages: said, tools };
    const send = (model: string, more: object = {}): Promise<Answer> =>
      service.call('POST', '/v1/messages', { body: { model, ...members, ...more } });
    expect((await send('amazon-bedrock/us.anthropic.claude-sonnet-5-5')).status).toBe(200);
    expect(sent()).toMatchObject({
      system: [{ text: 'a' }, { text: 'b' }, { cachePoint: { type: 'default' } }],
      messages: [
        { content: [{ text: 'c' }, { cachePoint: { type: 'default' } }] },
        { content: [{ toolUse: {} }, { cachePoint: { type: 'default' } }] },
        { content: [{ toolResult: {} }, { cachePoint: { type: 'default', ttl: '1h' } }] },
      ],
    });
    expect((await send('mistral/mistral-small-latest', { cache_control: control })).status).toBe(200);
    expect(JSON.stringify(sent())).not.toContain('cache');
    const prompt = { name: 'Asked', slug: 'asked', messages: [{ role: 'system', content: 'Be kind.' }] };
    await service.call('POST', '/api/v1/prompts', { body: { ...prompt, selected_provider: 'anthropic' } });
    const ask = { model: 'prompt/asked', messages: said.slice(1, 2), cache_control: hour };
    expect((await service.call('POST', '/v1/messages', { body: ask })).status).toBe(200);
    expect(sent()).toMatchObject({
      cache_control: hour,
      messages: [{ content: [{ type: 'tool_use', cache_control: control }] }],
    });
  });

  it('of a result with more hints than a provider takes: the last', async () => {
    const called = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{}' } };
    const talk = [
      { role: 'user', content: 'Find Ada.' },
      { role: 'assistant', tool_calls: [called] },
      { role: 'tool', tool_call_id: 'call_1', content: [1, 2, 3, 4, 5].map((line) => text(`${line}`, control)) },
    ];
    const tools = [{ type: 'function', function: tool }];
    expect((await chat('anthropic/claude-sonnet-5-5', { messages: talk, tools })).status).toBe(200);
    expect(JSON.stringify(sent()).match(/cache_control/g)).toHaveLength(1);
  });

  it('nowhere if a provider has no place for them, and the answer comes', async () => {
    const members = { messages, prompt_cache_options: { mode: 'explicit' }, prompt_cache_key: 'ada' };
    expect((await chat('mistral/mistral-small-latest', members)).status).toBe(200);
    expect(sent()).toMatchObject({ prompt_cache_key: 'ada' });
    expect(JSON.stringify(sent())).not.toMatch(/cache_control|breakpoint|options/);
  });

  it('are named by render if they are lost', async () => {
    const content = [text('Hi', control)];
    const body = {
      name: 'Named',
      slug: 'named',
      messages: [{ role: 'user', content }],
      tools: [{ ...tool, cache_control: hour }],
    };
    expect((await service.call('POST', '/api/v1/prompts', { body })).body).toMatchObject(body);
    const lost = async (id: string, model: string): Promise<unknown> => {
      const target = { provider: id, model };
      const { body: rendered } = await service.call('POST', '/api/v1/prompts/named/render', { body: target });
      expect(rendered).toMatchObject({ messages: [{ role: 'user', content }] });
      const { rewritten = [] } = (rendered as unknown as { targets: [{ rewritten?: { member: string }[] }] })
        .targets[0];
      return rewritten.map(({ member }) => member);
    };
    expect(await lost('anthropic', 'claude-sonnet-5-5')).toEqual([]);
    expect(await lost('amazon-bedrock', 'us.anthropic.claude-sonnet-5-5')).toEqual(['tools/0/cache_control']);
    expect(await lost('openai', 'gpt-6-sol')).toEqual(['tools/0/cache_control']);
    expect(await lost('mistral', 'mistral-small-latest')).toEqual([
      'tools/0/cache_control',
      'messages/0/content/0/cache_control',
    ]);
  });

  it('are refused by name beyond what a provider takes, or left out', async () => {
    const content = [1, 2, 3, 4, 5].map((number) => text(`${number}`, control));
    const body = { name: 'Five', slug: 'five', messages: [{ role: 'user', content }], selected_provider: 'anthropic' };
    expect((await service.call('POST', '/api/v1/prompts', { body })).status).toBe(201);
    const invoke = (members: object): Promise<Answer> =>
      service.call('POST', '/api/v1/prompts/five/invoke', { body: members });
    const refused = await invoke({});
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({
      type: 'urn:prompt-gateway:problem:unsupported-by-provider',
      errors: [{ pointer: '#/messages/0/content/4/cache_control' }],
    });
    expect((await invoke({ unsupported: 'ignore' })).status).toBe(200);
    expect(JSON.stringify(sent()).match(/cache_control/g)).toHaveLength(4);
    const one = { provider_options: { anthropic: { cacheControl: control } } };
    expect((await invoke(one)).body).toMatchObject({
      errors: [
        { pointer: '#/messages/0/content/3/cache_control' },
        { pointer: '#/messages/0/content/4/cache_control' },
      ],
    });
    expect((await invoke({ provider: 'openai', model: 'gpt-6-sol' })).status).toBe(200);
  });
});

describe('the answer cache of the service', () => {
  it('does not see hints', async () => {
    const ask = (members: object, cache_control?: object): Promise<Answer> =>
      service.call('POST', '/api/v1/prompts/kept-cache/invoke', {
        body: {
          ...members,
          messages: [
            { role: 'user', content: [{ type: 'text', text: 'Hi', ...(cache_control && { cache_control }) }] },
          ],
        },
        headers: { 'Cache-Control': 'max-age=60' },
      });
    const body = { name: 'Kept', slug: 'kept-cache', messages: [{ role: 'system', content: 'Be kind.' }] };
    await service.call('POST', '/api/v1/prompts', { body: { ...body, selected_provider: 'openai' } });
    expect((await ask({})).headers['x-cached']).toBe('false');
    expect((await ask({}, control)).headers['x-cached']).toBe('true');
    const keyed = { provider_options: { openai: { promptCacheKey: 'ada' } } };
    expect((await ask(keyed, { ...control, ttl: '1h' })).headers['x-cached']).toBe('true');
    expect(provider.bodies).toHaveLength(1);
  });
});
