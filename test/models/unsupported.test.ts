import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GenerateRequest, Message } from '../../src/models/language-model.ts';
import { createUnsupportedFinder } from '../../src/models/twin/unsupported.ts';
import { remoteIds, startHarness, type Harness } from './providers-harness.ts';

let harness: Harness;

/** Requests that this process makes, with undici or the built-in `fetch`. */
let sent = 0;
const note = (): void => {
  sent += 1;
};

beforeAll(async () => {
  harness = await startHarness();
  subscribe('undici:request:create', note);
});
afterAll(async () => {
  unsubscribe('undici:request:create', note);
  await harness.close();
});

const user: Message = { role: 'user', content: 'Hi' };

/** What a provider cannot do. Nothing may be sent for it. */
async function unsupported(id: string, changes: Partial<GenerateRequest>, model = 'llama'): Promise<string[]> {
  const found = await harness.registry.get(id)?.unsupported({ model, messages: [user], ...changes });
  expect(sent).toBe(0);
  for (const { detail } of found ?? []) expect(detail).toMatch(/^.{10,}$/);
  return (found ?? []).map(({ member }) => member).sort();
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false } as const;
const tools = [
  { name: 'weather', parameters: schema },
  { name: 'time', parameters: schema },
];
const parts = [
  { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' },
  { type: 'text', text: ' same\n' },
] as const;
const image = (url: string): Message => ({
  role: 'user',
  content: [
    { type: 'text', text: 'a' },
    { type: 'image', url },
  ],
});
const address = 'messages/0/content/1';

describe('parameters', () => {
  const parameters = {
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    max_output_tokens: 50,
    stop: ['x'],
    seed: 1,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
  };

  it.each([
    ['openai', ['top_k']],
    ['anthropic', ['frequency_penalty', 'presence_penalty', 'seed']],
    ['google', []],
    ['mistral', ['top_k']],
    ['groq', ['top_k']],
    ['xai', ['frequency_penalty', 'presence_penalty', 'stop']],
    ['deepseek', ['frequency_penalty', 'presence_penalty', 'seed', 'top_k']],
    ['azure', ['top_k']],
    ['amazon-bedrock', ['frequency_penalty', 'presence_penalty', 'seed']],
    ['cohere', []],
    ['local', ['top_k']],
  ])('of %s: not %j', async (id, expected) => {
    expect(await unsupported(id, { parameters })).toEqual(expected.map((name) => `parameters/${name}`));
  });

  it('depend on the model', async () => {
    expect(await unsupported('openai', { parameters: { temperature: 0.5 } }, 'gpt-5.4')).toEqual([
      'parameters/temperature',
    ]);
    expect(await unsupported('openai', { parameters: { temperature: 0.5 } }, 'gpt-4.1')).toEqual([]);
  });

  it('depend on their values', async () => {
    expect(await unsupported('anthropic', { parameters: { temperature: 1.5 } })).toEqual(['parameters/temperature']);
    expect(await unsupported('anthropic', { parameters: { temperature: 1 } })).toEqual([]);
    expect(await unsupported('google', { tools, toolChoice: 'required' })).toEqual([]);
    const strict = tools.map((tool) => ({ ...tool, strict: true }));
    expect(await unsupported('google', { tools: strict, toolChoice: 'required' })).toEqual([
      'tools/0/strict',
      'tools/1/strict',
    ]);
  });
});

describe('the reasoning effort', () => {
  it.each([
    ['openai', 'gpt-5.4', 'high', []],
    ['mistral', 'mistral-large-latest', 'high', ['parameters/reasoning_effort']],
    ['amazon-bedrock', 'llama', 'high', ['parameters/reasoning_effort']],
    ['local', 'llama', 'xhigh', []],
  ] as const)('of %s for %s: %s', async (id, model, reasoning_effort, expected) => {
    expect(await unsupported(id, { parameters: { reasoning_effort } }, model)).toEqual(expected);
  });
});

describe('formats', () => {
  it.each([
    ['openai', [], [], []],
    ['anthropic', ['response_format'], [], ['response_format/strict']],
    ['google', [], [], []],
    ['mistral', [], [], []],
    ['groq', [], [], []],
    ['xai', [], [], []],
    ['deepseek', [], [], ['response_format/strict']],
    ['azure', [], [], []],
    ['amazon-bedrock', ['response_format'], [], ['response_format/strict']],
    ['cohere', [], [], []],
    ['local', [], ['response_format/schema'], ['response_format/schema', 'response_format/strict']],
  ])('of %s: not %j for any JSON, not %j for a schema, not %j for a strict one', async (id, any, loose, strict) => {
    expect(await unsupported(id, { responseFormat: { type: 'text' } })).toEqual([]);
    expect(await unsupported(id, { responseFormat: { type: 'json' } })).toEqual(any);
    expect(await unsupported(id, { responseFormat: { type: 'json', schema } })).toEqual(loose);
    expect(await unsupported(id, { responseFormat: { type: 'json', schema, strict: true } })).toEqual(strict);
  });
});

describe('strict formats of Anthropic', () => {
  it('are supported by models that take schemas, and not as functions', async () => {
    const responseFormat = { type: 'json', schema, strict: true } as const;
    expect(await unsupported('anthropic', { responseFormat }, 'claude-sonnet-4-5')).toEqual([]);
    expect(await unsupported('anthropic', { responseFormat }, 'claude-3-haiku-20240307')).toEqual([
      'response_format/strict',
    ]);
  });
});

describe('what is rewritten', () => {
  const rewritten = async (id: string, changes: Partial<GenerateRequest>, model = 'llama'): Promise<string[]> => {
    const found = await harness.registry.get(id)?.rewritten({ model, messages: [user], ...changes });
    expect(sent).toBe(0);
    return (found ?? []).map(({ member, detail }) => `${member}: ${detail}`);
  };
  const asFunction = expect.stringMatching(/^response_format: .* function/) as unknown as string;

  it('is a schema that becomes a function', async () => {
    const responseFormat = { type: 'json', schema } as const;
    expect(await rewritten('anthropic', { responseFormat }, 'claude-3-haiku-20240307')).toEqual([asFunction]);
    expect(await rewritten('amazon-bedrock', { responseFormat, tools })).toEqual([asFunction]);
    expect(await rewritten('anthropic', { responseFormat }, 'claude-sonnet-4-5')).toEqual([]);
    for (const id of ['openai', 'google', 'mistral', 'azure', 'cohere', 'local', 'echo']) {
      expect([id, await rewritten(id, { responseFormat })]).toEqual([id, []]);
    }
  });

  it('is a schema that is changed, or becomes a text', async () => {
    const open = { type: 'object', properties: { city: { type: 'string', minLength: 1 } } } as const;
    const changed = [expect.stringMatching(/^response_format\/schema: .* in another form/)];
    expect(
      await rewritten('anthropic', { responseFormat: { type: 'json', schema: open } }, 'claude-sonnet-4-5'),
    ).toEqual(changed);
    expect(await rewritten('deepseek', { responseFormat: { type: 'json', schema } })).toEqual(changed);
    expect(await rewritten('google', { responseFormat: { type: 'json', schema: open } })).toEqual([]);
  });

  it.each([
    ['xai', 'grok-4.7', ['gets true', 'gets true', '']],
    ['anthropic', 'claude-sonnet-4-5', ['', 'does not get it', 'does not get it']],
    ['google', 'gemini-3.8-flash', ['', 'does not get it', 'does not get it']],
    ['cohere', 'command-a-03-2025', ['', 'does not get it', 'does not get it']],
    ...['openai', 'mistral', 'groq', 'azure', 'openrouter', 'together'].map(
      (id) => [id, 'llama', ['', '', '']] as const,
    ),
  ] as const)('is strict of %s (%s), left out, false and true: %j', async (id, model, expected) => {
    const found = await Promise.all(
      [{}, { strict: false }, { strict: true }].map((strict) =>
        rewritten(id, { responseFormat: { type: 'json', schema, ...strict } }, model),
      ),
    );
    expect(found).toEqual(
      expected.map((detail) =>
        detail === '' ? [] : [expect.stringMatching(`^response_format/strict: The provider ${detail}\\.`)],
      ),
    );
  });

  it.each(remoteIds)('of %s is a text without its white space, at its place', async (id) => {
    const turns: Message[] = [
      { role: 'system', content: ' Be kind. ' },
      { role: 'user', content: [{ type: 'text', text: ' same\n' }, ...parts] },
      { role: 'assistant', content: ' same\n' },
      { role: 'user', content: ' same\n' },
    ];
    expect(await rewritten(id, { messages: turns })).toEqual([]);
    const trims = ['anthropic', 'amazon-bedrock'].includes(id);
    const trimmed = 'messages/4/content: The provider gets it without white space at its ends.';
    for (const text of [' same\n', ' {', `{"a": "${'long '.repeat(1_000)}`]) {
      const messages: Message[] = [...turns, { role: 'assistant', content: text }];
      expect(await rewritten(id, { messages })).toEqual(trims ? [trimmed] : []);
    }
    const calls: Message[] = [
      user,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: ' I look. ' },
          { type: 'tool-call', id: 'a', name: 'weather', arguments: '{"city": " x "}' },
        ],
      },
      { role: 'tool', toolCallId: 'a', toolName: 'weather', content: ' Sunny ' },
    ];
    const lost = 'messages/1/content: The provider does not get this text.';
    expect(await rewritten(id, { messages: calls, tools })).toEqual(id === 'cohere' ? [lost] : []);
  });

  it('is an address with characters that are escaped', async () => {
    const messages = [user, image('https://example.com/a b.png'), image('https://example.com/ok.png')];
    const detail = 'The provider gets the address https://example.com/a%20b.png';
    expect(await rewritten('openai', { messages })).toEqual([
      expect.stringMatching(`^messages/1/content/\\d: ${detail}$`),
    ]);
    expect(await rewritten('echo', { messages })).toEqual([]);
  });
});

describe('tools', () => {
  it.each([...remoteIds, 'local'])('of %s, and choices between them', async (id) => {
    for (const toolChoice of ['auto', 'none', 'required', { name: 'weather' }] as const) {
      expect(await unsupported(id, { tools, toolChoice })).toEqual([]);
    }
    const lax = tools.map((tool) => ({ ...tool, strict: false }));
    expect(await unsupported(id, { tools: lax, parameters: { parallel_tool_calls: true } })).toEqual([]);
  });

  it.each([
    ['openai', [], []],
    ['anthropic', [], ['tools/1/strict']],
    ['google', ['parameters/parallel_tool_calls'], []],
    ['mistral', [], []],
    ['groq', [], []],
    ['xai', [], []],
    ['deepseek', ['parameters/parallel_tool_calls'], ['tools/1/strict']],
    ['azure', [], []],
    ['amazon-bedrock', ['parameters/parallel_tool_calls'], []],
    ['cohere', ['parameters/parallel_tool_calls'], ['tools/1/strict']],
    ['local', [], []],
  ])('of %s: not %j for one at a time, not %j for strict arguments', async (id, single, strict) => {
    expect(await unsupported(id, { tools, parameters: { parallel_tool_calls: false } })).toEqual(single);
    const [first, second] = tools.map((tool, index) => ({ ...tool, ...(index === 1 && { strict: true }) }));
    expect(await unsupported(id, { tools: [first, second].flatMap((tool) => tool ?? []) })).toEqual(strict);
  });

  it('cannot be chosen for some models', async () => {
    const model = harness.registry.get('anthropic')?.defaultModel ?? '';
    expect(await unsupported('anthropic', { tools, toolChoice: 'required' }, model)).toEqual(['tool_choice']);
  });

  it('have to be there for the calls in a conversation with Bedrock', async () => {
    const messages: Message[] = [
      user,
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'weather', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'a', toolName: 'weather', content: 'Sunny' },
    ];
    expect(await unsupported('amazon-bedrock', { messages })).toEqual(['messages/1', 'messages/2']);
    expect(await unsupported('amazon-bedrock', { messages, tools })).toEqual([]);
    expect(await unsupported('openai', { messages })).toEqual([]);
  });
});

describe('images', () => {
  it.each([
    ['openai', []],
    ['anthropic', []],
    ['google', [address]],
    ['mistral', [address]],
    ['groq', []],
    ['xai', []],
    ['deepseek', []],
    ['azure', []],
    ['amazon-bedrock', [address]],
    ['cohere', []],
    ['local', [address]],
  ])('of %s by address: not %j', async (id, expected) => {
    expect(await unsupported(id, { messages: [image('https://example.com/a.png')] })).toEqual(expected);
    expect(await unsupported(id, { messages: [image('data:image/webp;base64,UklGRg==')] })).toEqual([]);
  });

  it.each([
    'https://generativelanguage.googleapis.com/v1beta/files/a-file-of-the-operator',
    'https://www.youtube.com/watch?v=dQw4w9WgXcQ',
    'https://youtu.be/dQw4w9WgXcQ',
  ])('of google are not other things that its package knows: %s', async (url) => {
    expect(await unsupported('google', { messages: [image(url)] })).toEqual([address]);
  });

  it('can only be in user messages', async () => {
    const messages = [image('https://example.com/a.png')].flatMap((message): Message[] =>
      message.role !== 'user' ? [] : [{ ...message, role: 'system' }, message, { ...message, role: 'assistant' }, user],
    );
    expect(await unsupported('openai', { messages })).toEqual(['messages/0/content/1', 'messages/2/content/1']);
  });

  it('are found at their places in long conversations', async () => {
    const turns: Message[] = Array.from({ length: 40 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `Turn ${index}`,
    }));
    const messages = [...turns, image('https://example.com/a.png'), user, image('data:image/png;base64,iVBORw0KGgo=')];
    expect(await unsupported('google', { messages })).toEqual(['messages/40/content/1']);
  });
});

describe('a twin', () => {
  /** A provider that counts how often it is asked for models. It has none. */
  function countingTwin(): { asked: () => number; find: ReturnType<typeof createUnsupportedFinder> } {
    let asked = 0;
    const models = async (): Promise<never> => {
      asked += 1;
      throw new Error('No models.');
    };
    return { asked: () => asked, find: createUnsupportedFinder({ id: 'x', dialect: { name: 'x' }, models }) };
  }
  const turn = (role: 'user' | 'assistant', content: string): Message => ({ role, content });
  const parameters = { top_k: 7 };

  it('is not asked about messages of text', async () => {
    const { asked, find } = countingTwin();
    const parts: Message = { role: 'user', content: [{ type: 'text', text: 'b' }] };
    const messages: Message[] = [{ role: 'system', content: 'a' }, parts, turn('assistant', 'c')];
    expect(await find({ model: 'm', messages })).toEqual([]);
    expect(await find({ model: 'm', messages, parameters: {}, tools: [], providerOptions: {} })).toEqual([]);
    expect(asked()).toBe(0);
  });

  it('is asked once about requests that differ in their texts, tools that were called, and lengths', async () => {
    const { asked, find } = countingTwin();
    const call = (id: string, argument: string): Message[] => [
      { role: 'assistant', content: [{ type: 'tool-call', id, name: `weather_${id}`, arguments: argument }] },
      { role: 'tool', toolCallId: id, toolName: `weather_${id}`, content: argument },
      turn('user', argument),
    ];
    await find({ model: 'm', messages: [turn('user', 'a'), ...call('c1', '{}')], tools, parameters });
    expect(asked()).toBe(1);
    const long = Array.from({ length: 20 }, (_, index) => call(`c${index}`, `{"index": ${index}}`)).flat();
    await find({ model: 'm', messages: [turn('user', 'b'), ...long], tools, parameters });
    expect(asked()).toBe(1);
    await find({ model: 'm', messages: [turn('user', 'a')], tools: tools.slice(1), parameters });
    await find({ model: 'n', messages: [turn('user', 'a')], tools, parameters });
    expect(asked()).toBe(3);
  });

  it('is not needed for a model that cannot exist: the call says so', async () => {
    expect(await unsupported('google', { parameters: { top_k: 1 } }, '../files')).toEqual([]);
  });

  it('gives a sentence for each member', async () => {
    const found = await harness.registry.get('openai')?.unsupported({ model: 'm', messages: [user], parameters });
    expect(found).toEqual([{ member: 'parameters/top_k', detail: 'The provider does not support it.' }]);
  });
});

describe('the limit of output tokens', () => {
  const limit = async (id: string, changes: Partial<GenerateRequest>, model = 'llama'): Promise<number | undefined> => {
    const found = await harness.registry.get(id)?.outputLimit({ model, messages: [user], ...changes });
    expect(sent).toBe(0);
    return found;
  };
  const parameters = { max_output_tokens: 321 };

  it.each([...remoteIds, 'local', 'echo'])('of %s is found in what would be sent', async (id) => {
    expect(await limit(id, { parameters })).toBe(321);
    expect(await limit(id, { parameters, tools, messages: [user, user] })).toBe(321);
    // One package always sends a limit.
    expect(await limit(id, {})).toEqual(id === 'anthropic' ? expect.any(Number) : undefined);
  });

  it('is that of the reasoning models, whose member has another name', async () => {
    expect(await limit('openai', { parameters }, 'gpt-5')).toBe(321);
  });

  it('has what the model may think, where the packages add it', async () => {
    const thinking = { type: 'enabled', budgetTokens: 2000 };
    expect(await limit('anthropic', { parameters, providerOptions: { thinking } }, 'claude-sonnet-4-5')).toBe(2321);
    const reasoningConfig = thinking;
    const claude = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
    expect(await limit('amazon-bedrock', { parameters, providerOptions: { reasoningConfig } }, claude)).toBe(2321);
  });

  it('does not exist where the package leaves it out', async () => {
    const reasoningConfig = { type: 'enabled', maxReasoningEffort: 'high' };
    const nova = 'us.amazon.nova-2-lite-v1:0';
    expect(await limit('amazon-bedrock', { parameters, providerOptions: { reasoningConfig } }, nova)).toBeUndefined();
  });

  it('is 0 where nothing would be sent', async () => {
    expect(await limit('google', { parameters }, '../llama')).toBe(0);
  });
});
