/** What a model thinks, says and calls keeps its order, in answers and on its way back to the provider. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startMockProvider, type MockProvider } from '../../support/mock-provider.ts';
import { readEvents } from '../../support/server-sent-events.ts';
import type { Answer } from '../../support/service.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

let harness: InvokeHarness;
/** The server behind the providers `anthropic` and `google`. */
let vendors: MockProvider;
let slug: string;

beforeAll(async () => {
  vendors = await startMockProvider();
  harness = await startInvokeHarness({
    environment: {
      ANTHROPIC_API_KEY: 'sk-test',
      ANTHROPIC_BASE_URL: vendors.url,
      GOOGLE_GENERATIVE_AI_API_KEY: 'sk-test',
      GOOGLE_BASE_URL: vendors.url,
      INVOCATION_CONTENT: 'all',
      SECRETS_KEY: randomBytes(32).toString('hex'),
    },
  });
  const tools = [{ name: 'weather', parameters: { type: 'object' } }];
  slug = await harness.createPrompt({ selected_provider: 'anthropic', selected_model: 'claude', tools });
});
afterEach(() => {
  vendors.reset();
});
afterAll(async () => {
  await harness.close();
  await vendors.close();
});

/** Longer than what once was kept. */
const signature = `S${'g'.repeat(100_000)}`;
const thinking = { type: 'thinking', thinking: 'The weather is asked.', signature };
const redacted = { type: 'redacted_thinking', data: 'UkVEQUNURUQ=' };
const text = (said: string): object => ({ type: 'text', text: said });
const use = (id: string): object => ({ type: 'tool_use', id, name: 'weather', input: { city: 'Bern' } });

const usage = { input_tokens: 11, output_tokens: 7 };

function whole(content: readonly object[], stop_reason = 'tool_use'): string {
  return JSON.stringify({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content,
    stop_reason,
    stop_sequence: null,
    usage,
  });
}

/** The events of Anthropic's API with these blocks. Thinking and texts come in two pieces. */
function streamed(content: readonly object[], stop_reason = 'tool_use'): string {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], usage };
  const events: object[] = [{ type: 'message_start', message }];
  for (const [index, block] of (content as Record<string, string>[]).entries()) {
    const delta = (value: object): object => ({ type: 'content_block_delta', index, delta: value });
    const start = (content_block: object): object => ({ type: 'content_block_start', index, content_block });
    const halves = (value = ''): [string, string] => [value.slice(0, 4), value.slice(4)];
    if (block['type'] === 'thinking') {
      events.push(start({ ...block, thinking: '', signature: '' }));
      for (const piece of halves(block['thinking'])) events.push(delta({ type: 'thinking_delta', thinking: piece }));
      events.push(delta({ type: 'signature_delta', signature: block['signature'] }));
    } else if (block['type'] === 'text') {
      events.push(start({ type: 'text', text: '' }));
      for (const piece of halves(block['text'])) events.push(delta({ type: 'text_delta', text: piece }));
    } else if (block['type'] === 'tool_use') {
      events.push(start({ ...block, input: {} }));
      events.push(delta({ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }));
    } else {
      events.push(start(block));
    }
    events.push({ type: 'content_block_stop', index });
  }
  events.push({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }, { type: 'message_stop' });
  return events
    .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

function answerWith(content: readonly object[], { isStreamed = false, stop = 'tool_use' } = {}): void {
  const body = isStreamed ? streamed(content, stop) : whole(content, stop);
  vendors.behave('claude', {
    kind: 'body',
    contentType: isStreamed ? 'text/event-stream' : 'application/json',
    body,
  });
}

const result = (id: string, content: unknown = 'Sunny', more: object = {}): object => ({
  role: 'tool',
  tool_call_id: id,
  content,
  ...more,
});

function sentMessages(at: number): { role: string; content: unknown }[] {
  return (vendors.requests[at]?.body as { messages: { role: string; content: unknown }[] }).messages;
}

describe('an answer', () => {
  const said = [thinking, text('I look.'), use('a'), text('And there.'), use('b'), redacted, use('c')];
  const signed = (of: object): object => ({ provider_metadata: { provider: 'anthropic', signature: of } });
  const called = (id: string): object => ({ type: 'tool-call', id, name: 'weather', arguments: '{"city":"Bern"}' });
  const content = [
    { type: 'thinking', text: 'The weather is asked.', ...signed({ signature }) },
    text('I look.'),
    called('a'),
    text('And there.'),
    called('b'),
    { type: 'thinking', text: '', ...signed({ redactedData: redacted.data }) },
    called('c'),
  ];

  it('has its parts in their order', async () => {
    answerWith(said);
    const { status, body } = await harness.invoke(slug);
    expect([status, body.text, body.finishReason]).toEqual([200, 'I look.And there.', 'tool-calls']);
    expect(body.content).toEqual(content);
    expect(body.tool_calls.map(({ id }: { id: string }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('has no parts beside a single text', async () => {
    answerWith([text('Hello.')], { stop: 'end_turn' });
    const { body } = await harness.invoke(slug);
    expect([body.text, body.content]).toEqual(['Hello.', undefined]);
  });

  it('has its parts in their order when it is streamed', async () => {
    answerWith(said, { isStreamed: true });
    const { text: sent } = await harness.invoke(slug, { stream: true });
    const events = readEvents(sent).map(({ data }) => JSON.parse(data) as { type: string; delta?: string });
    expect(events.map(({ type, delta }) => (delta === undefined ? type : `${type}: ${delta}`))).toEqual([
      'start',
      'thinking: The ',
      'thinking: weather is asked.',
      'thinking-end',
      'text: I lo',
      'text: ok.',
      'tool-call',
      'text: And ',
      'text: there.',
      'tool-call',
      'thinking-end',
      'tool-call',
      'finish',
    ]);
    const ends = events.filter(({ type }) => type === 'thinking-end');
    expect(ends).toEqual([
      { type: 'thinking-end', ...signed({ signature }) },
      { type: 'thinking-end', ...signed({ redactedData: redacted.data }) },
    ]);
  });

  it('begins with the thinking while it comes', async () => {
    let goOn: (value: unknown) => void = () => undefined;
    const wait = new Promise((resolve) => {
      goOn = resolve;
    });
    const steps = [{ reasoning: 'Hm.' }, { wait }, { text: 'Hi' }, { finish: 'stop' as const }];
    vendors.behave('claude', { kind: 'stream', steps });
    const response = await harness.invokeUntil(new AbortController().signal, slug, { stream: true });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    while (!seen.includes('Hm.')) seen += (await reader?.read())?.value ?? '';
    expect(seen).not.toContain('event: text');
    goOn(undefined);
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) seen += next.value;
    expect(seen).toContain('event: finish');
  });

  it('is kept with its parts, without signatures', async () => {
    answerWith(said);
    const { headers } = await harness.invoke(slug);
    const kept = await harness.service.call('GET', `/api/v1/invocations/${headers['x-invocation-id']}/content`);
    const types = content.map((part) => (part as { type: string }).type);
    expect(kept.body.answer.content.map(({ type }: { type: string }) => type)).toEqual(types);
    expect(kept.body.answer.content[0]).toEqual({ type: 'thinking', text: 'The weather is asked.' });
  });

  it('comes from the cache with its parts', async () => {
    const cached = { 'Cache-Control': 'max-age=60' };
    answerWith(said);
    const first = await harness.invoke(slug, {}, cached);
    const second = await harness.invoke(slug, {}, cached);
    expect([second.headers['x-cached'], second.body.content]).toEqual(['true', first.body.content]);
    const third = await harness.invoke(slug, { stream: true }, cached);
    const types = readEvents(third.text).map(({ name }) => name);
    expect(types.slice(1, 5)).toEqual(['thinking', 'thinking-end', 'text', 'tool-call']);
    expect(vendors.requests).toHaveLength(1);
  });
});

describe('an answer in the form of an API of OpenAI', () => {
  const said = [thinking, text('I look.'), use('a'), text('And there.'), use('b')];
  const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object' } }];
  const ask = (more: object = {}): Promise<Answer> =>
    harness.service.call('POST', '/v1/responses', {
      body: { model: 'anthropic/claude', input: 'Hi', tools, ...more },
    });

  it('has the items of a response in their order, whole and streamed', async () => {
    const types = ['message', 'function_call', 'message', 'function_call'];
    const typesOf = ({ output }: { output: { type: string }[] }): string[] => output.map(({ type }) => type);
    answerWith(said);
    const { body } = await ask();
    expect(typesOf(body)).toEqual(types);
    answerWith(said, { isStreamed: true });
    const { text: sent } = await ask({ stream: true });
    const end = readEvents(sent).find(({ name }) => name === 'response.completed');
    expect(typesOf(JSON.parse(end?.data ?? '').response)).toEqual(types);
  });

  it.each([false, true])('takes thinking back with the call that it was before (streamed: %s)', async (isStreamed) => {
    answerWith(said.slice(0, 3), { isStreamed });
    const { body, text: sent } = await ask(isStreamed ? { stream: true } : {});
    const end = readEvents(sent).find(({ name }) => name === 'response.completed');
    const { output } = isStreamed ? JSON.parse(end?.data ?? '').response : body;
    answerWith([text('Sunny.')], { stop: 'end_turn' });
    const back = [...output, { type: 'function_call_output', call_id: 'a', output: 'Sunny' }];
    await ask({ input: [{ role: 'user', content: 'Hi' }, ...back] });
    expect(sentMessages(1)[1]?.content).toMatchObject(said.slice(0, 3));
  });

  it('has thinking before the text of a chat completion only in the calls', async () => {
    const functions = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
    const messages = [{ role: 'user', content: 'Hi' }];
    answerWith(said, { isStreamed: true });
    const { text: sent } = await harness.service.call('POST', '/v1/chat/completions', {
      body: { model: 'anthropic/claude', messages, tools: functions, stream: true },
    });
    const deltas = readEvents(sent.replace('data: [DONE]\n\n', '')).map(
      ({ data }) => JSON.parse(data).choices[0].delta,
    );
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('I look.And there.');
    const calls = deltas.flatMap(({ tool_calls: some = [] }) => some);
    expect(calls.map(({ extra_content: extra }) => extra)).toEqual([
      { provider: 'anthropic', reasoning: [{ text: 'The weather is asked.', signature: { signature } }] },
      undefined,
    ]);
  });
});

describe('thinking', () => {
  const turn = (content: unknown): object => ({ role: 'assistant', content });

  it.each([false, true])('goes back unchanged over two turns of tools (streamed: %s)', async (isStreamed) => {
    const second = { ...thinking, thinking: 'Once more.', signature: 'SECOND' };
    const turns = [
      [thinking, text('I look.'), use('a')],
      [second, redacted, use('b')],
    ];
    const conversation: object[] = [];
    for (const [index, content] of turns.entries()) {
      answerWith(content, { isStreamed });
      const answer = await harness.invoke(slug, { messages: conversation, ...(isStreamed && { stream: true }) });
      const parts = isStreamed ? partsOf(answer) : (answer.body.content as unknown);
      conversation.push(turn(parts), result(index === 0 ? 'a' : 'b'));
    }
    answerWith([text('It is sunny.')], { stop: 'end_turn' });
    expect((await harness.invoke(slug, { messages: conversation })).body.text).toBe('It is sunny.');
    const assistants = sentMessages(2).filter(({ role }) => role === 'assistant');
    expect(assistants.map(({ content }) => content)).toMatchObject(turns);
  });

  it('goes back in the calls of callers that know no parts', async () => {
    answerWith([thinking, text('I look.'), use('a')]);
    const { body } = await harness.invoke(slug);
    const messages = [{ role: 'assistant', content: body.text, tool_calls: body.tool_calls }, result('a')];
    await harness.invoke(slug, { messages });
    expect(sentMessages(1)[1]?.content).toMatchObject([thinking, text('I look.'), use('a')]);
  });

  it('does not go to another provider', async () => {
    answerWith([thinking, use('a')]);
    const { body } = await harness.invoke(slug);
    const messages = [turn(body.content), result('a')];
    expect((await harness.invoke(slug, { messages, provider: 'mock', model: 'model-a' })).status).toBe(200);
    expect(JSON.stringify(harness.mock.requests[0]?.body)).not.toContain('The weather is asked.');
  });
});

describe('parts of a request', () => {
  it('keep their order', async () => {
    const call = (id: string): object => ({ type: 'tool-call', id, name: 'weather', arguments: '{}' });
    const thought = { signature: { signature: 'S' }, provider: 'anthropic' };
    const second = { type: 'thinking', text: 'Hm.', provider_metadata: thought };
    const content = [text('One.'), call('a'), second, text('Two.'), call('b')];
    await harness.invoke(slug, { messages: [{ role: 'assistant', content }, result('a'), result('b')] });
    const used = (id: string): object => ({ type: 'tool_use', id, name: 'weather', input: {} });
    expect(sentMessages(0)[1]?.content).toMatchObject([
      text('One.'),
      used('a'),
      { type: 'thinking', thinking: 'Hm.', signature: 'S' },
      text('Two.'),
      used('b'),
    ]);
  });

  it('can be the result of a tool, which can be an error', async () => {
    const call = { id: 'a', name: 'weather', arguments: '{}' };
    const failed = result('a', [text('No weather.'), text('Try later.')], { is_error: true });
    await harness.invoke(slug, { messages: [{ role: 'assistant', tool_calls: [call] }, failed] });
    expect(sentMessages(0)[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: 'No weather.\n\nTry later.', is_error: true },
    ]);
  });

  it('can be images in the result of a tool, where the provider takes them', async () => {
    // Of both sizes that go through the package in different ways.
    for (const data of ['iVBORw0KGgo=', `iVBORw0K${'A'.repeat(40_000)}`]) {
      vendors.reset();
      const content = [text('Here:'), { type: 'image', url: `data:image/png;base64,${data}` }];
      const call = { id: 'a', name: 'weather', arguments: '{}' };
      const messages = [{ role: 'assistant', tool_calls: [call] }, result('a', content)];
      expect((await harness.invoke(slug, { messages })).status).toBe(200);
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
      expect(sentMessages(0)[2]?.content).toMatchObject([{ content: [text('Here:'), image] }]);
      for (const refused of [
        { messages, provider: 'mock', model: 'model-a' },
        { messages: [messages[0], result('a', content, { is_error: true })] },
      ]) {
        const answer = await harness.invoke(slug, refused);
        expect(problemOf(answer)).toBe('unsupported-by-provider');
        expect(answer.body.errors).toMatchObject([{ pointer: '#/messages/1/content/1' }]);
      }
    }
  });

  it.each<[string, object]>([
    ['#/messages/0/content/0/type', { role: 'user', content: [{ type: 'thinking', text: 'x' }] }],
    [
      '#/messages/0/content/0/type',
      { role: 'user', content: [{ type: 'tool-call', id: 'a', name: 'b', arguments: '' }] },
    ],
    ['#/messages/0/content/0/arguments', { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'b' }] }],
    ['#/messages/0/is_error', { role: 'user', content: 'x', is_error: true }],
  ])('are refused elsewhere: %s', async (pointer, message) => {
    const { status, body } = await harness.invoke(slug, { messages: [message] });
    const pointers = (body.errors as { pointer: string }[]).map((error) => error.pointer);
    expect([status, pointers]).toEqual([400, [pointer]]);
  });

  it('are named where a provider does not take the arguments of a call', async () => {
    const content = [text('One.'), { type: 'tool-call', id: 'a', name: 'weather', arguments: '[1]' }];
    const answer = await harness.invoke(slug, { messages: [{ role: 'assistant', content }, result('a')] });
    expect(problemOf(answer)).toBe('unsupported-by-provider');
    expect(answer.body.errors).toMatchObject([{ pointer: '#/messages/0/content/1/arguments' }]);
  });
});

/** The parts of a streamed answer, as its reader joins them. */
function partsOf({ text: sent }: Answer): object[] {
  const parts: object[] = [];
  let open: { type: string; text: string; provider_metadata?: object } | undefined;
  for (const { data } of readEvents(sent)) {
    const event = JSON.parse(data) as {
      type: string;
      delta?: string;
      provider_metadata?: object;
      tool_call?: object;
    };
    if (event.type === 'tool-call') parts.push({ type: 'tool-call', ...event.tool_call });
    if (event.type === 'text' || event.type === 'thinking' || event.type === 'thinking-end') {
      const type = event.type === 'text' ? 'text' : 'thinking';
      if (open?.type !== type) parts.push((open = { type, text: '' }));
      open.text += event.delta ?? '';
      if (event.provider_metadata) open.provider_metadata = event.provider_metadata;
      if (event.type !== 'thinking-end') continue;
    }
    open = undefined;
  }
  return parts;
}
