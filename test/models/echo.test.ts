import { describe, expect, it } from '@jest/globals';
import { createStreamWatch } from '../../src/models/call/stream-watch.ts';
import { createProviderRegistry } from '../../src/models/registry.ts';
import {
  callsOf,
  textOf,
  type GenerateEvent,
  type GenerateRequest,
  type GenerateResult,
  type Message,
  type Tool,
} from '../../src/models/language-model.ts';
import { failure, provider, request } from './providers-harness.ts';
import { system } from '../../src/base/runtime/system.ts';

const registry = createProviderRegistry({
  random: system.random,
  settings: { builtIn: {}, compatible: [], models: {}, concurrency: 1 },
  fetch: () => Promise.reject(new Error('Nothing may be sent.')),
  streamFetch: () => Promise.reject(new Error('Nothing may be sent.')),
  streamWatch: createStreamWatch({ clock: system.clock }),
});

const messages: Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Name  three\ncolours' },
  { role: 'assistant', content: 'Red' },
];

describe('echo', () => {
  it.each([
    ['echo-1', 'Name  three\ncolours'],
    ['echo-upper', 'NAME  THREE\nCOLOURS'],
    ['echo-reverse', 'colours three Name'],
  ])('%s answers the last user message', async (model, text) => {
    const result = await provider(registry, 'echo').generate(request(model, { messages }));
    expect(result).toEqual({
      content: [{ type: 'text', text }],
      finishReason: 'stop',
      usage: { inputTokens: 6, outputTokens: 3 },
    });
  });

  it('answers with the last message if there is no user message', async () => {
    const only: Message[] = [{ role: 'system', content: 'Be brief.' }];
    const result = await provider(registry, 'echo').generate(request('echo-1', { messages: only }));
    expect(textOf(result)).toBe('Be brief.');
  });

  it('counts no words in an empty message', async () => {
    const empty: Message[] = [{ role: 'user', content: '' }];
    const result = await provider(registry, 'echo').generate(request('echo-1', { messages: empty }));
    expect(result).toEqual({ content: [], finishReason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } });
  });

  it('refuses an unknown model', async () => {
    const problem = await failure(registry, 'echo', request('gpt'));
    expect(problem).toMatchObject({ type: 'provider-failed', extensions: { provider: 'echo', retryable: false } });
  });

  it('stops when the caller has left', async () => {
    const signal = AbortSignal.abort(new Error('Gone.'));
    await expect(provider(registry, 'echo').generate(request('echo-1', { signal }))).rejects.toThrow('Gone.');
  });
});

const weather: Tool = {
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } } },
};
const clock: Tool = { name: 'get_time', parameters: { type: 'object' } };

function ask(text: string, changes: Partial<GenerateRequest> = {}): Promise<GenerateResult> {
  return provider(registry, 'echo').generate(
    request('echo-1', { messages: [{ role: 'user', content: text }], ...changes }),
  );
}

describe('tools of echo', () => {
  const tools = [weather, clock];

  it('are called by lines of the message', async () => {
    const text = 'Please\ncall get_weather {"city": "Bern"}\ncall nothing {}\ncall get_time';
    expect(await ask(text, { tools })).toEqual({
      finishReason: 'tool-calls',
      usage: { inputTokens: 10, outputTokens: 3 },
      content: [
        { type: 'tool-call', id: 'call_1', name: 'get_weather', arguments: '{"city": "Bern"}' },
        { type: 'tool-call', id: 'call_2', name: 'get_time', arguments: '{}' },
      ],
    });
    const one = await ask(text, { tools, parameters: { parallel_tool_calls: false } });
    expect(callsOf(one).map(({ name }) => name)).toEqual(['get_weather']);
  });

  it.each([
    ['none', undefined],
    ['auto', undefined],
    ['required', { name: 'get_weather', arguments: '{"city":"Bern","days":1}' }],
    [{ name: 'get_time' }, { name: 'get_time', arguments: '{}' }],
  ] as const)('are called without a line for the choice %j: %j', async (toolChoice, expected) => {
    const calls = callsOf(await ask('Bern', { tools, toolChoice }));
    expect(calls).toEqual(expected === undefined ? [] : [{ type: 'tool-call', id: 'call_1', ...expected }]);
  });

  it('are not called if they are not offered, or not to be called', async () => {
    expect(await ask('call get_time')).toMatchObject({
      content: [{ type: 'text', text: 'call get_time' }],
      finishReason: 'stop',
    });
    expect(await ask('call get_time', { tools, toolChoice: 'none' })).toMatchObject({ finishReason: 'stop' });
  });

  it('have results, which are the next answer', async () => {
    const conversation: Message[] = [
      { role: 'user', content: 'call get_time' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'call_1', name: 'get_time', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'call_1', toolName: 'get_time', content: 'It is noon.' },
    ];
    const call = request('echo-1', { messages: conversation, tools, toolChoice: 'required' });
    expect(await provider(registry, 'echo').generate(call)).toMatchObject({
      content: [{ type: 'text', text: 'It is noon.' }],
      finishReason: 'stop',
    });
    const more = { messages: [...conversation, { role: 'user' as const, content: 'call get_time' }], tools };
    expect(callsOf(await ask('', more))[0]?.id).toBe('call_2');
  });
});

describe('the format json of echo', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 3 },
      size: { enum: ['small', 'large'] },
      tags: { type: 'array', items: { type: ['string', 'null'] } },
      nested: { anyOf: [{ properties: { ok: { type: 'boolean' }, left: { type: 'null' } } }] },
      version: { const: 2 },
    },
  } as const;

  it('keeps a message that is JSON', async () => {
    expect(textOf(await ask('[1, 2]', { responseFormat: { type: 'json', schema } }))).toBe('[1, 2]');
  });

  it('makes a sample of any other message', async () => {
    expect(textOf(await ask('Hello', { responseFormat: { type: 'json' } }))).toBe('{"text":"Hello"}');
    const text = textOf(await ask('Hello', { responseFormat: { type: 'json', schema } }));
    expect(JSON.parse(text)).toEqual({
      name: 'Hel',
      size: 'small',
      tags: ['Hello'],
      nested: { ok: false, left: null },
      version: 2,
    });
  });

  it('keeps samples small', async () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, { type: 'string' }]));
    const text = textOf(await ask('x'.repeat(100_000), { responseFormat: { type: 'json', schema: { properties } } }));
    expect(text.length).toBeLessThan(30_000);
  });
});

describe('echo', () => {
  it.each([
    [{ stop: ['three', 'two'] }, 'one ', 'stop'],
    [{ stop: ['four'] }, 'one two three', 'stop'],
    [{ max_output_tokens: 2 }, 'one two', 'length'],
    [{ max_output_tokens: 3 }, 'one two three', 'stop'],
    [{ max_output_tokens: 1, stop: ['two'] }, 'one ', 'stop'],
    [{ temperature: 1, seed: 3, reasoning_effort: 'low' }, 'one two three', 'stop'],
  ] as const)('with %j answers %j (%s)', async (parameters, text, finishReason) => {
    expect(await ask('one two three', { parameters })).toMatchObject({
      content: [{ type: 'text', text }],
      finishReason,
    });
  });

  it('counts images and reads the texts around them', async () => {
    const image = { type: 'image', url: 'https://example.com/a.png' } as const;
    const content = [
      { type: 'text', text: 'What is ' } as const,
      image,
      { type: 'text', text: 'this?' } as const,
      image,
    ];
    expect(await ask('', { messages: [{ role: 'user', content }] })).toEqual({
      content: [{ type: 'text', text: 'What is \n\nthis?' }],
      finishReason: 'stop',
      usage: { inputTokens: 5, outputTokens: 3 },
    });
  });

  it('fails as echo-fail like an overloaded provider, and reports the attempt', async () => {
    const attempts: unknown[] = [];
    const call = request('echo-fail', { onFailedAttempt: (attempt) => attempts.push(attempt) });
    expect(await failure(registry, 'echo', call)).toMatchObject({
      type: 'provider-failed',
      extensions: { provider: 'echo', model: 'echo-fail', retryable: true, provider_status: 503 },
    });
    expect(attempts).toEqual([
      { provider: 'echo', model: 'echo-fail', problem: 'provider-failed', may_be_billed: false },
    ]);
  });

  it.each([
    ['', []],
    [' ', [' ']],
    ['one', ['one']],
    [' one  two\n\tthree ', [' one', '  two', '\n\tthree', ' ']],
  ])('streams %j as %j', async (text, expected) => {
    const call = request('echo-1', { messages: [{ role: 'user', content: text }] });
    const events: GenerateEvent[] = [];
    for await (const event of registry.get('echo')?.answer(call, call, { isStreamed: true }) ?? []) events.push(event);
    expect(events.slice(0, -1)).toEqual(expected.map((delta) => ({ type: 'text', delta })));
    expect(events.at(-1)).toEqual({ type: 'finish', result: await ask(text) });
  });

  it.each([['lorem ipsum\n'.repeat(50_000)], [' '.repeat(200_000)], [`a ${'b'.repeat(100_000)} c`]])(
    'streams a long text in some hundred pieces',
    async (text) => {
      const call = request('echo-1', { messages: [{ role: 'user', content: text }] });
      const deltas: string[] = [];
      for await (const event of registry.get('echo')?.answer(call, call, { isStreamed: true }) ?? []) {
        if (event.type === 'text') deltas.push(event.delta);
      }
      expect(deltas.join('') === text).toBe(true);
      expect(deltas.length).toBeLessThan(1_002);
    },
  );

  it('counts words as all white space separates them', async () => {
    const text = '\u00a0 a\tb\u2009c\u3000d\ufeffe\u0085f\u200bg\r\n\u1680é\u2028\u{1f600} ';
    expect((await ask(text)).usage.outputTokens).toBe(text.trim().split(/\s+/).length);
  });

  it('takes a long text for JSON if it begins like JSON', async () => {
    const responseFormat = { type: 'json' } as const;
    const long = `[${'{},'.repeat(30_000)}`;
    expect(textOf(await ask(long, { responseFormat })) === long).toBe(true);
    const text = textOf(await ask('lorem '.repeat(20_000), { responseFormat }));
    expect(text).toMatch(/^\{"text":"lorem /);
  });

  it('streams calls of tools', async () => {
    const call = request('echo-1', { messages: [{ role: 'user', content: 'call get_time' }], tools: [clock] });
    const events: GenerateEvent[] = [];
    for await (const event of registry.get('echo')?.answer(call, call, { isStreamed: true }) ?? []) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['tool-call', 'finish']);
  });

  it('supports everything', async () => {
    const all: GenerateRequest = {
      model: 'echo-1',
      messages: [{ role: 'user', content: [{ type: 'image', url: 'https://example.com/a.png' }] }],
      parameters: { top_k: 1 },
      tools: [weather],
    };
    expect(await registry.get('echo')?.unsupported(all)).toEqual([]);
  });
});
