import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from '../../src/models/language-model.ts';
import {
  collect,
  provider,
  remoteIds,
  request,
  secret,
  startHarness,
  streamOf,
  type Harness,
} from './providers-harness.ts';

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

/** Where it is not `/chat/completions`. */
const paths: Record<string, string> = {
  anthropic: '/messages',
  google: '/models/llama:generateContent',
  xai: '/responses',
  'amazon-bedrock': '/model/llama/converse',
  cohere: '/chat',
};

const scattered: Message[] = [
  { role: 'user', content: 'First question' },
  { role: 'assistant', content: 'First answer' },
  { role: 'system', content: 'Rule one' },
  { role: 'user', content: 'Second question' },
  { role: 'system', content: 'Rule two' },
];

describe.each([...remoteIds, 'local'])('%s', (id) => {
  it('answers with text, finish reason and usage', async () => {
    const result = await provider(harness.registry, id).generate(request('llama'));
    expect(result).toEqual({
      content: [{ type: 'text', text: 'Hello from llama.' }],
      finishReason: 'stop',
      usage: { inputTokens: 11, outputTokens: 7 },
    });
    expect(harness.mock.requests.map(({ path }) => path)).toEqual([paths[id] ?? '/chat/completions']);
    expect(JSON.stringify(harness.mock.requests[0]?.headers)).toContain(secret);
  });

  it('says why the answer ended, whole and streamed', async () => {
    for (const [finish, expected] of [
      ['stop', 'stop'],
      ['length', 'length'],
      ['content-filter', 'content-filter'],
    ] as const) {
      const behaviour = { kind: 'answer', finish } as const;
      harness.mock.behave('llama', behaviour, behaviour);
      const { finishReason } = await provider(harness.registry, id).generate(request('llama'));
      const { events } = await collect(streamOf(harness.registry, id, request('llama')));
      const end = events.at(-1);
      expect([finishReason, end?.type === 'finish' && end.result.finishReason]).toEqual([expected, expected]);
    }
  });

  it('sends every message, with system messages in any place', async () => {
    await provider(harness.registry, id).generate(request('llama', { messages: scattered }));
    const sent = JSON.stringify(harness.mock.requests[0]?.body);
    for (const { content } of scattered) expect(sent).toContain(content);
  });

  it('sends a prompt that has only a system message', async () => {
    await provider(harness.registry, id).generate(request('llama', { messages: [{ role: 'system', content: 'Go' }] }));
    expect(JSON.stringify(harness.mock.requests[0]?.body)).toContain('"Go"');
  });
});

describe('usage', () => {
  const without = ['openai', 'azure', 'google', 'groq', 'deepseek', 'openrouter', 'together', 'local'];
  it.each(without)('is unknown if %s does not send it', async (id) => {
    const { usage } = await provider(harness.registry, id).generate(request('mock-nousage'));
    expect(usage).toEqual({});
  });

  it.each(['anthropic', 'amazon-bedrock', 'cohere'])('is 0 if %s sends zeros', async (id) => {
    const { usage } = await provider(harness.registry, id).generate(request('mock-nousage'));
    expect(usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });
});

describe('system messages', () => {
  it.each([
    ['anthropic', 'system', [{ text: 'Rule one' }, { text: 'Rule two' }]],
    ['google', 'systemInstruction', { parts: [{ text: 'Rule one' }, { text: 'Rule two' }] }],
    ['amazon-bedrock', 'system', [{ text: 'Rule one' }, { text: 'Rule two' }]],
  ])('move to the front for %s', async (id, field, expected) => {
    await provider(harness.registry, id).generate(request('llama', { messages: scattered }));
    expect(harness.mock.requests[0]?.body[field]).toMatchObject(expected);
  });

  it('keep their places in chat completions', async () => {
    await provider(harness.registry, 'local').generate(request('llama', { messages: scattered }));
    const sent = harness.mock.requests[0]?.body['messages'] as { role: string }[];
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'system', 'user', 'system']);
  });

  it.each(['anthropic', 'amazon-bedrock'])('are followed by a user message if there is none, for %s', async (id) => {
    const messages: Message[] = [
      { role: 'system', content: 'One' },
      { role: 'system', content: 'Two' },
    ];
    await provider(harness.registry, id).generate(request('llama', { messages }));
    expect(harness.mock.requests[0]?.body).toMatchObject({ system: [{ text: 'One' }], messages: [{ role: 'user' }] });
  });

  it('are developer messages for reasoning models', async () => {
    await provider(harness.registry, 'openai').generate(request('gpt-5.4'));
    expect(harness.mock.requests[0]?.body).toMatchObject({ messages: [{ role: 'developer' }, { role: 'user' }] });
  });
});

describe('xai', () => {
  it('is told not to store anything', async () => {
    await provider(harness.registry, 'xai').generate(request('grok'));
    expect(harness.mock.requests[0]?.body).toMatchObject({ store: false });
  });
});

describe('an OpenAI-compatible server', () => {
  it('gets the configured headers, and no authorization without a key', async () => {
    const server = { id: 'own', name: 'Own', baseUrl: `${harness.mock.url}/v1/`, models: ['a', 'b'] };
    const registry = harness.with({ settings: { compatible: [{ ...server, headers: { 'X-Team': 'blue' } }] } });
    await provider(registry, 'own').generate(request('a'));
    expect(harness.mock.requests[0]).toMatchObject({ path: '/v1/chat/completions', headers: { 'x-team': 'blue' } });
    expect(harness.mock.requests[0]?.headers).not.toHaveProperty('authorization');
  });
});
