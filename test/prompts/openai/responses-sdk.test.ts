import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import type { ResponseInput, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { z } from 'zod';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import { mockToolCalls } from '../../support/mock-provider.ts';

/** The official SDK, with nothing changed but base URL and key: it repeats requests as it always does. */
let openai: OpenAI;
let harness: InvokeHarness;

beforeAll(async () => {
  harness = await startInvokeHarness();
  openai = sdk(harness.service.adminKey);
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

function sdk(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${harness.service.url}/v1`, apiKey });
}

/** What the provider received, without the members that are always there. */
function sent(index = 0): Record<string, unknown> {
  return harness.mock.requests[index]?.body ?? {};
}

async function failureOf(promise: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error(`expected a failure of the SDK, got ${String(error)}`);
  return error;
}

async function all<Event>(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const getWeather = zodResponsesFunction({
  name: 'get_weather',
  parameters: z.object({ city: z.string(), unit: z.string() }),
});
const getTime = zodResponsesFunction({ name: 'get_time', parameters: z.object({ zone: z.string() }) });

describe('responses.create', () => {
  it('answers a text', async () => {
    const response = await openai.responses.create({ model: 'mock/model-a', input: 'Hi' });
    expect(response.output_text).toBe('Hello from model-a.');
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'mock/model-a',
      error: null,
      store: false,
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    });
    expect(sent()).toMatchObject({ model: 'model-a', messages: [{ role: 'user', content: 'Hi' }] });
  });

  it('answers a conversation, with the output of earlier responses', async () => {
    const input: ResponseInput = [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }];
    const first = await openai.responses.create({ model: 'mock/model-a', input });
    input.push(...(first.output as ResponseInput), { role: 'user', content: 'And again' });
    await openai.responses.create({ model: 'mock/model-a', instructions: 'Be kind.', input });
    expect(sent(1)['messages']).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello from model-a.' },
      { role: 'user', content: 'And again' },
    ]);
  });

  it('runs a stored prompt, by number, by label, and the latest version', async () => {
    const slug = await harness.createPrompt({ selected_model: 'model-b' });
    const path = `/api/v1/prompts/${slug}`;
    await harness.service.call('PUT', path, {
      body: { messages: [{ role: 'system', content: 'Greet {{name}} in verse.' }] },
    });
    await harness.service.call('PUT', `${path}/labels/production`, {
      body: { version: 1 },
      headers: { 'If-None-Match': '*' },
    });
    const variables = { name: 'Ada' };
    const served: unknown[] = [];
    for (const prompt of [{ id: slug, version: '1' }, { id: slug, version: 'production' }, { id: slug }]) {
      const response = await openai.responses.create({ prompt: { ...prompt, variables } });
      expect(response.output_text).toBe('Hello from model-b.');
      served.push(response.prompt?.version);
    }
    const byModel = await openai.responses.create({ model: `prompt/${slug}@production`, input: 'Go on' });
    expect([...served, byModel.prompt?.version]).toEqual(['1', '1', '2', '1']);
    expect(harness.mock.requests.map(({ body }) => body['messages'])).toEqual([
      [{ role: 'user', content: 'Hello Ada' }],
      [{ role: 'user', content: 'Hello Ada' }],
      [{ role: 'system', content: 'Greet Ada in verse.' }],
      [
        { role: 'user', content: 'Hello world' },
        { role: 'user', content: 'Go on' },
      ],
    ]);
  });

  it("runs a prompt that OpenAI hosted, with OpenAI's own call", async () => {
    const id = 'pmpt_68a1f0c2d4e88190b3a5c7d9e1f20413';
    const slug = await harness.createPrompt({ aliases: [id], selected_model: 'model-b' });
    for (const text of ['Dear {{name}}', 'Bye {{name}}', 'See you']) {
      const body = { messages: [{ role: 'user', content: text }] };
      await harness.service.call('PUT', `/api/v1/prompts/${slug}`, { body });
    }
    const variables = { name: 'Ada' };
    const response = await openai.responses.create({ prompt: { id, version: '3', variables } });
    expect([response.output_text, response.prompt?.version]).toEqual(['Hello from model-b.', '3']);
    // As the code that OpenAI's dashboard shows.
    await openai.responses.create({
      prompt: { id, version: '2', variables: { name: { type: 'input_text', text: 'Bob' } } },
      input: [],
      text: { format: { type: 'text' } },
      reasoning: {},
      max_output_tokens: 2048,
      store: true,
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
    });
    const stream = await openai.responses.create({ prompt: { id }, input: 'Go on', stream: true });
    expect((await all(stream)).at(-1)?.type).toBe('response.completed');
    expect(harness.mock.requests.map(({ body }) => body['messages'])).toEqual([
      [{ role: 'user', content: 'Bye Ada' }],
      [{ role: 'user', content: 'Dear Bob' }],
      [
        { role: 'user', content: 'See you' },
        { role: 'user', content: 'Go on' },
      ],
    ]);
    const image = {
      name: { type: 'input_image' as const, image_url: 'https://x.example/a.png', detail: 'auto' as const },
    };
    const refused = await failureOf(openai.responses.create({ prompt: { id, variables: image } }));
    expect(refused).toMatchObject({ status: 400, param: expect.stringContaining('prompt.variables.name') });
    const unknown = await failureOf(openai.responses.create({ prompt: { id: 'pmpt_0', variables } }));
    expect(unknown).toMatchObject({ status: 404, code: 'prompt-not-found' });
  });

  it('passes functions, their calls and their results', async () => {
    const input: ResponseInput = [{ role: 'user', content: 'What is the weather?' }];
    const tools = [getWeather, getTime];
    const request = { model: 'mock/mock-tools', input, tools, tool_choice: 'required' } as const;
    const asked = await openai.responses.create(request);
    const calls = asked.output.filter((item) => item.type === 'function_call');
    expect(calls.map(({ call_id: id, name, arguments: text }) => ({ id, name, arguments: text }))).toEqual(
      mockToolCalls,
    );
    input.push(...(asked.output as ResponseInput));
    for (const { call_id } of calls)
      input.push({ type: 'function_call_output', call_id, output: `result of ${call_id}` });
    harness.mock.behave('mock-tools', { kind: 'answer' });
    const answered = await openai.responses.create(request);
    expect(answered.output_text).toBe('Hello from mock-tools.');
    expect(sent()).toMatchObject({ tool_choice: 'required' });
    expect((sent()['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual([
      'get_weather',
      'get_time',
    ]);
    expect(sent(1)['messages']).toMatchObject([
      { role: 'user', content: 'What is the weather?' },
      {
        role: 'assistant',
        tool_calls: mockToolCalls.map(({ id, name, arguments: text }) => ({ id, function: { name, arguments: text } })),
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'result of call_1' },
      { role: 'tool', tool_call_id: 'call_2', content: 'result of call_2' },
    ]);
  });

  it('says that an answer was cut by the length limit', async () => {
    harness.mock.behave('model-a', { kind: 'answer', finish: 'length' });
    const response = await openai.responses.create({ model: 'mock/model-a', input: 'Hi', max_output_tokens: 5 });
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'message', status: 'incomplete' }],
    });
    expect(sent()).toMatchObject({ max_tokens: 5 });
  });
});

describe('responses.parse', () => {
  it('parses an answer in JSON, and calls', async () => {
    const Triage = z.object({ priority: z.enum(['low', 'high']) });
    harness.mock.behave('model-a', { kind: 'stream', steps: [{ text: '{"priority":"high"}' }] });
    const response = await openai.responses.parse({
      model: 'mock/model-a',
      input: 'Everything is down',
      text: { format: zodTextFormat(Triage, 'triage') },
    });
    expect(response.output_parsed).toEqual({ priority: 'high' });
    expect(response.text?.format).toMatchObject({ type: 'json_schema', name: 'triage', strict: true });
    const called = await openai.responses.parse({
      model: 'mock/mock-tools',
      input: 'Hi',
      tools: [getWeather, getTime],
    });
    const calls = called.output.filter((item) => item.type === 'function_call');
    expect(calls.map((call) => call.parsed_arguments)).toEqual(mockToolCalls.map((call) => JSON.parse(call.arguments)));
    // What the SDK parsed is part of the items, and comes back with them.
    const input: ResponseInput = [{ role: 'user', content: 'Hi' }];
    input.push(...(response.output as ResponseInput), ...(called.output as ResponseInput));
    for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: '' });
    expect((await openai.responses.create({ model: 'mock/model-a', input })).status).toBe('completed');
  });
});

describe('streams', () => {
  it('have the events of the API, in order', async () => {
    const stream = await openai.responses.create({ model: 'mock/mock-tools', input: 'Hi', stream: true });
    const events = await all<ResponseStreamEvent>(stream);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const types = events.map((event) => event.type.replace('response.', ''));
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      ...mockToolCalls.flatMap(() => [
        'output_item.added',
        'function_call_arguments.delta',
        'function_call_arguments.done',
        'output_item.done',
      ]),
      'completed',
    ]);
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error('the stream has no end');
    const done = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []));
    expect(last.response.output).toEqual(done);
    expect(last.response.usage).toMatchObject({ input_tokens: 11, output_tokens: 7 });
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('end with the whole response', async () => {
    const stream = openai.responses.stream({ model: 'mock/model-a', input: 'Hi' });
    let text = '';
    stream.on('response.output_text.delta', ({ delta }) => (text += delta));
    const response = await stream.finalResponse();
    expect(text).toBe('Hello from model-a.');
    expect([response.status, response.output_text]).toEqual(['completed', text]);
  });

  it('of stored prompts and of answers in JSON are the same', async () => {
    const slug = await harness.createPrompt({ selected_model: 'model-b' });
    const Triage = z.object({ priority: z.string() });
    harness.mock.behave('model-b', {
      kind: 'stream',
      steps: [{ text: '{"priority"' }, { text: ':"low"}' }, { finish: 'stop' }],
    });
    const stream = openai.responses.stream({
      prompt: { id: slug, variables: { name: 'Ada' } },
      text: { format: zodTextFormat(Triage, 'triage') },
    });
    const response = await stream.finalResponse();
    expect(response.output_parsed).toEqual({ priority: 'low' });
    expect(response.prompt?.version).toBe('1');
  });

  it('that a length limit ends are incomplete', async () => {
    harness.mock.behave('model-a', { kind: 'answer', finish: 'length' });
    const stream = await openai.responses.create({ model: 'mock/model-a', input: 'Hi', stream: true });
    const last = (await all<ResponseStreamEvent>(stream)).at(-1);
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  it('that break throw, and are not bought again', async () => {
    for (const model of ['mock-cut', 'mock-error', 'mock-unended', 'mock-broken']) {
      const texts: string[] = [];
      const stream = await openai.responses.create({ model: `mock/${model}`, input: 'Hi', stream: true });
      const read = async (): Promise<void> => {
        for await (const event of stream) if (event.type === 'response.output_text.delta') texts.push(event.delta);
      };
      const error = await failureOf(read());
      expect([model, error.type, error.code]).toEqual([model, 'server_error', expect.stringMatching(/^provider-/)]);
      expect(texts.length).toBeGreaterThan(0);
      expect(harness.mock.requests.filter((request) => request.model === model)).toHaveLength(1);
    }
  });

  it('that the caller leaves stop the provider', async () => {
    const stream = await openai.responses.create({ model: 'mock/mock-endless', input: 'Hi', stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    await harness.mock.requests[0]?.ended;
    expect(harness.mock.requests[0]?.aborted).toBe(true);
  });
});

describe('failures', () => {
  it('are the exceptions of the SDK', async () => {
    const create = (body: object, client = openai): Promise<unknown> => client.responses.create(body);
    const slug = await harness.createPrompt({ variables: { name: { required: true } } });
    const invoker = sdk(await harness.service.createKey('prompts:invoke'));
    const cases: [() => Promise<unknown>, new (...values: never[]) => Error, string, string | null][] = [
      [
        () => create({ model: 'mock/model-a', input: 'Hi', previous_response_id: 'resp_1' }),
        OpenAI.BadRequestError,
        'invalid-request',
        'previous_response_id',
      ],
      [
        () => create({ model: 'mock/model-a', input: 'Hi' }, sdk('pgw_none')),
        OpenAI.AuthenticationError,
        'unauthenticated',
        null,
      ],
      [
        () => create({ model: 'mock/model-a', input: 'Hi' }, invoker),
        OpenAI.PermissionDeniedError,
        'insufficient-scope',
        null,
      ],
      [() => create({ prompt: { id: 'no-such-prompt' } }), OpenAI.NotFoundError, 'prompt-not-found', null],
      [() => create({ prompt: { id: slug } }), OpenAI.UnprocessableEntityError, 'missing-variables', null],
      [
        () => create({ model: 'mock/mock-401', input: 'Hi' }),
        OpenAI.InternalServerError,
        'provider-refused-credentials',
        null,
      ],
    ];
    for (const [fail, type, code, param] of cases) {
      const error = await failureOf(fail());
      expect(error).toBeInstanceOf(type);
      expect([error.code, error.param]).toEqual([code, param]);
    }
  });

  const request = (model: string, stream: boolean): object => ({ model: `mock/${model}`, input: 'Hi', stream });

  it.each([
    ['mock-garbage', 1, OpenAI.InternalServerError, 'provider-bad-answer'],
    ['mock-reset', 1, OpenAI.InternalServerError, 'provider-failed'],
    ['mock-500', 1, OpenAI.InternalServerError, 'provider-failed'],
    ['mock-503', 3, OpenAI.InternalServerError, 'provider-failed'],
    ['mock-429', 3, OpenAI.RateLimitError, 'provider-rate-limited'],
    ['mock-400', 1, OpenAI.BadRequestError, 'mock_error'],
    ['mock-401', 1, OpenAI.InternalServerError, 'provider-refused-credentials'],
  ])('%s is called by the service alone, %i times, whole or streamed', async (model, times, type, code) => {
    for (const stream of [false, true]) {
      harness.mock.reset();
      const error = await failureOf(openai.responses.create(request(model, stream)));
      expect(error).toBeInstanceOf(type);
      expect([error.code, error.headers?.get('x-should-retry')]).toEqual([code, 'false']);
      expect(harness.mock.requests).toHaveLength(times);
    }
  });

  it('that cost nothing are repeated by the service', async () => {
    const response = await openai.responses.create({ model: 'mock/mock-flaky-2', input: 'Hi' });
    expect(response.status).toBe('completed');
    expect(harness.mock.requests).toHaveLength(3);
  });
});
