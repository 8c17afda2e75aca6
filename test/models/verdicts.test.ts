/** What an answer is: what it contains decides, for whole and streamed answers of every wire alike. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { callsOf, textOf, type GenerateResult } from '../../src/models/language-model.ts';
import { ProblemError } from '../../src/base/errors/problem-error.ts';
import { amazonEvent } from '../support/mock-vendors.ts';
import { collect, failure, provider, remoteIds, request, startHarness, type Harness } from './providers-harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness.close();
});
afterEach(() => {
  harness.mock.reset();
});

/** An answer as a provider writes it, whole and as the events of a stream. */
interface Written {
  readonly whole: object;
  readonly events: readonly object[];
}

interface Wire {
  readonly ids: readonly string[];
  readonly stream: (events: readonly object[]) => string | Buffer;
}

const data = (events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const named = (events: readonly object[]): string =>
  events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const amazon = (events: readonly object[]): Buffer =>
  Buffer.concat(
    events.flatMap((event) => Object.entries(event).map(([type, payload]) => amazonEvent(type, payload as object))),
  );

const wires = {
  chat: {
    ids: [...remoteIds, 'local'].filter(
      (id) => !['amazon-bedrock', 'anthropic', 'cohere', 'google', 'xai'].includes(id),
    ),
    stream: (events) => `${data(events)}data: [DONE]\n\n`,
  },
  responses: { ids: ['xai'], stream: named },
  messages: { ids: ['anthropic'], stream: named },
  google: { ids: ['google'], stream: data },
  cohere: { ids: ['cohere'], stream: named },
  bedrock: { ids: ['amazon-bedrock'], stream: amazon },
} satisfies Record<string, Wire>;

const head = { id: 'c', created: 1_790_000_000, model: 'llama' };
const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 };

/** @param more members of the choice @param beside members of the answer */
function chat(message: object, finish_reason: string, more: object = {}, beside: object = {}): Written {
  return {
    whole: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason, ...more }],
      usage,
      ...beside,
    },
    events: [
      { ...head, choices: [{ index: 0, delta: { role: 'assistant', ...message }, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason, ...more }], usage, ...beside },
    ],
  };
}

const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } };
const error = { message: 'The upstream broke.', code: 502 };

function responses(output: readonly object[], more: object): Written {
  const response = { ...head, object: 'response', created_at: head.created, status: 'completed', output, ...more };
  const counted = { ...response, usage: { input_tokens: 20, output_tokens: 9, total_tokens: 29 } };
  const { status } = counted;
  const items = output.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item: { ...item, ...('content' in item && { content: [] }) } },
    ...deltasOf(item, output_index),
    { type: 'response.output_item.done', output_index, item },
  ]);
  const begin = { ...head, object: 'response', created_at: head.created, status: 'in_progress', output: [] };
  return {
    whole: counted,
    events: [
      { type: 'response.created', response: begin },
      ...items,
      { type: `response.${status}`, response: counted },
    ],
  };
}

/** With events that nobody knows yet between its own. */
function withOtherEvents({ whole, events }: Written): Written {
  const others = [{ type: 'keepalive' }, { type: 'response.weather_call.searching', output_index: 0, at: ['Bern'] }];
  return { whole, events: events.flatMap((event) => [event, ...others]) };
}

function deltasOf(item: object, output_index: number): object[] {
  const { content = [], id: item_id } = item as { id?: string; content?: readonly Record<string, string>[] };
  const place = { item_id, output_index, content_index: 0 };
  return content.flatMap(({ type, text, refusal }) =>
    type === 'refusal'
      ? [
          { type: 'response.refusal.delta', ...place, delta: refusal },
          { type: 'response.refusal.done', ...place, refusal },
        ]
      : [{ type: 'response.output_text.delta', ...place, delta: text }],
  );
}

const message = (part: object): object => ({
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  content: [part],
});
const said = message({ type: 'output_text', text: 'Hi', annotations: [] });
const asked = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'weather',
  arguments: '{}',
  status: 'completed',
};

function messages(block: Record<string, unknown>, stop_reason: string, explanation?: string): Written {
  const begun = { id: 'm', type: 'message', role: 'assistant', model: 'llama', stop_sequence: null };
  const counts = { input_tokens: 20, output_tokens: 9 };
  const stop_details = explanation === undefined ? null : { type: 'refusal', category: null, explanation };
  const isCall = block['type'] === 'tool_use';
  const delta = isCall ? { type: 'input_json_delta', partial_json: '{}' } : { type: 'text_delta', text: block['text'] };
  return {
    whole: { ...begun, content: [block], stop_reason, stop_details, usage: counts },
    events: [
      { type: 'message_start', message: { ...begun, content: [], stop_reason: null, usage: counts } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: isCall ? { ...block, input: {} } : { ...block, text: '' },
      },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null, stop_details }, usage: counts },
      { type: 'message_stop' },
    ],
  };
}

function google(parts: readonly object[], finishReason: string): Written {
  const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 9, totalTokenCount: 29 };
  const candidates = [{ content: { role: 'model', parts }, finishReason, index: 0 }];
  return { whole: { candidates, usageMetadata }, events: [{ candidates, usageMetadata }] };
}

function cohere(content: object, finish_reason: string): Written {
  const tokens = { input_tokens: 20, output_tokens: 9 };
  const counts = { billed_units: tokens, tokens };
  const { tool_calls: calls } = content as { tool_calls?: readonly object[] };
  const events =
    calls === undefined
      ? [
          { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
          { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Hi' } } } },
          { type: 'content-end', index: 0 },
        ]
      : [
          { type: 'tool-call-start', index: 0, delta: { message: { tool_calls: calls[0] } } },
          { type: 'tool-call-end', index: 0 },
        ];
  return {
    whole: { id: 'c', message: { role: 'assistant', ...content }, finish_reason, usage: counts },
    events: [
      { type: 'message-start', id: 'c', delta: { message: { role: 'assistant' } } },
      ...events,
      { type: 'message-end', delta: { finish_reason, usage: counts } },
    ],
  };
}

function bedrock(block: Record<string, unknown>, stopReason: string): Written {
  const counts = { inputTokens: 20, outputTokens: 9, totalTokens: 29 };
  const { toolUse } = block as { toolUse?: object };
  const deltas =
    toolUse === undefined
      ? [{ contentBlockDelta: { contentBlockIndex: 0, delta: block } }]
      : [
          { contentBlockStart: { contentBlockIndex: 0, start: { toolUse } } },
          { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{}' } } } },
        ];
  return {
    whole: { output: { message: { role: 'assistant', content: [block] } }, stopReason, usage: counts },
    events: [
      { messageStart: { role: 'assistant' } },
      ...deltas,
      { contentBlockStop: { contentBlockIndex: 0 } },
      { messageStop: { stopReason } },
      { metadata: { usage: counts, metrics: { latencyMs: 1 } } },
    ],
  };
}

const toolUse = { toolUse: { toolUseId: 'call_1', name: 'weather', input: {} } };
const oneCall = {
  content: [],
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
};
const hi = { content: [{ type: 'text', text: 'Hi' }] };
const useBlock = { type: 'tool_use', id: 'call_1', name: 'weather', input: {} };
const textBlock = { type: 'text', text: 'Hi' };

/** The reason, then what there is: a text, a refusal, the names of tools that are called. Or the type of the problem. */
type Expected = readonly [string, ...string[]];
const cases: readonly (readonly [keyof typeof wires, string, Written, Expected])[] = [
  ['chat', 'a text with stop', chat({ content: 'Hi' }, 'stop'), ['stop', 'Hi']],
  ['chat', 'calls with stop', chat({ tool_calls: [call] }, 'stop'), ['tool-calls', '→weather']],
  ['chat', 'calls with eos_token', chat({ tool_calls: [call] }, 'eos_token'), ['tool-calls', '→weather']],
  ['chat', 'calls with an unknown reason', chat({ tool_calls: [call] }, 'whatever'), ['tool-calls', '→weather']],
  ['chat', 'calls with length', chat({ tool_calls: [call] }, 'length'), ['length', '→weather']],
  ['chat', 'a text with tool_calls', chat({ content: 'Hi' }, 'tool_calls'), ['stop', 'Hi']],
  ['chat', 'a text with eos', chat({ content: 'Hi' }, 'eos'), ['stop', 'Hi']],
  ['chat', 'a text with an unknown reason', chat({ content: 'Hi' }, 'whatever'), ['other', 'Hi']],
  ['chat', 'a text with max_tokens', chat({ content: 'Hi' }, 'max_tokens'), ['length', 'Hi']],
  ['chat', 'a text with sensitive', chat({ content: 'Hi' }, 'sensitive'), ['content-filter', 'Hi']],
  ['chat', 'nothing with error', chat({ content: '' }, 'error'), ['provider-bad-answer']],
  ['chat', 'a text with abort', chat({ content: 'Hi' }, 'abort'), ['provider-bad-answer']],
  ['chat', 'an error in the choice', chat({ content: '' }, 'stop', { error }), ['provider-failed']],
  ['chat', 'a text and an error in the choice', chat({ content: 'Hi' }, 'error', { error }), ['provider-failed']],
  ['chat', 'an error beside the choice', chat({ content: '' }, 'stop', {}, { error }), ['provider-failed']],
  [
    'chat',
    'the error of a rate limit in the choice',
    chat({ content: '' }, 'error', { error: { message: 'Slow down.', code: 429 } }),
    ['provider-rate-limited'],
  ],
  [
    'chat',
    'the error of a rate limit with empty data',
    chat({ content: '' }, 'error', { error: { message: 'Slow down.', code: 429, data: null } }),
    ['provider-rate-limited'],
  ],
  ['chat', 'a text with an empty error', chat({ content: 'Hi' }, 'stop', { error: null }), ['stop', 'Hi']],
  ['chat', 'a refusal', chat({ content: null, refusal: 'No.' }, 'stop'), ['content-filter', '×No.']],
  [
    'chat',
    'a refusal with its filter',
    chat({ content: null, refusal: 'No.' }, 'content_filter'),
    ['content-filter', '×No.'],
  ],
  ['chat', 'no refusal', chat({ content: 'Hi', refusal: null }, 'stop'), ['stop', 'Hi']],
  [
    'chat',
    'a call in the old form',
    chat({ content: null, function_call: { name: 'weather', arguments: '{}' } }, 'function_call'),
    ['tool-calls', '→weather'],
  ],
  [
    'chat',
    'a call in both forms',
    chat({ tool_calls: [call], function_call: { name: 'weather', arguments: '{}' } }, 'tool_calls'),
    ['tool-calls', '→weather'],
  ],
  ['responses', 'a text', responses([said], {}), ['stop', 'Hi']],
  ['responses', 'a call', responses([asked], {}), ['tool-calls', '→weather']],
  [
    'responses',
    'a cut text',
    responses([said], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
    ['length', 'Hi'],
  ],
  [
    'responses',
    'a filtered text',
    responses([said], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }),
    ['content-filter', 'Hi'],
  ],
  ['responses', 'a refusal', responses([message({ type: 'refusal', refusal: 'No.' })], {}), ['content-filter', '×No.']],
  ['responses', 'events of a later release', withOtherEvents(responses([said], {})), ['stop', 'Hi']],
  [
    'responses',
    'an error',
    responses([], { status: 'failed', error: { code: 'server_error', message: 'The upstream broke.' } }),
    ['provider-failed'],
  ],
  ['messages', 'a text', messages(textBlock, 'end_turn'), ['stop', 'Hi']],
  ['messages', 'calls with end_turn', messages(useBlock, 'end_turn'), ['tool-calls', '→weather']],
  ['messages', 'a text with tool_use', messages(textBlock, 'tool_use'), ['stop', 'Hi']],
  ['messages', 'a pause', messages(textBlock, 'pause_turn'), ['other', 'Hi']],
  ['messages', 'a refusal', messages(textBlock, 'refusal'), ['content-filter', 'Hi']],
  ['messages', 'a refusal that is explained', messages(textBlock, 'refusal', 'No.'), ['content-filter', 'Hi', '×No.']],
  ['messages', 'a full window', messages(textBlock, 'model_context_window_exceeded'), ['length', 'Hi']],
  ['google', 'a text', google([{ text: 'Hi' }], 'STOP'), ['stop', 'Hi']],
  ['google', 'a call', google([{ functionCall: { name: 'weather', args: {} } }], 'STOP'), ['tool-calls', '→weather']],
  [
    'google',
    'a call with an unknown reason',
    google([{ functionCall: { name: 'weather', args: {} } }], 'OTHER'),
    ['tool-calls', '→weather'],
  ],
  ['google', 'a filter', google([{ text: 'Hi' }], 'PROHIBITED_CONTENT'), ['content-filter', 'Hi']],
  ['google', 'a language that is not supported', google([{ text: 'Hi' }], 'LANGUAGE'), ['other', 'Hi']],
  ['google', 'a malformed call', google([{ text: '' }], 'MALFORMED_FUNCTION_CALL'), ['provider-bad-answer']],
  ['google', 'an unexpected call', google([{ text: '' }], 'UNEXPECTED_TOOL_CALL'), ['provider-bad-answer']],
  [
    'google',
    'a prompt that was blocked',
    { whole: { promptFeedback: { blockReason: 'SAFETY' } }, events: [{ promptFeedback: { blockReason: 'SAFETY' } }] },
    ['content-filter'],
  ],
  ['cohere', 'a text', cohere(hi, 'COMPLETE'), ['stop', 'Hi']],
  ['cohere', 'calls with COMPLETE', cohere(oneCall, 'COMPLETE'), ['tool-calls', '→weather']],
  ['cohere', 'a text with ERROR_TOXIC', cohere(hi, 'ERROR_TOXIC'), ['content-filter', 'Hi']],
  ['cohere', 'a text with ERROR', cohere(hi, 'ERROR'), ['provider-bad-answer']],
  ['cohere', 'a text with ERROR_LIMIT', cohere(hi, 'ERROR_LIMIT'), ['length', 'Hi']],
  ['bedrock', 'a text', bedrock({ text: 'Hi' }, 'end_turn'), ['stop', 'Hi']],
  ['bedrock', 'calls with end_turn', bedrock(toolUse, 'end_turn'), ['tool-calls', '→weather']],
  ['bedrock', 'a guardrail', bedrock({ text: 'Hi' }, 'guardrail_intervened'), ['content-filter', 'Hi']],
  ['bedrock', 'a full window', bedrock({ text: 'Hi' }, 'model_context_window_exceeded'), ['length', 'Hi']],
  ['bedrock', 'malformed output', bedrock({ text: 'Hi' }, 'malformed_model_output'), ['provider-bad-answer']],
];

function shown(result: GenerateResult): Expected {
  const { finishReason, refusal } = result;
  const text = textOf(result);
  return [
    finishReason,
    ...(text === '' ? [] : [text]),
    ...(refusal === undefined ? [] : [`×${refusal}`]),
    ...callsOf(result).map(({ name }) => `→${name}`),
  ];
}

async function seen(id: string, wire: keyof typeof wires, { whole, events }: Written): Promise<[Expected, Expected]> {
  const wanted = request('llama', { tools: [{ name: 'weather', parameters: { type: 'object' } }], maxAttempts: 1 });
  harness.mock.behave('llama', { kind: 'body', contentType: 'application/json', body: JSON.stringify(whole) });
  const one = await provider(harness.registry, id)
    .generate(wanted)
    .then(shown, (failed: unknown): Expected => [failed instanceof ProblemError ? failed.type : String(failed)]);
  const body = wires[wire].stream(events);
  const contentType = typeof body === 'string' ? 'text/event-stream' : 'application/vnd.amazon.eventstream';
  harness.mock.behave('llama', { kind: 'body', contentType, body });
  const { events: given, texts, problem } = await collect(provider(harness.registry, id).stream(wanted, wanted));
  const last = given.at(-1);
  if (last?.type !== 'finish') return [one, [problem?.type ?? 'no end']];
  // The pieces are the whole.
  expect(texts.join('')).toBe(textOf(last.result));
  const refused = given.flatMap((event) => (event.type === 'refusal' ? [event.delta] : [])).join('');
  expect(refused).toBe(last.result.refusal ?? '');
  expect(given.flatMap((event) => (event.type === 'tool-call' ? [event.name] : []))).toEqual(
    callsOf(last.result).map(({ name }) => name),
  );
  return [one, shown(last.result)];
}

describe.each(Object.keys(wires) as (keyof typeof wires)[])('on the wire %s', (wire) => {
  const own = cases.filter(([of]) => of === wire);
  describe.each(wires[wire].ids)('of %s', (id) => {
    it.each(own.map(([, name, written, expected]) => [name, written, expected] as const))(
      '%s',
      async (_name, written, expected) => {
        expect(await seen(id, wire, written)).toEqual([expected, expected]);
      },
    );
  });
});

describe.each(wires.chat.ids)('a failure of %s', (id) => {
  const billed = async (answer: object, status = 200): Promise<unknown[]> => {
    const body = JSON.stringify(answer);
    harness.mock.behave('llama', { kind: 'body', status, contentType: 'application/json', body });
    const attempts: unknown[] = [];
    const wanted = request('llama', { onFailedAttempt: (attempt) => attempts.push(attempt.may_be_billed) });
    const { type, message: detail } = await failure(harness.registry, id, wanted);
    return [type, detail, attempts];
  };

  it('without a choice may be billed, and is not repeated', async () => {
    const [type, , attempts] = await billed({ ...head, object: 'chat.completion', choices: [], usage });
    expect([type, attempts]).toEqual(['provider-bad-answer', [true]]);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it.each<[string, object]>([
    ['in place of the choices', { error: { message: 'Slow down.', code: 429 } }],
    ['beside empty data', { error: { message: 'Slow down.', code: 429 }, data: null }],
    ['beside data of another kind', { error: { message: 'Slow down.', code: 429 }, data: { message: 'x', code: 400 } }],
    ['beside an empty list', { ...head, object: 'chat.completion', choices: [], error: { message: 'No.', code: 429 } }],
  ])('%s is what its code says, whatever the status is', async (_name, answer) => {
    for (let attempt = 1; attempt < 3; attempt += 1) {
      harness.mock.behave('llama', { kind: 'body', contentType: 'application/json', body: JSON.stringify(answer) });
    }
    expect(await billed(answer)).toEqual(['provider-rate-limited', expect.any(String), [false, false, false]]);
  });

  it.each<[string, object]>([
    [
      'OpenRouter',
      {
        error: {
          message: 'Input was flagged',
          code: 403,
          metadata: { reasons: ['violence'], flagged_input: 'the…', provider_name: 'OpenAI' },
        },
      },
    ],
    ['Azure', { error: { message: 'Filtered.', code: 'content_filter', status: 400 } }],
    [
      'xAI',
      { code: 'permission-denied', error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO' },
    ],
  ])('by a moderation of %s says nothing of credentials', async (_name, answer) => {
    expect(await billed(answer, 403)).toEqual([
      'provider-failed',
      expect.stringContaining("The provider's moderation refused the request"),
      [false],
    ]);
  });

  it.each([
    'This key has no access.',
    'Your account was disabled for violations of our content policy.',
    'Access denied: this organization has been suspended after a content moderation review.',
    'We have deactivated your account because its content violates our terms.',
    'Your account has been blocked because of content moderation.',
    'Your account (org-4711) was terminated. Its content violates our terms.',
    'The organization org-4711 has been permanently disabled: content policy.',
    'The account associated with this key is currently suspended for violations of the content policy.',
    'The access of this organisation to the API has been closed after a moderation check.',
    'Your API access has been revoked. Reason: content policy.',
    'API key revoked due to repeated violations of the content policy.',
    'Account deactivated: content policy.',
    'Our content moderation has suspended this project.',
  ])('by other refusals of 403 names the credentials: %s', async (message) => {
    const [type, detail] = await billed({ error: { message, code: 403 } }, 403);
    expect([type, detail]).toEqual(['provider-refused-credentials', expect.stringContaining('Check ')]);
  });

  it.each([
    'The prompt was blocked by our content policy.',
    "The prompt was blocked by your organization's content policy.",
    'Your request was flagged, and is blocked for this project.',
    'The request of your project was blocked by our content policy.',
    'The prompt has been flagged by the content filter of your organization. Contact your account team.',
    'Your organization has restricted this content: the prompt was flagged.',
    "This account's request was blocked: content moderation.",
    'The model requires moderation on OpenAI. Your input was flagged for "violence". No credits of your account were used.',
  ])('by a moderation in words says nothing of credentials: %s', async (message) => {
    const [type] = await billed({ error: { message, code: 403 } }, 403);
    expect(type).toBe('provider-failed');
  });
});
