/** How answers end, on every path that generates, whole and streamed: what an answer contains decides. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readEvents } from '../../support/server-sent-events.ts';
import { startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness({ environment: { INVOCATION_CONTENT: 'all' } });
});
afterAll(() => harness.close());
afterEach(() => {
  harness.mock.reset();
});

const messages = [{ role: 'user', content: 'How is the weather?' }];
const schema = { type: 'object' };
const head = { id: 'c', created: 1_790_000_000, model: 'model-a', object: 'chat.completion' };
const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 };
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city": "Bern"}' } };
const cut = { ...call, id: 'call_2', index: 1, function: { name: 'weather', arguments: '{"city": "Be' } };

/** Makes a model of the mock answer. @param more members of the choice */
function answering(
  message: object,
  finish_reason: string,
  isStreamed: boolean,
  more: object = {},
  model = 'model-a',
): void {
  const whole = {
    ...head,
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason, ...more }],
    usage,
  };
  const chunks = [
    { ...head, choices: [{ index: 0, delta: { role: 'assistant', ...message }, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason, ...more }], usage },
  ];
  const stream = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
  harness.mock.behave(
    model,
    isStreamed
      ? { kind: 'body', contentType: 'text/event-stream', body: stream }
      : { kind: 'body', contentType: 'application/json', body: JSON.stringify(whole) },
  );
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

/** What a client of a path sees: why the answer ended, and what it has. */
interface Seen {
  readonly end: unknown;
  readonly text?: unknown;
  readonly refusal?: unknown;
  readonly calls?: readonly string[];
}

const called = (calls: readonly { name: string; arguments: unknown }[]): Pick<Seen, 'calls'> =>
  calls.length === 0 ? {} : { calls: calls.map(({ name, arguments: given }) => `${name} ${String(given)}`) };

interface Face {
  readonly path: string;
  readonly body: (isJson: boolean) => object;
  readonly whole: (body: Body) => Seen;
  readonly streamed: (events: readonly Body[]) => Seen;
}

const tools = [{ type: 'function', function: { name: 'weather', parameters: schema } }];
const joined = (texts: readonly (string | undefined)[]): string => texts.map((text) => text ?? '').join('');

const faces: Readonly<Record<string, Face>> = {
  chat: {
    path: '/v1/chat/completions',
    body: (isJson) => ({
      model: 'mock/model-a',
      messages,
      tools,
      ...(isJson && { response_format: { type: 'json_object' } }),
    }),
    whole: ({ choices: [{ message, finish_reason: end }] }) => ({
      end,
      text: message.content,
      refusal: message.refusal,
      ...called((message.tool_calls ?? []).map((one: Body) => one.function)),
    }),
    streamed(events) {
      const choices = events.flatMap((event) => event.choices ?? []);
      const deltas = choices.map(({ delta }) => delta);
      const text = joined(deltas.map(({ content }) => content));
      const refusal = joined(deltas.map((delta) => delta.refusal));
      const calls = deltas.flatMap((delta) => delta.tool_calls ?? []).map((one: Body) => one.function);
      return {
        end: choices.at(-1)?.finish_reason,
        text: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
        refusal: refusal === '' ? null : refusal,
        ...called(calls),
      };
    },
  },
  responses: {
    path: '/v1/responses',
    body: (isJson) => ({
      model: 'mock/model-a',
      input: 'How is the weather?',
      tools: tools.map(({ function: tool }) => ({ type: 'function', ...tool })),
      ...(isJson && { text: { format: { type: 'json_object' } } }),
    }),
    whole: ({ status, incomplete_details: details, output }) => {
      const parts = output.flatMap((item: Body) => item.content ?? []);
      return {
        end: details?.reason ?? status,
        text: joined(parts.map((part: Body) => part.text)),
        refusal: parts.find((part: Body) => part.type === 'refusal')?.refusal ?? null,
        ...called(output.filter((item: Body) => item.type === 'function_call')),
      };
    },
    streamed(events) {
      const last = this.whole(events.findLast(({ response }) => response !== undefined)?.response);
      const of = (type: string): string =>
        joined(events.filter((event) => event.type === type).map(({ delta }) => delta));
      expect(of('response.output_text.delta')).toBe(last.text);
      expect(of('response.refusal.delta')).toBe(last.refusal ?? '');
      return last;
    },
  },
  messages: {
    path: '/v1/messages',
    body: () => ({
      model: 'mock/model-a',
      max_tokens: 100,
      messages,
      tools: [{ name: 'weather', input_schema: schema }],
    }),
    whole: ({ stop_reason: end, stop_details: details, content }) => ({
      end,
      text: joined(content.map((block: Body) => block.text)),
      refusal: details?.explanation ?? null,
      ...called(
        content
          .filter((block: Body) => block.type === 'tool_use')
          .map(({ name, input }: Body) => ({ name, arguments: JSON.stringify(input) })),
      ),
    }),
    streamed(events) {
      const { delta } = events.find(({ type }) => type === 'message_delta') ?? {};
      const blocks = events.flatMap((event) => (event.type === 'content_block_start' ? [event.content_block] : []));
      const inputs = events.flatMap((event) => event.delta?.partial_json ?? []);
      return {
        end: delta?.stop_reason,
        text: joined(events.map((event) => event.delta?.text)),
        refusal: delta?.stop_details?.explanation ?? null,
        ...called(
          blocks
            .filter(({ type }) => type === 'tool_use')
            .map(({ name }, at) => ({ name, arguments: JSON.stringify(JSON.parse(inputs[at])) })),
        ),
      };
    },
  },
  invocation: {
    path: '',
    body: () => ({}),
    whole: ({ finishReason: end, text, refusal = null, tool_calls: toolCalls = [] }) => ({
      end,
      text,
      refusal,
      ...called(toolCalls),
    }),
    streamed(events) {
      const text = joined(events.filter(({ type }) => type === 'text').map(({ delta }) => delta));
      return this.whole({ ...events.find(({ type }) => type === 'finish'), text });
    },
  },
};

async function seen(name: string, isStreamed: boolean, isJson = false): Promise<Seen | string> {
  const face = faces[name] as Face;
  let { path } = face;
  if (path === '') {
    const format = isJson ? { response_format: { type: 'json' } } : {};
    const slug = await harness.createPrompt({ tools: [{ name: 'weather', parameters: schema }], ...format });
    path = `/api/v1/prompts/${slug}/invoke`;
  }
  const body = { ...face.body(isJson), ...(isStreamed && { stream: true }) };
  const answer = await harness.service.call('POST', path, { body });
  if (answer.status !== 200) return `${answer.status} ${answer.text}`;
  if (!isStreamed) return face.whole(answer.body);
  const events = readEvents(answer.text).flatMap(({ data }): Body[] => (data === '[DONE]' ? [] : [JSON.parse(data)]));
  return face.streamed(events);
}

/** A call as clients of a path see it: Anthropic's read the arguments. */
const given = (name: string): string => `weather ${name === 'messages' ? '{"city":"Bern"}' : '{"city": "Bern"}'}`;

/** How each path says why an answer ended. */
const ends: Readonly<Record<string, Readonly<Record<'calls' | 'refusal' | 'other', string>>>> = {
  chat: { calls: 'tool_calls', refusal: 'stop', other: 'stop' },
  responses: { calls: 'completed', refusal: 'completed', other: 'completed' },
  messages: { calls: 'tool_use', refusal: 'refusal', other: 'end_turn' },
  invocation: { calls: 'tool-calls', refusal: 'content-filter', other: 'other' },
};

describe.each([false, true])('streamed: %s', (isStreamed) => {
  describe.each(Object.keys(faces))('on %s', (name) => {
    const { calls: wantsCalls, refusal: refuses, other } = ends[name] as (typeof ends)[string];

    it('calls of tools that the provider ends with stop are calls of tools', async () => {
      answering({ content: null, tool_calls: [call] }, 'stop', isStreamed);
      expect(await seen(name, isStreamed)).toMatchObject({ end: wantsCalls, calls: [given(name)] });
    });

    it('a call in the form of before tools is a call', async () => {
      const old = { content: null, function_call: call.function };
      answering(old, 'function_call', isStreamed);
      expect(await seen(name, isStreamed)).toMatchObject({ end: wantsCalls, calls: [given(name)] });
    });

    it('a refusal is no text', async () => {
      answering({ content: null, refusal: 'I cannot help with that.' }, 'stop', isStreamed);
      expect(await seen(name, isStreamed)).toEqual({
        end: refuses,
        text: name === 'chat' ? null : '',
        refusal: 'I cannot help with that.',
      });
    });

    it('an end that nobody knows is one that clients know', async () => {
      answering({ content: 'Sunny.' }, 'whatever', isStreamed);
      expect(await seen(name, isStreamed)).toEqual({
        end: other,
        text: 'Sunny.',
        refusal: null,
      });
    });
  });

  it.each(['chat', 'responses', 'invocation'])('on %s, calls and refusals need not be JSON', async (name) => {
    answering({ content: null, tool_calls: [call] }, 'stop', isStreamed);
    expect(await seen(name, isStreamed, true)).toMatchObject({ calls: [given(name)] });
    answering({ content: null, refusal: 'No.' }, 'stop', isStreamed);
    expect(await seen(name, isStreamed, true)).toMatchObject({ refusal: 'No.' });
  });

  it('an answer for a JSON format is checked whatever its end is called', async () => {
    answering({ content: 'Sunny.' }, 'whatever', isStreamed);
    const slug = await harness.createPrompt({ response_format: { type: 'json' } });
    const { text } = await harness.invoke(slug, { stream: isStreamed });
    expect(text).toContain('provider-bad-answer');
    answering({ content: '{"sky": "blue"}' }, 'whatever', isStreamed);
    expect((await harness.invoke(slug, { stream: isStreamed })).text).toContain('"object":{"sky":');
  });

  it('of calls on /v1/messages, the one in which the answer was cut is left out', async () => {
    answering({ content: 'Look.', tool_calls: [call, cut] }, 'length', isStreamed);
    expect(await seen('messages', isStreamed)).toEqual({
      end: 'max_tokens',
      text: 'Look.',
      refusal: null,
      calls: [given('messages')],
    });
  });

  it('of calls on /v1/messages, the one in which a refusal cut the answer is left out', async () => {
    answering({ content: 'Look.', refusal: 'No.', tool_calls: [call, cut] }, 'content_filter', isStreamed);
    expect(await seen('messages', isStreamed)).toMatchObject({ refusal: 'No.', calls: [given('messages')] });
  });

  it.each<[string, string, object]>([
    ['ends with error', 'error', {}],
    ['has an error in its choice', 'stop', { error: { message: 'The upstream broke.', code: 502 } }],
  ])('an answer that %s calls the fallback', async (_name, reason, more) => {
    answering({ content: '' }, reason, isStreamed, more);
    const slug = await harness.createPrompt({ fallbacks: [{ provider: 'spare', model: 'spare-a' }] });
    const { status, text } = await harness.invoke(slug, { stream: isStreamed });
    expect([status, text]).toEqual([200, expect.stringContaining('"attempts":[{"provider":"mock"')]);
    expect(harness.mock.requests.map(({ model }) => model)).toEqual(['model-a', 'spare-a']);
  });

  it('a refusal is kept in the content of the invocation', async () => {
    answering({ content: null, refusal: 'No.' }, 'stop', isStreamed);
    const { headers } = await harness.invoke(await harness.createPrompt(), { stream: isStreamed });
    const { body } = await harness.service.call('GET', `/api/v1/invocations/${headers['x-invocation-id']}/content`);
    expect(body.answer).toEqual({ content: [], refusal: 'No.' });
  });
});
