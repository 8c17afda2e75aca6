/** Usage is never less than the provider's own numbers say together, in whole and streamed answers of every wire. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { amazonEvent } from '../support/mock-vendors.ts';
import { collect, provider, remoteIds, request, startHarness, type Harness } from './providers-harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness.close();
});

const created = 1_790_000_000;
const data = (events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

/** An answer with this usage, whole and streamed. */
type Write = (usage: object) => { readonly whole: object; readonly stream: string | Buffer };

const chat: Write = (usage) => {
  const head = { id: 'c', created, model: 'llama' };
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
  const chunks = [
    { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage, x_groq: { usage } },
  ];
  return { whole: { ...head, object: 'chat.completion', choices, usage }, stream: `${data(chunks)}data: [DONE]\n\n` };
};

const responses: Write = (usage) => {
  const head = { id: 'c', created_at: created, model: 'llama', object: 'response' };
  const content = [{ type: 'output_text', text: 'Hi', annotations: [] }];
  const output = [{ type: 'message', id: 'm', status: 'completed', role: 'assistant', content }];
  const whole = { ...head, status: 'completed', output, usage };
  const place = { item_id: 'm', output_index: 0, content_index: 0 };
  const events = [
    { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...output[0], content: [] } },
    { type: 'response.output_text.delta', ...place, delta: 'Hi' },
    { type: 'response.completed', response: whole },
  ];
  return { whole, stream: data(events) };
};

const google: Write = (usageMetadata) => {
  const candidates = [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }];
  const whole = { candidates, usageMetadata };
  return { whole, stream: data([whole]) };
};

const bedrock: Write = (usage) => ({
  whole: { output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } }, stopReason: 'end_turn', usage },
  stream: Buffer.concat([
    amazonEvent('messageStart', { role: 'assistant' }),
    amazonEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' } }),
    amazonEvent('contentBlockStop', { contentBlockIndex: 0 }),
    amazonEvent('messageStop', { stopReason: 'end_turn' }),
    amazonEvent('metadata', { usage, metrics: { latencyMs: 1 } }),
  ]),
});

const chatIds = [...remoteIds, 'local'].filter(
  (id) => !['amazon-bedrock', 'anthropic', 'cohere', 'google', 'xai'].includes(id),
);

/** Numbers of an answer in the names of OpenAI's chat completions. */
function counts(
  prompt: number,
  completion: number,
  total: number,
  parts: { cached?: number; reasoning?: number } = {},
): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: parts.cached ?? 0 },
    completion_tokens_details: { reasoning_tokens: parts.reasoning ?? 0 },
  };
}

function ofResponses(input: number, output: number, total: number, cached = 0, reasoning = 0): object {
  return {
    ...{ input_tokens: input, output_tokens: output, total_tokens: total },
    input_tokens_details: { cached_tokens: cached },
    output_tokens_details: { reasoning_tokens: reasoning },
  };
}

const cases: readonly (readonly [
  string,
  readonly string[],
  Write,
  object,
  readonly [input: number, output: number],
])[] = [
  ['a total that is the sum', chatIds, chat, counts(20, 9, 29, { cached: 8, reasoning: 5 }), [20, 9]],
  ['reasoning beside the completion', chatIds, chat, counts(20, 2, 32, { reasoning: 10 }), [20, 12]],
  ['reasoning beside a longer completion', chatIds, chat, counts(20, 12, 42, { reasoning: 10 }), [20, 22]],
  ['the cache beside the prompt', chatIds, chat, counts(20, 9, 37, { cached: 8 }), [28, 9]],
  ['reasoning and the cache beside both', chatIds, chat, counts(20, 9, 42, { cached: 8, reasoning: 5 }), [28, 14]],
  [
    'more cache than prompt, and reasoning beside',
    chatIds,
    chat,
    counts(5, 9, 27, { cached: 8, reasoning: 5 }),
    [13, 14],
  ],
  ['a rest of which nothing is known', chatIds, chat, counts(20, 9, 129), [20, 109]],
  ['a total that is less', chatIds, chat, counts(20, 9, 9), [20, 9]],
  ['reasoning beside the output', ['xai'], responses, ofResponses(20, 2, 32, 0, 10), [20, 12]],
  ['reasoning and the cache beside both', ['xai'], responses, ofResponses(20, 9, 42, 8, 5), [28, 14]],
  ['more reasoning than output', ['xai'], responses, ofResponses(20, 2, 22, 0, 10), [20, 12]],
  ['a rest of which nothing is known', ['xai'], responses, ofResponses(20, 9, 129), [20, 109]],
  [
    'thoughts and prompts of tools',
    ['google'],
    google,
    {
      ...{ promptTokenCount: 20, candidatesTokenCount: 9, thoughtsTokenCount: 5 },
      ...{ toolUsePromptTokenCount: 100, totalTokenCount: 134 },
    },
    [120, 14],
  ],
  [
    'a rest of which nothing is known',
    ['google'],
    google,
    { promptTokenCount: 20, candidatesTokenCount: 9, totalTokenCount: 129 },
    [20, 109],
  ],
  [
    'caches beside the input',
    ['amazon-bedrock'],
    bedrock,
    { ...{ inputTokens: 20, outputTokens: 9, totalTokens: 37 }, cacheReadInputTokens: 8 },
    [28, 9],
  ],
  [
    'a rest of which nothing is known',
    ['amazon-bedrock'],
    bedrock,
    { inputTokens: 20, outputTokens: 9, totalTokens: 129 },
    [20, 109],
  ],
];

describe.each(cases)('%s', (_name, ids, write, said, [inputTokens, outputTokens]) => {
  it.each(ids)('counts at %s', async (id) => {
    const { whole, stream } = write(said);
    const wanted = request('llama', { maxAttempts: 1 });
    harness.mock.behave('llama', { kind: 'body', contentType: 'application/json', body: JSON.stringify(whole) });
    const { usage } = await provider(harness.registry, id).generate(wanted);
    const contentType = typeof stream === 'string' ? 'text/event-stream' : 'application/vnd.amazon.eventstream';
    harness.mock.behave('llama', { kind: 'body', contentType, body: stream });
    const last = (await collect(provider(harness.registry, id).stream(wanted, wanted))).events.at(-1);
    const streamed = last?.type === 'finish' ? last.result.usage : undefined;
    const expected = { inputTokens, outputTokens };
    expect([usage, streamed]).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)]);
  });
});
