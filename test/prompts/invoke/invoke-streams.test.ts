import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { components } from '../../../generated/types.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startMockProvider, type MockProvider, type Step } from '../../support/mock-provider.ts';
import { readEvents } from '../../support/server-sent-events.ts';
import { startTestService, type Answer } from '../../support/service.ts';
import { mockUsage } from '../../support/mock-vendors.ts';
import { until } from '../../support/until.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

type Event = components['schemas']['InvocationEvent'];
type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;

let harness: InvokeHarness;
/** The server behind the providers `openai`, `anthropic` and `google`. */
let vendors: MockProvider;
const lines: Record<string, unknown>[] = [];
let prompt: string;

beforeAll(async () => {
  vendors = await startMockProvider();
  const environment = {
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: vendors.url,
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: vendors.url,
    GOOGLE_GENERATIVE_AI_API_KEY: 'sk-test',
    GOOGLE_BASE_URL: vendors.url,
  };
  harness = await startInvokeHarness({
    environment,
    statisticsEveryMs: 20,
    log: createLogger('info', {
      write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    }),
  });
  prompt = await harness.createPrompt();
});
afterEach(() => {
  harness.mock.reset();
  vendors.reset();
});
afterAll(async () => {
  // The last test stops the service.
  await harness.mock.close();
  await vendors.close();
});

function eventsOf(text: string): Event[] {
  return readEvents(text).map(({ name, data }) => {
    const event = JSON.parse(data) as Event;
    expect(event.type).toBe(name);
    return event;
  });
}

function find<Type extends Event['type']>(events: readonly Event[], type: Type): EventOf<Type> | undefined {
  return events.find((event): event is EventOf<Type> => event.type === type);
}

const textOf = (events: readonly Event[]): string =>
  events.map((event) => (event.type === 'text' ? event.delta : '')).join('');
const typesOf = (events: readonly Event[]): string[] => [...new Set(events.map(({ type }) => type))];

async function stream(
  body: Record<string, unknown> = {},
  headers?: Record<string, string>,
): Promise<{ answer: Answer; events: Event[] }> {
  const answer = await harness.invoke(prompt, { stream: true, ...body }, headers);
  return { answer, events: answer.headers['content-type'] === 'text/event-stream' ? eventsOf(answer.text) : [] };
}

const withKey = (key: string): Record<string, string> => ({ 'Idempotency-Key': key });
const spent = { inputTokens: mockUsage.input, outputTokens: mockUsage.output };

interface Reading {
  /** Waits until the text so far contains this. @returns that text */
  until(part: string): Promise<string>;
  /** Reads to the end. @returns the whole text. Rejects if the stream is cut. */
  rest(): Promise<string>;
}

/** Reads an answer bit by bit. */
function read(response: Response): Reading {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = '';
  const next = async (): Promise<boolean> => {
    const { value } = (await reader?.read()) ?? {};
    text += decoder.decode(value, { stream: true });
    return value !== undefined;
  };
  return {
    async until(part) {
      while (!text.includes(part)) if (!(await next())) throw new Error(`The stream ended: ${text}`);
      return text;
    },
    async rest() {
      while (await next());
      return text;
    },
  };
}

describe('a stream', () => {
  it('has events while the answer is generated', async () => {
    const { answer, events } = await stream();
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-provider': 'mock',
      'x-model': 'model-a',
      'x-cached': 'false',
      'x-served-version': '1',
      'x-latency-ms': expect.stringMatching(/^\d+$/),
    });
    expect(answer.headers).not.toHaveProperty('content-encoding');
    const invocationId = answer.headers['x-invocation-id'];
    expect(events[0]).toEqual({
      type: 'start',
      invocation_id: invocationId,
      provider: 'mock',
      model: 'model-a',
      cached: false,
    });
    expect(textOf(events)).toBe('Hello from model-a.');
    expect(events.filter(({ type }) => type === 'text').length).toBeGreaterThan(1);
    expect(events.at(-1)).toEqual({
      type: 'finish',
      finishReason: 'stop',
      usage: spent,
      cost: null,
      latency_ms: expect.any(Number),
    });
    expect(harness.mock.requests).toHaveLength(1);
  });

  it.each(['application/json', 'text/event-stream', '*/*'])(
    'is decided by its member, not by Accept: %s',
    async (accept) => {
      const { answer } = await stream({}, { accept });
      expect(answer.headers['content-type']).toBe('text/event-stream');
      const whole = await harness.invoke(prompt, { stream: false }, { accept });
      expect(whole.headers['content-type']).toBe('application/json; charset=utf-8');
    },
  );

  it('has whole calls of tools', async () => {
    const { events } = await stream({ model: 'mock-tools' });
    const calls = events.flatMap((event) => (event.type === 'tool-call' ? [event.tool_call] : []));
    expect(calls.map(({ name }) => name)).toEqual(['get_weather', 'get_time']);
    expect(find(events, 'finish')).toMatchObject({ finishReason: 'tool-calls', tool_calls: calls });
  });

  it('has the object of a JSON answer, and warnings', async () => {
    harness.mock.behave('model-a', { kind: 'stream', steps: [{ text: '{"a":' }, { text: '1}' }, { finish: 'stop' }] });
    const { events } = await stream({ response_format: { type: 'json' }, variables: { nobody: 1 } });
    expect(textOf(events)).toBe('{"a":1}');
    expect(find(events, 'finish')).toMatchObject({ object: { a: 1 }, warnings: [{ code: 'unknown-variable' }] });
  });

  it('fails where a JSON answer breaks its schema, with what it cost', async () => {
    const { events } = await stream({ response_format: { type: 'json' } });
    expect(typesOf(events)).toEqual(['start', 'text', 'error']);
    expect(find(events, 'error')).toMatchObject({
      problem: { type: 'urn:prompt-gateway:problem:provider-bad-answer', status: 502 },
      usage: spent,
    });
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('a failure before the first content', () => {
  it.each([
    ['mock-429', 'provider-rate-limited', 3],
    ['mock-400', 'provider-failed', 1],
    ['mock-early-error', 'provider-failed', 1],
    ['mock-garbage', 'provider-bad-answer', 1],
  ])('is a problem answer (%s)', async (model, type, calls) => {
    const { answer } = await stream({ model });
    expect([answer.status, problemOf(answer)]).toEqual([502, type]);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(harness.mock.requests).toHaveLength(calls);
  });

  it('is a problem answer after the deadline', async () => {
    const { answer } = await stream({ model: 'mock-quiet' }, { 'X-Timeout-Ms': '50' });
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-timeout']);
    await Promise.all(harness.mock.requests.map(({ ended }) => ended));
    expect(harness.mock.requests.filter(({ aborted }) => !aborted)).toEqual([]);
  });

  it.each([
    [{ version: 99 }, 404, 'version-not-found'],
    [{ label: 'nowhere' }, 422, 'unknown-label'],
    [{ provider: 'nobody' }, 422, 'unknown-provider'],
  ])('of the request is refused: %j', async (body, status, type) => {
    const { answer } = await stream(body);
    expect([answer.status, problemOf(answer)]).toEqual([status, type]);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('falls back to another target', async () => {
    const { answer, events } = await stream({ model: 'mock-500', fallbacks: [{ provider: 'mock', model: 'model-b' }] });
    expect(answer.headers).toMatchObject({ 'x-provider': 'mock', 'x-model': 'model-b' });
    const attempts = [expect.objectContaining({ model: 'mock-500', may_be_billed: true })];
    const invocationId = answer.headers['x-invocation-id'];
    expect(events[0]).toEqual({
      type: 'start',
      invocation_id: invocationId,
      provider: 'mock',
      model: 'model-b',
      cached: false,
      attempts,
    });
    expect(find(events, 'finish')).toMatchObject({ attempts });
    expect(harness.mock.requests.map(({ model }) => model)).toEqual(['mock-500', 'model-b']);
  });
});

describe('a failure after the first content', () => {
  it.each([
    ['mock-cut', 'provider-bad-answer'],
    ['mock-unended', 'provider-bad-answer'],
    ['mock-error', 'provider-failed'],
    ['mock-broken', 'provider-bad-answer'],
  ])('is the last event, and no fallback is called (%s)', async (model, type) => {
    const { answer, events } = await stream({ model, fallbacks: [{ provider: 'mock', model: 'model-b' }] });
    expect(answer.status).toBe(200);
    expect(typesOf(events)).toEqual(['start', 'text', 'error']);
    expect(events.at(-1)).toMatchObject({
      problem: {
        type: `urn:prompt-gateway:problem:${type}`,
        provider: 'mock',
        model,
        request_id: answer.headers['x-request-id'],
        // As in a 502: the calls before, and the broken one.
        attempts: [
          expect.objectContaining({
            provider: 'mock',
            model,
            may_be_billed: true,
            problem: `urn:prompt-gateway:problem:${type}`,
          }),
        ],
      },
    });
    await harness.mock.requests[0]?.ended;
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('a caller who leaves', () => {
  it('ends the call of the provider', async () => {
    const left = new AbortController();
    const response = await harness.invokeUntil(left.signal, prompt, { stream: true, model: 'mock-stall' });
    await read(response).until('event: text');
    left.abort();
    const request = await harness.received(1);
    await request.ended;
    expect(request.aborted).toBe(true);
  });

  it('ends the call before the first content, too', async () => {
    const left = new AbortController();
    const answer = harness.invokeUntil(left.signal, prompt, { stream: true, model: 'mock-quiet' });
    const request = await harness.received(1);
    left.abort();
    await expect(answer).rejects.toThrow();
    await request.ended;
    expect(request.aborted).toBe(true);
  });
});

describe('an idempotency key', () => {
  it('replays the whole answer as a short stream', async () => {
    const first = await stream({}, withKey('whole'));
    const replay = await stream({}, withKey('whole'));
    expect(replay.answer.headers).toMatchObject({
      'idempotency-replayed': 'true',
      'content-type': 'text/event-stream',
    });
    for (const name of ['x-prompt-id', 'x-provider', 'x-model', 'x-served-version', 'x-accel-buffering']) {
      expect([name, replay.answer.headers[name]]).toEqual([name, first.answer.headers[name]]);
    }
    expect(replay.events.map(({ type }) => type)).toEqual(['start', 'text', 'finish']);
    expect(textOf(replay.events)).toBe(textOf(first.events));
    expect(replay.events.at(-1)).toEqual(first.events.at(-1));
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('belongs to a stream only', async () => {
    await stream({}, withKey('kind'));
    const answer = await harness.invoke(prompt, {}, withKey('kind'));
    expect([answer.status, problemOf(answer)]).toEqual([422, 'idempotency-key-reused']);
  });

  it('lets the call go on without its caller, and is in use until then', async () => {
    const { promise: go, resolve } = Promise.withResolvers<undefined>();
    harness.mock.behave('model-a', {
      kind: 'stream',
      steps: [{ text: 'One ' }, { wait: go }, { text: 'two.' }, { finish: 'stop' }],
    });
    const left = new AbortController();
    const response = await harness.invokeUntil(left.signal, prompt, { stream: true }, withKey('left'));
    await read(response).until('One ');
    left.abort();
    const early = await stream({}, withKey('left'));
    expect([early.answer.status, problemOf(early.answer)]).toEqual([409, 'idempotency-key-in-use']);
    resolve(undefined);
    const replay = await until(
      () => stream({}, withKey('left')),
      ({ answer }) => answer.status !== 409,
    );
    expect(textOf(replay.events)).toBe('One two.');
    expect(harness.mock.requests).toHaveLength(1);
    expect(harness.mock.requests[0]).toMatchObject({ aborted: false });
  });

  it('replays a failure after the first content, which was paid for', async () => {
    const first = await stream({ model: 'mock-cut' }, withKey('paid'));
    const replay = await stream({ model: 'mock-cut' }, withKey('paid'));
    expect(textOf(replay.events)).toBe(textOf(first.events));
    expect([replay.events[0], replay.events.at(-1)]).toEqual([first.events[0], first.events.at(-1)]);
    expect(first.events[0]).not.toHaveProperty('attempts');
    expect(replay.events.at(-1)?.type).toBe('error');
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('is free again after a failure before the first content', async () => {
    harness.mock.behave('model-a', { kind: 'status', status: 400 });
    expect((await stream({}, withKey('free'))).answer.status).toBe(502);
    const { answer, events } = await stream({}, withKey('free'));
    expect([answer.status, textOf(events)]).toEqual([200, 'Hello from model-a.']);
    expect(answer.headers).not.toHaveProperty('idempotency-replayed');
  });

  it('is free again if its caller has left and there is no content in time', async () => {
    const left = new AbortController();
    const headers = { ...withKey('left-early'), 'X-Timeout-Ms': '300' };
    const answer = harness.invokeUntil(left.signal, prompt, { stream: true, model: 'mock-quiet' }, headers);
    const request = await harness.received(1);
    left.abort();
    await expect(answer).rejects.toThrow();
    await request.ended;
    expect(request.aborted).toBe(true);
    const again = await until(
      () => stream({ model: 'mock-quiet' }, headers),
      (next) => next.answer.status !== 409,
    );
    expect([again.answer.status, problemOf(again.answer)]).toEqual([502, 'provider-timeout']);
    expect(harness.mock.requests).toHaveLength(2);
  });

  it('is replayed by another process', async () => {
    const { environment } = harness.service;
    const other = await startTestService({
      environment: { ...environment, PORT: '0' },
    });
    try {
      const first = await stream({}, withKey('processes'));
      const replay = await other.call('POST', `/api/v1/prompts/${prompt}/invoke`, {
        body: { stream: true },
        headers: withKey('processes'),
      });
      expect(replay.headers['idempotency-replayed']).toBe('true');
      expect(textOf(eventsOf(replay.text))).toBe(textOf(first.events));
      expect(harness.mock.requests).toHaveLength(1);
    } finally {
      await other.close();
    }
  });
});

describe('the cache', () => {
  it('keeps finished streams, and answers with one text', async () => {
    const first = await stream({ variables: { name: 'cache' } }, { 'Cache-Control': 'max-age=60' });
    const { answer, events } = await stream({ variables: { name: 'cache' } }, { 'Cache-Control': 'max-age=60' });
    expect(answer.headers).toMatchObject({ 'x-cached': 'true', age: expect.stringMatching(/^\d+$/) });
    expect(events.map(({ type }) => type)).toEqual(['start', 'text', 'finish']);
    expect(events[0]).toMatchObject({ cached: true, age: expect.any(Number) });
    expect(textOf(events)).toBe(textOf(first.events));
    const whole = await harness.invoke(prompt, { variables: { name: 'cache' } }, { 'Cache-Control': 'max-age=60' });
    expect(whole.headers['x-cached']).toBe('true');
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('keeps no stream that broke', async () => {
    const ask = { model: 'mock-cut', variables: { name: 'cut' } };
    await stream(ask, { 'Cache-Control': 'max-age=60' });
    await stream(ask, { 'Cache-Control': 'max-age=60' });
    expect(harness.mock.requests).toHaveLength(2);
  });

  it('is not asked to share calls in progress', async () => {
    const ask = { model: 'mock-held', variables: { name: 'shared' } };
    const streams = [1, 2].map(() => stream(ask, { 'Cache-Control': 'max-age=60' }));
    await harness.received(2);
    harness.mock.release();
    for (const { events } of await Promise.all(streams)) expect(textOf(events)).toBe('Hello from mock-held.');
  });

  it('answers 504 if there must be a cached answer and there is none', async () => {
    const { answer } = await stream({ variables: { name: 'x' } }, { 'Cache-Control': 'only-if-cached' });
    expect([answer.status, problemOf(answer)]).toEqual([504, 'not-cached']);
  });
});

describe('each format of a provider', () => {
  const formats = [
    ['openai', 'gpt'],
    ['anthropic', 'claude'],
    ['google', 'gemini'],
  ] as const;

  it.each(formats)('arrives as the same events: %s', async (provider, name) => {
    const { events } = await stream({ provider, model: `${name}-1` });
    expect(textOf(events)).toBe(`Hello from ${name}-1.`);
    expect(find(events, 'finish')).toMatchObject({ finishReason: 'stop', usage: spent });
    expect(vendors.requests).toHaveLength(1);
  });

  it.each(formats)('ends with an error after a cut, an error or garbage: %s', async (provider, _name) => {
    for (const model of ['mock-cut', 'mock-error', 'mock-broken']) {
      const { events } = await stream({ provider, model });
      expect([model, typesOf(events)]).toEqual([model, ['start', 'text', 'error']]);
    }
    await Promise.all(vendors.requests.map(({ ended }) => ended));
    expect(vendors.requests).toHaveLength(3);
  });
});

describe('what is recorded', () => {
  const counts = async (slug: string): Promise<Record<string, number>> => {
    const { body } = await harness.service.call('GET', `/api/v1/prompts/${slug}/statistics`);
    return (body as { totals: Record<string, number> }).totals;
  };
  const lineOf = (requestId: string): Promise<Record<string, unknown> | undefined> =>
    until(() => lines.find((line) => line['request_id'] === requestId && line['operation'] === 'invokePrompt'));

  it('has each stream once', async () => {
    const slug = await harness.createPrompt();
    const before = await harness.metric('http_streamed_answers_total{operation="invokePrompt",outcome="succeeded"}');
    const { headers } = await harness.invoke(slug, { stream: true });
    const total = await until(
      () => counts(slug),
      ({ invocations }) => invocations === 1,
    );
    expect(total).toMatchObject({ errors: 0, input_tokens: mockUsage.input, output_tokens: mockUsage.output });
    expect(await lineOf(headers['x-request-id'] ?? '')).toMatchObject({
      status: 200,
      outcome: 'succeeded',
      provider: 'mock',
      model: 'model-a',
      first_event_ms: expect.any(Number),
    });
    expect(await harness.metric('http_streamed_answers_total{operation="invokePrompt",outcome="succeeded"}')).toBe(
      before + 1,
    );
    expect(await harness.metric('http_stream_first_event_seconds_count{operation="invokePrompt"}')).toBeGreaterThan(0);
    await until(
      () => harness.metric('http_event_streams_active'),
      (active) => active === 0,
    );
  });

  it('has the problem of a stream that broke, and its tokens', async () => {
    const slug = await harness.createPrompt({ selected_provider: 'anthropic', selected_model: 'mock-cut' });
    const { headers } = await harness.invoke(slug, { stream: true });
    const total = await until(
      () => counts(slug),
      ({ invocations }) => invocations === 1,
    );
    expect(total).toMatchObject({ errors: 1, input_tokens: mockUsage.input });
    expect(await lineOf(headers['x-request-id'] ?? '')).toMatchObject({
      status: 200,
      outcome: 'error',
      problem: 'provider-bad-answer',
      level: 'warn',
    });
  });

  it('has the tokens of a chat completion that broke', async () => {
    const slug = await harness.createPrompt({ selected_provider: 'anthropic', selected_model: 'mock-cut' });
    const body = { model: `prompt/${slug}`, messages: [], stream: true };
    await harness.service.call('POST', '/v1/chat/completions', { body });
    const total = await until(
      () => counts(slug),
      ({ invocations }) => invocations === 1,
    );
    expect(total).toMatchObject({ errors: 1, input_tokens: mockUsage.input });
  });

  it('has the tokens of a stream that its caller left', async () => {
    const slug = await harness.createPrompt({ selected_provider: 'anthropic', selected_model: 'mock-stall' });
    const left = new AbortController();
    const response = await harness.invokeUntil(left.signal, slug, { stream: true });
    await read(response).until('event: text');
    await until(
      () => harness.metric('http_event_streams_active'),
      (active) => active === 1,
    );
    left.abort();
    const total = await until(
      () => counts(slug),
      ({ invocations }) => invocations === 1,
    );
    expect(total).toMatchObject({ errors: 0, canceled: 1, input_tokens: mockUsage.input });
    expect(await lineOf(response.headers.get('x-request-id') ?? '')).toMatchObject({ outcome: 'closed' });
  });
});

describe('a provider that is slow to begin', () => {
  let slow: InvokeHarness;
  beforeAll(async () => {
    slow = await startInvokeHarness({
      environment: { SHUTDOWN_TIMEOUT_MS: '1000' },
      streamTimes: { commit: 1, heartbeat: 5 },
    });
    prompt = await slow.createPrompt();
  });
  afterAll(async () => {
    // The last test stops the service.
    await slow.mock.close();
  });
  const begin = (body: Record<string, unknown> = {}): Promise<Response> =>
    slow.invokeUntil(new AbortController().signal, prompt, { stream: true, ...body });
  /** The provider's answer, which begins when the returned function is called. */
  const answerLater = (...steps: readonly Step[]): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    slow.mock.behave('model-a', { kind: 'stream', steps: [{ wait: promise }, ...steps] });
    return () => {
      resolve(undefined);
    };
  };

  it('gets heartbeats after a while, and then its events', async () => {
    const answer = answerLater({ text: 'Late.' }, { finish: 'stop' });
    const response = await begin();
    expect([response.status, response.headers.get('x-provider')]).toEqual([200, 'mock']);
    const reading = read(response);
    await reading.until(': keep-alive\n\n'.repeat(3));
    answer();
    expect(typesOf(eventsOf(await reading.rest()))).toEqual(['start', 'text', 'finish']);
  });

  it('can still be replaced by a fallback', async () => {
    const fail = answerLater({ error: 'overloaded' });
    const response = await begin({ fallbacks: [{ provider: 'mock', model: 'model-b' }] });
    fail();
    expect(response.headers.get('x-model')).toBe('model-a');
    const events = eventsOf(await response.text());
    expect(events[0]).toMatchObject({ type: 'start', model: 'model-b' });
    expect(textOf(events)).toBe('Hello from model-b.');
  });

  it('gets an error event if it fails after that', async () => {
    const fail = answerLater({ error: 'invalid_request_error' });
    const response = await begin();
    fail();
    expect(typesOf(eventsOf(await response.text()))).toEqual(['error']);
  });

  it('frees the idempotency key then, because nothing came', async () => {
    const fail = answerLater({ error: 'invalid_request_error' });
    const send = (): Promise<Response> =>
      slow.invokeUntil(new AbortController().signal, prompt, { stream: true }, withKey('late'));
    const response = await send();
    fail();
    expect(typesOf(eventsOf(await response.text()))).toEqual(['error']);
    const again = await until(send, ({ status }) => status !== 409);
    expect(textOf(eventsOf(await again.text()))).toBe('Hello from model-a.');
  });

  it('is ended with a problem by a process that stops', async () => {
    slow.mock.behave('model-a', { kind: 'stream', steps: [{ text: 'One ' }, 'hang'] });
    const reading = read(await begin());
    await reading.until('One ');
    const stopped = slow.service.close();
    const events = eventsOf(await reading.rest());
    expect(typesOf(events)).toEqual(['start', 'text', 'error']);
    expect(find(events, 'error')).toMatchObject({ problem: { type: 'urn:prompt-gateway:problem:interrupted' } });
    await stopped;
    await Promise.all(slow.mock.requests.map(({ ended }) => ended));
  });
});

describe('a process that stops', () => {
  it('lets its streams finish', async () => {
    const { promise: go, resolve } = Promise.withResolvers<undefined>();
    harness.mock.behave('model-a', {
      kind: 'stream',
      steps: [{ text: 'One ' }, { wait: go }, { text: 'two.' }, { finish: 'stop' }],
    });
    const response = await harness.invokeUntil(new AbortController().signal, await harness.createPrompt(), {
      stream: true,
    });
    const reading = read(response);
    await reading.until('One ');
    const stopped = harness.service.close();
    resolve(undefined);
    const events = eventsOf(await reading.rest());
    expect([textOf(events), events.at(-1)?.type]).toEqual(['One two.', 'finish']);
    await stopped;
  });
});
