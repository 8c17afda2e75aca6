/** What an answer is: what it contains decides, for whole and streamed answers alike. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collect, provider, request, startHarness, type Harness } from './providers-harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness.close();
});

const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } };
const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 };

describe.each(['openai', 'local'])('an answer of %s', (id) => {
  it.each<[string, object, string]>([
    ['stop', { content: 'Hi' }, 'stop'],
    ['stop', { tool_calls: [call] }, 'tool-calls'],
    ['eos', { content: 'Hi' }, 'stop'],
    ['tool_calls', { content: 'Hi' }, 'stop'],
    ['length', { tool_calls: [call] }, 'length'],
    ['content_filter', { content: 'Hi' }, 'content-filter'],
    ['sensitive', { content: 'Hi' }, 'content-filter'],
    ['error', { content: '' }, 'provider-bad-answer'],
    ['abort', { content: 'Hi' }, 'provider-bad-answer'],
  ])('that ends with %s, with %j, is %s', async (finish_reason, message, expected) => {
    const head = { id: 'c', created: 1_790_000_000, model: 'llama' };
    const whole = {
      ...head,
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
      usage,
    };
    const asked = request('llama', { tools: [{ name: 'weather', parameters: { type: 'object' } }], maxAttempts: 1 });
    harness.mock.behave('llama', { kind: 'body', contentType: 'application/json', body: JSON.stringify(whole) });
    const outcome = await provider(harness.registry, id)
      .generate(asked)
      .then(
        ({ finishReason }) => finishReason,
        (error: { type: string }) => error.type,
      );
    const chunks = [
      { ...head, choices: [{ index: 0, delta: { role: 'assistant', ...message }, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ];
    const body = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
    harness.mock.behave('llama', { kind: 'body', contentType: 'text/event-stream', body });
    const { events, problem } = await collect(provider(harness.registry, id).stream(asked, asked));
    const last = events.at(-1);
    const streamed = problem?.type ?? (last?.type === 'finish' ? last.result.finishReason : undefined);
    expect([outcome, streamed]).toEqual([expected, expected]);
  });
});
