/** The most tokens that a call can use, against what is really sent. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  finishOf,
  type AttemptLog,
  type GenerateRequest,
  type Message,
  type TokenCeiling,
} from '../../src/models/language-model.ts';
import { remoteIds, startHarness, type Harness } from './providers-harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const picture = 'iVBORw0KGgo='.repeat(2_000);
const user: Message = { role: 'user', content: 'Grüße, "Welt" 🌍 '.repeat(20) };
const schema = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`member_${index}`, { type: 'string', description: 'What it is "for".' }]),
  ),
  required: ['member_1'],
  additionalProperties: false,
} as const;
const tools = [
  { name: 'weather', description: 'The weather of a city.', parameters: schema },
  { name: 'time', parameters: schema },
];
const conversation: Message[] = [
  { role: 'system', content: 'Be brief.' },
  user,
  {
    role: 'assistant',
    content: [{ type: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"member_1":"\\"Bern\\""}' }],
  },
  { role: 'tool', toolCallId: 'call_1', toolName: 'weather', content: '{"temperature":12}' },
];
const image: Message = {
  role: 'user',
  content: [
    { type: 'text', text: 'What is it?' },
    { type: 'image', url: `data:image/png;base64,${picture}` },
    { type: 'image', url: `data:image/png;base64,${picture}` },
  ],
};
const thinking = { type: 'enabled', budgetTokens: 2_000 } as const;

/** What changes the input, or the limit of the output. */
const requests: Readonly<Record<string, Partial<GenerateRequest>>> = {
  'a text': {},
  'many messages': { messages: Array.from({ length: 50 }, () => user) },
  'a conversation with tools': { messages: conversation, tools },
  'a schema': { responseFormat: { type: 'json', schema, name: 'answer', strict: true } },
  'JSON without a schema': { responseFormat: { type: 'json' } },
  'a schema and tools': { tools, toolChoice: 'required', responseFormat: { type: 'json', schema } },
  images: { messages: [image] },
};
const limits: Readonly<Record<string, Partial<GenerateRequest>>> = {
  'no limit': {},
  'a limit': { parameters: { max_output_tokens: 321 } },
  'a large limit': { parameters: { max_output_tokens: 1_000_000 } },
  'a limit and low effort': { parameters: { max_output_tokens: 321, reasoning_effort: 'low' } },
  'a limit and high effort': { parameters: { max_output_tokens: 321, reasoning_effort: 'xhigh' } },
  'high effort': { parameters: { reasoning_effort: 'high' } },
};
const budgets: Readonly<Record<string, Partial<GenerateRequest>>> = {
  anthropic: { providerOptions: { thinking } },
  'amazon-bedrock': { providerOptions: { reasoningConfig: thinking } },
};
/** Models with different limits in the packages. */
const models: Readonly<Record<string, readonly string[]>> = {
  openai: ['gpt-4.1-mini', 'gpt-5'],
  anthropic: ['claude-sonnet-4-5', 'claude-opus-4-8', 'claude-sonnet-5-5', 'unknown'],
  'amazon-bedrock': [
    'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    'us.amazon.nova-lite-v1:0',
    'openai.gpt-oss-20b-1:0',
  ],
  google: ['gemini-2.5-flash', 'gemini-3.8-flash'],
};

/** What a call would write down before it is made, and the body that it then sends; undefined if nothing is sent. */
async function sent(
  id: string,
  request: GenerateRequest,
): Promise<{ ceiling: TokenCeiling; text: string } | undefined> {
  harness.mock.reset();
  let found: TokenCeiling | undefined;
  const attemptLog: Partial<AttemptLog> = {
    begin: async (_provider, _request, ceiling) => {
      found = ceiling;
      return { end: () => undefined, withdraw: () => undefined };
    },
  };
  const call = {
    principal: { id: 'k', family: 'k' },
    signal: new AbortController().signal,
    deadline: Infinity,
    maxAttempts: 1,
  };
  const log = attemptLog as AttemptLog;
  const provider = harness.registry.get(id);
  const terms = { ...call, deadline: performance.now() + 5_000, attemptLog: log };
  if (provider !== undefined) {
    await finishOf(provider.answer(request, terms, { isStreamed: false })).catch(() => undefined);
  }
  const text = harness.mock.requests[0]?.text;
  return found === undefined || text === undefined ? undefined : { ceiling: found, text };
}

/** The bytes of all names and values in a body, without the data of images. */
function bytesIn(value: unknown): number {
  if (typeof value === 'string') return value.includes(picture) ? 0 : Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return String(value).length;
  return Object.entries(value).reduce(
    (sum, [name, member]) => sum + (Array.isArray(value) ? 0 : name.length) + bytesIn(member),
    0,
  );
}

interface Limited {
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly max_output_tokens?: number;
  readonly generationConfig?: { readonly maxOutputTokens?: number };
  readonly inferenceConfig?: { readonly maxTokens?: number };
}

function limitIn(text: string): number | undefined {
  const { max_tokens, max_completion_tokens, max_output_tokens, ...body } = JSON.parse(text) as Limited;
  const { generationConfig, inferenceConfig } = body;
  const named = [max_tokens, max_completion_tokens, max_output_tokens];
  return [...named, generationConfig?.maxOutputTokens, inferenceConfig?.maxTokens].find((one) => one !== undefined);
}

describe.each([...remoteIds, 'local'])('%s', (id) => {
  it('gets no more than was computed before, and that limit of output tokens', async () => {
    let compared = 0;
    for (const model of models[id] ?? ['llama']) {
      for (const [name, request] of Object.entries(requests)) {
        for (const [limit, limited] of Object.entries({
          ...limits,
          ...(id in budgets && { 'a budget': budgets[id] }),
        })) {
          const made = await sent(id, { model, messages: [user], ...request, ...limited });
          if (made === undefined) continue;
          compared += 1;
          const { ceiling, text } = made;
          const images = text.split(picture).length - 1;
          const bytes = bytesIn(JSON.parse(text));
          const where = { model, name, limit };
          expect({ ...where, output: ceiling.outputTokens }).toEqual({ ...where, output: limitIn(text) });
          expect({ ...where, isEnough: ceiling.inputTokens >= bytes + images * 5_000 }).toEqual({
            ...where,
            isEnough: true,
          });
          expect(ceiling.likelyInputTokens).toBeLessThan(ceiling.inputTokens);
        }
      }
    }
    // Some packages refuse some of them.
    expect(compared).toBeGreaterThan(25);
  });
});

it('counts what a limit and a budget for thinking add up to', async () => {
  const model = 'claude-sonnet-4-5';
  const made = await sent('anthropic', { model, messages: [user], ...limits['a limit'], ...budgets['anthropic'] });
  expect(made?.ceiling.outputTokens).toBe(2_321);
});
