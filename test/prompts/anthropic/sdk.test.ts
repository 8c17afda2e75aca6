import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import { startAnother } from '../../support/per-operation.ts';
import type { TestService } from '../../support/service.ts';

/** The official SDK, unchanged except for its base URL and key, with its own retries, over any provider. */
let harness: InvokeHarness;
let anthropic: Anthropic;
beforeAll(async () => {
  harness = await startInvokeHarness();
  anthropic = clientOf(harness.service);
});
afterAll(() => harness.close());
afterEach(() => {
  harness.mock.reset();
});

function clientOf({ url, adminKey }: TestService, apiKey = adminKey): Anthropic {
  return new Anthropic({ baseURL: url, apiKey });
}

const model = 'mock/model-a';
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'What is a webhook?' }];
const asked = { model, messages, max_tokens: 100 };

describe('messages', () => {
  it('answers', async () => {
    const message = await anthropic.messages.create(asked);
    expect(message.content).toMatchObject([{ type: 'text', text: 'Hello from model-a.' }]);
    expect(message.usage).toMatchObject({ input_tokens: 11, output_tokens: 7 });
    expect(message._request_id).toBeTruthy();
  });

  it('answers with the header of a bearer token, and with features in preview', async () => {
    const { url, adminKey } = harness.service;
    const client = new Anthropic({ baseURL: url, authToken: adminKey, apiKey: null });
    const betas = ['interleaved-thinking-2025-05-14'];
    const message = await client.beta.messages.create({ ...asked, betas });
    expect(message.stop_reason).toBe('end_turn');
  });

  it('runs a stored prompt with its variables', async () => {
    const slug = await harness.createPrompt();
    const prompt = { variables: { name: 'Ada' } };
    const body: Anthropic.MessageCreateParamsNonStreaming = { ...asked, model: `prompt/${slug}`, messages: [] };
    await anthropic.messages.create(Object.assign(body, { prompt }));
    expect(harness.mock.requests[0]?.body['messages']).toEqual([{ role: 'user', content: 'Hello Ada' }]);
  });

  it('streams, and gathers the same message', async () => {
    harness.mock.behave('model-a', {
      kind: 'stream',
      steps: [
        { reasoning: 'The weather is asked.' },
        { text: 'I look.' },
        { toolCall: { id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' } },
        { finish: 'tool-calls' },
      ],
    });
    const stream = anthropic.messages.stream(asked);
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    const message = await stream.finalMessage();
    expect(texts.join('')).toBe('I look.');
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'The weather is asked.' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Oslo' } },
    ]);
    expect([message.stop_reason, message.usage]).toMatchObject(['tool_use', { input_tokens: 11, output_tokens: 7 }]);
  });

  it('calls tools over five turns with the runner of the SDK', async () => {
    const calls: unknown[] = [];
    for (let turn = 1; turn <= 5; turn += 1) {
      const toolCall = { id: `call_${turn}`, name: 'get_weather', arguments: `{"turn":${turn}}` };
      harness.mock.behave('model-a', { kind: 'stream', steps: [{ toolCall }, { finish: 'tool-calls' }] });
    }
    const final = await anthropic.beta.messages.toolRunner({
      ...asked,
      // Otherwise the provider would keep the conversation.
      thread: false,
      messages: [{ role: 'user', content: 'What is the weather?' }],
      tools: [
        {
          type: 'custom',
          name: 'get_weather',
          input_schema: { type: 'object', properties: { turn: { type: 'integer' } } },
          parse: (input) => input,
          run: (input) => {
            calls.push(input);
            return '21 °C';
          },
        },
      ],
    });
    expect(calls).toEqual([1, 2, 3, 4, 5].map((turn) => ({ turn })));
    expect(final.content).toMatchObject([{ type: 'text', text: 'Hello from model-a.' }]);
    expect(harness.mock.requests.at(-1)?.body['messages']).toHaveLength(11);
  });
});

describe('errors', () => {
  it.each([
    ['authentication', Anthropic.AuthenticationError, 401],
    ['a wrong member', Anthropic.BadRequestError, 400],
    ['scope', Anthropic.PermissionDeniedError, 403],
    ['an unknown model', Anthropic.NotFoundError, 404],
    ['what a provider does not have', Anthropic.UnprocessableEntityError, 422],
    ['the rate limit of a provider', Anthropic.RateLimitError, 429],
    ['a failure of a provider', Anthropic.InternalServerError, 502],
  ] as const)('of %s have their class, and are not repeated', async (kind, errorClass, status) => {
    const limited = await harness.service.createKey('prompts:invoke');
    const client = clientOf(harness.service, kind === 'scope' ? limited : undefined);
    const requests: Partial<Record<typeof kind, () => Promise<unknown>>> = {
      authentication: () => clientOf(harness.service, 'nobody').messages.create(asked),
      'a wrong member': () => client.messages.create({ ...asked, max_tokens: 0 }),
      'an unknown model': () => client.messages.create({ ...asked, model: 'nothing' }),
      'what a provider does not have': () => client.messages.create({ ...asked, thinking: { type: 'adaptive' } }),
      'the rate limit of a provider': () => client.messages.create({ ...asked, model: 'mock/mock-429-300' }),
      'a failure of a provider': () => client.messages.create({ ...asked, model: 'mock/mock-500' }),
    };
    const error = await (requests[kind] ?? (() => client.messages.create(asked)))().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toMatchObject({ status, requestID: expect.any(String), error: { type: 'error' } });
    expect(harness.mock.requests.length).toBeLessThanOrEqual(1);
  });

  it('in the middle of a stream are thrown', async () => {
    const stream = anthropic.messages.stream({ ...asked, model: 'mock/mock-error' });
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError);
  });

  it('of the rate limit of a key are repeated by the SDK', async () => {
    const other = await startAnother(harness.service, { RATE_LIMIT: '1/1s' });
    try {
      const client = clientOf(other);
      const both = await Promise.all([1, 2].map(() => client.messages.create({ ...asked, model: 'echo/echo-1' })));
      expect(both.map(({ stop_reason }) => stop_reason)).toEqual(['end_turn', 'end_turn']);
    } finally {
      await other.close();
    }
  });
});
