import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { GenerateEvent, Usage } from '../../src/models/language-model.ts';
import type { ProviderRegistry } from '../../src/models/provider.ts';
import { mockToolCalls, type Behaviour, type Step } from '../support/mock-provider.ts';
import {
  collect,
  confidential,
  provider,
  remoteIds,
  request,
  secret,
  startHarness,
  streamOf,
  type Call,
  type Harness,
  type Streamed,
} from './providers-harness.ts';

let harness: Harness;
let registry: ProviderRegistry;

beforeAll(async () => {
  harness = await startHarness();
  const { mock } = harness;
  const access = { apiKey: secret, region: 'eu-central-1' };
  registry = harness.with({
    settings: {
      builtIn: Object.fromEntries(
        remoteIds.map((id) => [id, { ...access, baseUrl: `${mock.url}${prefixes[id] ?? ''}` }]),
      ),
    },
  });
  await registry.preload();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

/** See `MockProvider.url`. */
const prefixes: Readonly<Record<string, string>> = { mistral: '/mistral', groq: '/groq' };

/** A provider for each format, and the usage that its streams mention before the end. */
const formats = [
  ['openai', undefined],
  ['xai', undefined],
  ['anthropic', { inputTokens: 11, outputTokens: 1 }],
  ['google', { inputTokens: 11, outputTokens: 2 }],
] as const satisfies readonly (readonly [id: string, early: Usage | undefined])[];

const usage = { inputTokens: 11, outputTokens: 7 };

async function run(id: string, model: string, changes: Parameters<typeof request>[1] = {}): Promise<Streamed> {
  return collect(streamOf(registry, id, request(model, changes)));
}

/** How the calls to the mock ended, as soon as all have. */
async function endings(): Promise<{ aborted: boolean }[]> {
  await Promise.all(harness.mock.requests.map(({ ended }) => ended));
  return harness.mock.requests.map(({ aborted }) => ({ aborted }));
}

const whole = { aborted: false };
const broken = { aborted: true };

/** The mock writes none in the formats of these. */
const withoutThinking = ['openai', 'azure', 'groq', 'mistral'];

describe.each([...remoteIds, 'local'])('%s', (id) => {
  it('gives the words while they come, and the whole answer with usage', async () => {
    const { events } = await run(id, 'llama');
    expect(events).toEqual([
      { type: 'text', delta: 'Hello' },
      { type: 'text', delta: ' from' },
      { type: 'text', delta: ' llama.' },
      {
        type: 'finish',
        result: { content: [{ type: 'text', text: 'Hello from llama.' }], finishReason: 'stop', usage },
      },
    ]);
    expect(await endings()).toEqual([whole]);
    expect(harness.mock.requests[0]?.streamed).toBe(true);
  });

  it('gives tool calls whole, in their order', async () => {
    const { events } = await run(id, 'mock-tools');
    const toolCalls = mockToolCalls.map((call) => ({
      type: 'tool-call',
      ...call,
      arguments: expect.any(String) as unknown,
    }));
    expect(events.slice(3)).toEqual([
      ...toolCalls,
      {
        type: 'finish',
        result: { content: [{ type: 'text', text: 'Let me look.' }, ...toolCalls], finishReason: 'tool-calls', usage },
      },
    ]);
    const calls = events.flatMap((event) => (event.type === 'tool-call' ? [event] : []));
    for (const [index, { arguments: sent }] of mockToolCalls.entries()) {
      expect(JSON.parse(calls[index]?.arguments ?? '')).toEqual(JSON.parse(sent));
    }
  });

  it('gives thinking before the text that follows it', async () => {
    const { texts, events } = await run(id, 'mock-reasoning');
    expect(texts.join('')).toBe('Hello from mock-reasoning.');
    const end = events.at(-1);
    const content = end?.type === 'finish' ? end.result.content : [];
    const thoughts = content.flatMap((part) => (part.type === 'thinking' ? [part.text] : []));
    expect(thoughts.join('')).toBe(withoutThinking.includes(id) ? '' : 'I think about it.');
    expect(content.slice(thoughts.length)).toEqual([{ type: 'text', text: 'Hello from mock-reasoning.' }]);
    const isThinking = ({ type }: GenerateEvent): boolean => type.startsWith('thinking');
    const given = events.flatMap((event) => (event.type === 'thinking' ? [event.delta] : []));
    expect(given).toEqual(thoughts);
    expect(events.slice(0, 2 * thoughts.length).every(isThinking)).toBe(true);
  });

  it('fails when the stream ends without its own end', async () => {
    const { texts, problem } = await run(id, 'mock-unended');
    expect(texts).toEqual(['Hello', ' from', ' mock-unended.']);
    expect(problem).toMatchObject({ type: 'provider-bad-answer' });
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('fails when the provider reports an error after the first words, whatever follows', async () => {
    const { texts, problem } = await run(id, 'mock-error');
    expect(texts).toEqual(['Hello', ' from']);
    expect(problem?.type).toMatch(/^provider-(failed|bad-answer)$/);
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe.each(formats)('a stream of %s', (id, early) => {
  it('that reports an error keeps the usage so far', async () => {
    const { problem } = await run(id, 'mock-error');
    expect(problem).toMatchObject({
      type: 'provider-failed',
      message: 'The provider answered with an error (server_error).',
      extensions: { provider: id, model: 'mock-error', retryable: false },
    });
    expect(problem?.extensions.usage).toEqual(early);
  });

  it.each([
    ['before', []],
    ['after', [{ text: 'Hello' }]],
  ] as const)(
    'that reports an error %s content is ended by the service, not by the provider',
    async (_when, content) => {
      const steps: Step[] = [...content, { error: 'server_error' }, 'hang'];
      harness.mock.behave('gpt', { kind: 'stream', steps });
      const { events, problem } = await run(id, 'gpt', { maxAttempts: 1 });
      expect(events).toHaveLength(content.length);
      expect(problem?.type).toBe('provider-failed');
      expect(await endings()).toEqual([broken]);
    },
  );

  it('that contains an event which is not JSON ends there', async () => {
    const { texts, problem } = await run(id, 'mock-broken');
    expect(texts).toEqual(['Hello', ' from']);
    expect(problem?.type).toBe('provider-bad-answer');
    expect(problem?.extensions.usage).toEqual(early);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('that is cut keeps the usage so far', async () => {
    const first = Promise.withResolvers<unknown>();
    const steps: Step[] = [{ text: 'Hello' }, { text: ' you' }, { wait: first.promise }, 'cut'];
    harness.mock.behave('gpt', { kind: 'stream', steps });
    const seen: GenerateEvent[] = [];
    const reading = (async () => {
      for await (const event of streamOf(registry, id, request('gpt'))) {
        seen.push(event);
        if (seen.length === 2) first.resolve(undefined);
      }
    })();
    await expect(reading).rejects.toMatchObject({
      type: 'provider-bad-answer',
      extensions: early === undefined ? {} : { usage: early },
    });
    expect(seen).toEqual([
      { type: 'text', delta: 'Hello' },
      { type: 'text', delta: ' you' },
    ]);
    expect(await endings()).toEqual([broken]);
  });

  it('that begins with an error is repeated like a failed call', async () => {
    const { events, problem } = await run(id, 'mock-early-error');
    expect(events).toEqual([]);
    expect(problem).toMatchObject({ type: 'provider-failed', extensions: { retryable: false } });
    expect(harness.mock.requests).toHaveLength(1);
    const overloaded: Behaviour = { kind: 'stream', steps: [{ error: 'overloaded_error' }] };
    harness.mock.behave('gpt', overloaded, overloaded, overloaded);
    expect((await run(id, 'gpt')).problem).toMatchObject({ type: 'provider-failed', extensions: { retryable: true } });
    expect(harness.mock.requests).toHaveLength(4);
  });

  it('succeeds after a rate limit and a stream that began with an error', async () => {
    const early: Step[] = [{ error: 'overloaded_error' }];
    harness.mock.behave('gpt', { kind: 'status', status: 429 }, { kind: 'stream', steps: early });
    expect((await run(id, 'gpt')).texts.join('')).toBe('Hello from gpt.');
    expect(harness.mock.requests).toHaveLength(3);
  });

  it('has as few attempts as the caller allows, and reports them', async () => {
    const attempts: unknown[] = [];
    const onFailedAttempt: Call['onFailedAttempt'] = (attempt) => attempts.push(attempt);
    const { problem } = await run(id, 'mock-429', { maxAttempts: 1, onFailedAttempt });
    expect(problem).toMatchObject({ type: 'provider-rate-limited', extensions: { provider_status: 429 } });
    expect(harness.mock.requests).toHaveLength(1);
    const common = { provider: id, model: 'mock-429' };
    expect(attempts).toMatchObject([{ ...common, problem: 'provider-rate-limited', may_be_billed: false }]);
  });

  it('is not repeated when the answer is no stream', async () => {
    for (const model of ['mock-garbage', 'mock-partial']) {
      harness.mock.reset();
      const { events, problem } = await run(id, model);
      expect(events).toEqual([]);
      expect(problem?.type).toBe('provider-bad-answer');
      expect(harness.mock.requests).toHaveLength(1);
    }
  });

  it('is not repeated when it fails while the model reasons', async () => {
    const steps: Step[] = [{ reasoning: 'First, I' }, { error: 'server_error' }];
    harness.mock.behave('gpt', { kind: 'stream', steps });
    const attempts: unknown[] = [];
    const { events, problem } = await run(id, 'gpt', { onFailedAttempt: (attempt) => attempts.push(attempt) });
    // OpenAI's chat format has no reasoning.
    const hasReasoning = id !== 'openai';
    if (!hasReasoning) return;
    expect(events).toEqual([]);
    expect(problem?.type).toBe('provider-failed');
    expect(attempts).toMatchObject([{ may_be_billed: true }]);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('fails at the deadline without content, and ends the call', async () => {
    const models = ['mock-hang', 'mock-quiet'];
    const outcomes = await Promise.all(models.map((model) => run(id, model, { within: 700 })));
    for (const { events, problem } of outcomes) {
      expect(events).toEqual([]);
      expect(problem?.type).toBe('provider-timeout');
    }
    for (const ending of await endings()) expect(ending).toEqual(broken);
    expect(harness.mock.requests.length).toBeLessThanOrEqual(2);
  });

  it('has no deadline after the first content', async () => {
    const more = Promise.withResolvers<unknown>();
    const steps: Step[] = [{ text: 'Hello' }, { wait: more.promise }, { text: ' you' }, { finish: 'stop' }];
    harness.mock.behave('gpt', { kind: 'stream', steps });
    // Never over before the first content, always after it.
    const texts: string[] = [];
    const { messages, principal, signal } = request('gpt');
    const call = {
      principal,
      signal,
      get deadline() {
        return texts.length === 0 ? performance.now() + 20 : 0;
      },
    };
    for await (const event of provider(registry, id).stream({ model: 'gpt', messages }, call)) {
      if (event.type === 'text') texts.push(event.delta);
      await sleep(60);
      more.resolve(undefined);
    }
    expect(texts).toEqual(['Hello', ' you']);
  });

  it('can consist of tool calls only', async () => {
    const steps: Step[] = [...mockToolCalls.map((toolCall) => ({ toolCall })), { finish: 'tool-calls' }];
    harness.mock.behave('gpt', { kind: 'stream', steps });
    const { events } = await run(id, 'gpt');
    expect(events.map(({ type }) => type)).toEqual(['tool-call', 'tool-call', 'finish']);
  });

  it('can be empty', async () => {
    harness.mock.behave('gpt', { kind: 'stream', steps: ['ping', { finish: 'length' }] });
    const { events } = await run(id, 'gpt');
    expect(events).toEqual([{ type: 'finish', result: { content: [], finishReason: 'length', usage } }]);
  });

  it('keeps prompt and key out of its failures', async () => {
    for (const model of ['mock-400', 'mock-error', 'mock-broken', 'mock-early-error', 'mock-garbage']) {
      const { problem } = await run(id, model, { maxAttempts: 1 });
      expect(JSON.stringify([problem, problem?.message, problem?.extensions])).not.toMatch(
        new RegExp(`${secret}|${confidential}|never`),
      );
    }
  });

  it('sends the trace context', async () => {
    await run(id, 'gpt', { traceparent: '00-trace' });
    expect(harness.mock.requests[0]?.headers['traceparent']).toBe('00-trace');
  });
});

describe('a tool call that is cut off', () => {
  it.each(['openai', 'local', 'mistral', 'groq', 'deepseek'])('is not given by %s', async (id) => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'pay', arguments: '{"amount":1' } };
    const chunk = { id: 'x', model: 'gpt', choices: [{ index: 0, delta: { tool_calls: [call] } }] };
    const steps: Step[] = [{ text: 'Hello' }, { raw: `data: ${JSON.stringify(chunk)}\n\n` }];
    harness.mock.behave('gpt', { kind: 'stream', steps });
    const { events, problem } = await run(id, 'gpt');
    expect(events).toEqual([{ type: 'text', delta: 'Hello' }]);
    expect(problem?.type).toBe('provider-bad-answer');
  });
});

describe('a stream with more or longer tool calls than an answer can have', () => {
  const call = (id: string, name = 'weather'): Step => ({ toolCall: { id, name, arguments: '{}' } });

  it.each([
    ['too many', Array.from({ length: 1_001 }, (_, index) => call(`call_${index}`))],
    ['too long', [call('call_1', 'x'.repeat(1_001))]],
  ])('fails: %s', async (_what, calls) => {
    harness.mock.behave('gpt', { kind: 'stream', steps: [{ text: 'Hello' }, ...calls, { finish: 'tool-calls' }] });
    const { texts, problem } = await run('openai', 'gpt');
    expect(texts).toEqual(['Hello']);
    expect(problem?.type).toBe('provider-bad-answer');
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('an error that a provider reports within a stream', () => {
  const cases: [string, string, string][] = [
    ['anthropic', 'overloaded_error', 'provider-failed'],
    ['anthropic', 'rate_limit_error', 'provider-rate-limited'],
    ['openai', 'rate_limit_exceeded', 'provider-rate-limited'],
    ['local', 'rate_limit_exceeded', 'provider-rate-limited'],
    ['local', 'invalid_api_key', 'provider-refused-credentials'],
    ['google', 'RESOURCE_EXHAUSTED', 'provider-failed'],
  ];
  it.each(cases)('of %s, %s, has its problem before and after content', async (id, code, type) => {
    harness.mock.behave('gpt', { kind: 'stream', steps: [{ error: code }] });
    expect((await run(id, 'gpt', { maxAttempts: 1 })).problem?.type).toBe(type);
    harness.mock.behave('gpt', { kind: 'stream', steps: [{ text: 'Hello' }, { error: code }] });
    expect((await run(id, 'gpt')).problem?.type).toBe(type);
  });
});

describe('usage', () => {
  it('is asked for where it has to be', async () => {
    for (const id of ['openai', 'local', 'azure', 'deepseek']) {
      harness.mock.reset();
      await run(id, 'gpt');
      expect(harness.mock.requests[0]?.body['stream_options']).toEqual({ include_usage: true });
    }
  });
});

describe('a provider without settings', () => {
  it('is refused before anything is sent', async () => {
    const none = harness.with({ settings: { builtIn: {} } });
    const { problem } = await collect(streamOf(none, 'openai', request('gpt')));
    expect(problem?.type).toBe('provider-not-configured');
    expect(harness.mock.requests).toEqual([]);
  });
});
