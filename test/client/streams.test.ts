import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ConnectionError,
  NotFoundError,
  PromptGateway,
  ProviderError,
  ServiceError,
  TimeoutError,
  UnexpectedAnswerError,
  type GatewayOptions,
  type InvocationEvent,
  type InvocationStream,
} from '../../clients/typescript/src/index.ts';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { mockToolCalls } from '../support/mock-provider.ts';
import { mockUsage } from '../support/mock-vendors.ts';
import { problem } from '../support/per-operation.ts';
import { startReceiver, type Reaction, type Receiver } from '../support/receiver.ts';
import { createImpatientGateway, type ImpatientGateway } from './harness.ts';

const apiKey = 'pgw_key-of-the-client_0123456789abcdef';

/** Everything that a stream gives, and what it throws. */
async function readAll(stream: AsyncIterable<InvocationEvent>): Promise<{ events: InvocationEvent[]; error: unknown }> {
  const events: InvocationEvent[] = [];
  try {
    for await (const event of stream) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

/** What a test can interrupt a stream with. */
interface Interrupted {
  readonly controller: AbortController;
  readonly iterator: AsyncIterator<unknown>;
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe('a stream of the service', () => {
  let harness: InvokeHarness;
  let gateway: PromptGateway;
  let slug: string;
  beforeAll(async () => {
    harness = await startInvokeHarness();
    gateway = new PromptGateway({ baseUrl: harness.service.url, apiKey: harness.service.adminKey });
    slug = await harness.createPrompt();
  });
  afterAll(async () => {
    await harness.close();
  });
  afterEach(() => {
    harness.mock.reset();
  });

  it('has typed events, and the whole answer at its end', async () => {
    const { id } = await gateway.prompts.get(slug);
    const stream = gateway.prompts.stream(slug, { variables: { name: 'Ada' } });
    const { events, error } = await readAll(stream);
    expect(error).toBeUndefined();
    expect(events.map(({ type }) => String(type))).toEqual(['start', 'text', 'text', 'text', 'finish']);
    const usage = { inputTokens: mockUsage.input, outputTokens: mockUsage.output };
    const { requestId, latencyMs, ...answer } = await stream.final();
    expect(answer).toEqual({
      text: 'Hello from model-a.',
      finishReason: 'stop',
      usage,
      cost: null,
      cached: false,
      provider: 'mock',
      model: 'model-a',
      promptId: id,
      version: 1,
    });
    expect([typeof requestId, typeof latencyMs]).toEqual(['string', 'number']);
    expect(await stream.text()).toBe('Hello from model-a.');
    // The same request without a stream.
    const { text, finishReason } = await gateway.prompts.invoke(slug, { variables: { name: 'Ada' } });
    expect({ text, finishReason }).toEqual({ text: answer.text, finishReason: answer.finishReason });
  });

  it('can be read as pieces of the text, or as a whole', async () => {
    const pieces: string[] = [];
    for await (const piece of gateway.prompts.stream(slug).textStream()) pieces.push(piece);
    expect(pieces.join('')).toBe('Hello from model-a.');
    expect(await gateway.prompts.stream(slug).text()).toBe('Hello from model-a.');
    expect(
      (await gateway.prompts
        .stream(slug, { label: 'none' })
        .final()
        .catch((error: unknown) => error)) as object,
    ).toMatchObject({ status: 422, type: problem('unknown-label'), operation: 'prompts.stream' });
  });

  it('gives each event as soon as the provider has sent it', async () => {
    let proceed: (value: unknown) => void = () => undefined;
    const wait = new Promise((resolve) => {
      proceed = resolve;
    });
    const steps = [{ text: 'Wait' }, { wait }, { text: ' for it.' }, { finish: 'stop' } as const];
    harness.mock.behave('model-a', { kind: 'stream', steps });
    const seen: string[] = [];
    for await (const text of gateway.prompts.stream(slug).textStream()) {
      seen.push(text);
      proceed(undefined);
    }
    expect(seen).toEqual(['Wait', ' for it.']);
  });

  it('has whole calls of tools, whose results go back as messages', async () => {
    const tools = [{ name: 'get_weather', parameters: { type: 'object' } }];
    const prompt = await harness.createPrompt({ name: 'Weather', selected_provider: 'echo', tools });
    const question = { role: 'user', content: 'call get_weather {"city":"Zürich"}' } as const;
    const { finishReason, tool_calls: toolCalls = [] } = await gateway.prompts
      .stream(prompt, { messages: [question] })
      .final();
    expect([finishReason, toolCalls]).toEqual([
      'tool-calls',
      [{ id: expect.any(String), name: 'get_weather', arguments: '{"city":"Zürich"}' }],
    ]);
    const results = toolCalls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '21 °C' }) as const);
    const call = { role: 'assistant', content: '', tool_calls: toolCalls } as const;
    expect(await gateway.prompts.stream(prompt, { messages: [question, call, ...results] }).text()).toBe('21 °C');
  });

  it('has the parts of an answer, as an invocation has them', async () => {
    const prompt = await harness.createPrompt({ name: 'Parts', selected_model: 'model-b' });
    const [toolCall] = mockToolCalls;
    const steps = [
      { reasoning: 'Hm, ' },
      { reasoning: 'well.' },
      { text: 'Let ' },
      { text: 'me look.' },
      ...(toolCall ? [{ toolCall }] : []),
      { finish: 'tool-calls' } as const,
    ];
    harness.mock.behave('model-b', { kind: 'stream', steps });
    const { text, content, tool_calls: toolCalls } = await gateway.prompts.stream(prompt).final();
    expect(text).toBe('Let me look.');
    expect(content).toEqual([
      { type: 'thinking', text: 'Hm, well.' },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool-call', ...toolCalls?.[0] },
    ]);
    expect(toolCalls).toEqual([toolCall]);
  });

  it('fails before its first event as an invocation does', async () => {
    expect(await failureOf(gateway.prompts.stream('nobody').text())).toBeInstanceOf(NotFoundError);
    const { events, error } = await readAll(gateway.prompts.stream(slug, { model: 'mock-401' }));
    expect(events).toEqual([]);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ status: 502, type: problem('provider-refused-credentials'), attempts: 1 });
  });

  it.each(['mock-error', 'mock-cut'])('throws the failure of %s after the events before it', async (model) => {
    const stream = gateway.prompts.stream(slug, { model });
    const { events, error } = await readAll(stream);
    expect(events.map(({ type }) => String(type))).toEqual(['start', 'text', 'text']);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({
      status: 502,
      operation: 'prompts.stream',
      attempts: 1,
      mayHaveBeenApplied: true,
      problem: { provider: 'mock', model },
      requestId: expect.any(String),
    });
    expect(await failureOf(stream.final())).toBe(error);
    expect(harness.mock.requests).toHaveLength(1);
  });

  const leave: Record<string, (stream: InvocationStream, controller: AbortController) => Promise<void>> = {
    async 'the loop is left'(stream) {
      for await (const { type } of stream) if (type === 'text') break;
      expect(await failureOf(stream.final())).toMatchObject({ name: 'AbortError' });
    },
    async 'its block is left'(stream) {
      await (async () => {
        await using left = stream;
        const events = left[Symbol.asyncIterator]();
        await events.next();
      })();
    },
    async 'it is canceled during the loop'(stream) {
      const seen: unknown[] = [];
      const loop = (async () => {
        for await (const event of stream) {
          seen.push(event);
          await stream.cancel();
        }
      })();
      expect(await failureOf(loop)).toMatchObject({ name: 'AbortError' });
      expect(seen).toHaveLength(1);
    },
    async 'its signal is aborted during the loop'(stream, controller) {
      const reason = new Error('the user left');
      const loop = (async () => {
        for await (const _ of stream) controller.abort(reason);
      })();
      expect(await failureOf(loop)).toBe(reason);
    },
  };
  it.each(Object.entries(leave))('ends the call of the provider when %s', async (_, read) => {
    const controller = new AbortController();
    const options = { signal: controller.signal };
    await read(gateway.prompts.stream(slug, { model: 'mock-endless' }, options), controller);
    const request = await harness.received(1);
    await request.ended;
    expect(request.aborted).toBe(true);
  });

  const reason = new Error('the user left');
  const interrupt: Record<string, (stream: InvocationStream, interrupted: Interrupted) => Promise<void>> = {
    async 'its signal is aborted'(_, { controller }) {
      controller.abort(reason);
      await Promise.resolve();
    },
    async 'it is canceled'(stream) {
      await stream.cancel();
    },
    async 'its iterator is closed'(_, { iterator }) {
      expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    },
  };
  const iterate: Record<string, (stream: InvocationStream) => AsyncIterator<unknown>> = {
    events: (stream) => stream[Symbol.asyncIterator](),
    textStream: (stream) => stream.textStream()[Symbol.asyncIterator](),
  };
  it.each(Object.keys(interrupt).flatMap((how) => Object.keys(iterate).map((what) => [how, what] as const)))(
    'throws the reason when %s while %s waits for the next one',
    async (how, what) => {
      const controller = new AbortController();
      harness.mock.behave('model-a', { kind: 'stream', steps: [{ text: 'Wait' }, 'hang'] });
      const stream = gateway.prompts.stream(slug, {}, { signal: controller.signal });
      const iterator = iterate[what]?.(stream);
      if (iterator === undefined) throw new Error('no iterator');
      for (let count = what === 'events' ? 2 : 1; count > 0; count -= 1) await iterator.next();
      const rest = failureOf(iterator.next());
      const request = await harness.received(1);
      await setImmediate();
      await interrupt[how]?.(stream, { controller, iterator });
      const expected = how === 'its signal is aborted' ? reason : { name: 'AbortError' };
      expect(await rest).toMatchObject(expected);
      expect(await failureOf(stream.final())).toBe(await rest);
      await request.ended;
      expect(request.aborted).toBe(true);
    },
  );

  it('throws the reason of a signal with a time limit, before and after its first event', async () => {
    const late = { name: 'TimeoutError', code: DOMException.TIMEOUT_ERR };
    for (const model of ['mock-stall', 'mock-quiet']) {
      const { error } = await readAll(gateway.prompts.stream(slug, { model }, { signal: AbortSignal.timeout(100) }));
      expect(error).toMatchObject(late);
      expect(error).toBeInstanceOf(DOMException);
    }
  });

  it('is completed for a repetition if it has a key', async () => {
    const options = { idempotencyKey: 'stream-of-the-client' };
    for await (const { type } of gateway.prompts.stream(slug, {}, options)) if (type === 'start') break;
    const again = createImpatientGateway(
      { baseUrl: harness.service.url, apiKey: harness.service.adminKey, maxRetries: 100_000 },
      { sleep: () => setImmediate() },
    );
    expect(await again.prompts.stream(slug, {}, options).text()).toBe('Hello from model-a.');
    // One of an earlier test that was given up can arrive late.
    const sent = harness.mock.requests.filter(({ body }) => body['model'] === 'model-a');
    expect(sent.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const start = event({ type: 'start', provider: 'mock', model: 'model-a', cached: false });
const hello = event({ type: 'text', delta: 'Hello' });
const finish = event({
  type: 'finish',
  finishReason: 'stop',
  usage: { inputTokens: 1, outputTokens: 1 },
  latency_ms: 5,
});
const whole = start + hello + finish;
const failed = (name: string, members: object = {}): string => {
  const details = { type: problem(name), title: 'T', detail: 'Why.', instance: '/x', request_id: 'r', ...members };
  return event({ type: 'error', problem: details, usage: { inputTokens: 3, outputTokens: 2 } });
};
const providerFailed = failed('provider-failed', { status: 502, retryable: true, attempts: [{ provider: 'mock' }] });
const types = async (stream: InvocationStream): Promise<unknown[]> => {
  const { events, error } = await readAll(stream);
  return [...events.map(({ type }) => String(type)), ...(error === undefined ? [] : [error])];
};

describe('retries of a stream', () => {
  let server: Receiver;
  beforeAll(async () => {
    server = await startReceiver();
  });
  afterAll(async () => {
    await server.close();
  });
  afterEach(() => {
    server.forget();
  });
  const connect = (options: Partial<GatewayOptions> = {}): ImpatientGateway =>
    createImpatientGateway({ baseUrl: `http://127.0.0.1:${server.port}`, apiKey, ...options });
  const stream = (body: string): Reaction => ({
    kind: 'answer',
    body,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  });
  const refuse = (status: number, name: string): Reaction => ({
    kind: 'answer',
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: JSON.stringify({ type: problem(name), title: 'T', status, detail: 'Why.', request_id: 'r' }),
  });
  const cut: Reaction = { kind: 'cut' };
  const keyed = { idempotencyKey: 'mine' };

  it('are made before the first event if nothing was done', async () => {
    server.next(refuse(503, 'overloaded'), refuse(429, 'rate-limited'), stream(whole));
    expect(await connect().prompts.stream('greeter', { variables: {} }).text()).toBe('Hello');
    expect(server.requests).toHaveLength(3);
    expect(JSON.parse(server.requests[2]?.body.toString() ?? '')).toEqual({ variables: {}, stream: true });
    expect(server.requests[2]?.headers).not.toHaveProperty('idempotency-key');
  });

  it.each<[string, Reaction, unknown]>([
    ['a cut connection', cut, ConnectionError],
    ['an unknown outcome', refuse(503, 'database-unavailable'), ServiceError],
    ['a failure after the status', stream(providerFailed), ProviderError],
    ['a stop of the service after the status', stream(failed('shutting-down', { status: 503 })), ServiceError],
    ['a stream without events', stream(': keep-alive\n\n'), ConnectionError],
  ])('are made after %s only with a key', async (_, reaction, type) => {
    server.always(reaction);
    const error = await failureOf(connect().prompts.stream('greeter').text());
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ attempts: 1, mayHaveBeenApplied: true, idempotencyKey: undefined });
    expect(server.requests).toHaveLength(1);
    server.next(reaction, reaction, stream(whole));
    expect(await connect().prompts.stream('greeter', {}, keyed).text()).toBe('Hello');
    expect(server.requests.slice(1).map(({ headers }) => headers['idempotency-key'])).toEqual(['mine', 'mine', 'mine']);
  });

  it.each<[string, string, unknown]>([
    ['a failure', start + hello + providerFailed, ProviderError],
    ['a stop of the service', start + hello + failed('shutting-down', { status: 503 }), ServiceError],
    ['the end of the stream', start + hello, ConnectionError],
    ['the end of the stream within its last event', start + hello + finish.slice(0, -1), ConnectionError],
  ])('are never made after %s that follows an event', async (_, body, type) => {
    server.always(stream(body));
    const [first, second, error] = await types(connect().prompts.stream('greeter', {}, keyed));
    expect([first, second]).toEqual(['start', 'text']);
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ attempts: 1, mayHaveBeenApplied: true, idempotencyKey: 'mine' });
    expect(server.requests).toHaveLength(1);
  });

  it('have the failures of a stream with tokens and attempts', async () => {
    server.always(stream(start + providerFailed));
    const { error } = await readAll(connect().prompts.stream('greeter'));
    expect(error).toMatchObject({
      problem: { usage: { inputTokens: 3, outputTokens: 2 }, attempts: [{ provider: 'mock' }], retryable: true },
    });
  });

  it('use the connections of the streams before', async () => {
    const before = server.connections;
    server.always(stream(whole));
    const gateway = new PromptGateway({ baseUrl: `http://127.0.0.1:${server.port}`, apiKey });
    for (let count = 0; count < 5; count += 1) expect(await gateway.prompts.stream('greeter').text()).toBe('Hello');
    expect(server.connections - before).toBeLessThan(5);
  });
});

describe('a connection that is cut in a stream', () => {
  it('is a ConnectionError', async () => {
    const server = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(start + hello, () => request.socket.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { error } = await readAll(new PromptGateway({ baseUrl, apiKey }).prompts.stream('greeter'));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ mayHaveBeenApplied: true, cause: expect.any(Error) });
    server.close();
  });
});

describe('the body of a stream', () => {
  /** A gateway whose answers have these bodies. */
  const answering = (
    body: () => string | ReadableStream<Uint8Array>,
    headers = { 'content-type': 'text/event-stream' },
  ): ImpatientGateway =>
    createImpatientGateway({
      baseUrl: 'http://gateway.test',
      apiKey,
      maxRetries: 0,
      fetch: () => Promise.resolve(new Response(body(), { headers })),
    });
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  it('is read as fast as the events are taken', async () => {
    let pulls = 0;
    let isCanceled = false;
    const source = {
      pull(controller: ReadableStreamDefaultController<Uint8Array>) {
        pulls += 1;
        controller.enqueue(bytes(pulls === 1 ? start : hello));
      },
      cancel() {
        isCanceled = true;
      },
    };
    const gateway = answering(() => new ReadableStream(source, { highWaterMark: 0 }));
    const stream = gateway.prompts.stream('greeter');
    await setImmediate();
    expect(pulls).toBe(0);
    const events = stream[Symbol.asyncIterator]();
    for (let count = 1; count <= 5; count += 1) {
      await events.next();
      await setImmediate();
      expect(pulls).toBe(count);
    }
    await events.return?.();
    expect(isCanceled).toBe(true);
  });

  it('is canceled when the signal is aborted, while nobody reads', async () => {
    let isCanceled = false;
    const source = {
      pull(controller: ReadableStreamDefaultController<Uint8Array>) {
        controller.enqueue(bytes(start + hello));
      },
      cancel() {
        isCanceled = true;
      },
    };
    const gateway = answering(() => new ReadableStream(source, { highWaterMark: 0 }));
    const controller = new AbortController();
    const stream = gateway.prompts.stream('greeter', {}, { signal: controller.signal });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    controller.abort(new Error('the user left'));
    expect(isCanceled).toBe(true);
    // What has already arrived is not given out any more.
    await expect(events.next()).rejects.toThrow('the user left');
  });

  describe('with a clock of the test', () => {
    beforeAll(() => {
      mock.timers.enable({ apis: ['setTimeout'] });
    });
    afterAll(() => {
      mock.timers.reset();
    });
    const pass = async (ms: number): Promise<void> => {
      await setImmediate();
      mock.timers.tick(ms);
      await setImmediate();
    };

    it('ends with a TimeoutError if nothing arrives for 30 s while it is read; comments are enough', async () => {
      const body = new TransformStream<Uint8Array, Uint8Array>();
      const writer = body.writable.getWriter();
      const events = answering(() => body.readable)
        .prompts.stream('greeter')
        [Symbol.asyncIterator]();
      const first = events.next();
      for (let beat = 0; beat < 5; beat += 1) {
        await pass(29_000);
        await writer.write(bytes(': keep-alive\n\n'));
      }
      await writer.write(bytes(start));
      expect((await first).value).toMatchObject({ type: 'start' });
      // The reader takes its time.
      await pass(600_000);
      const second = events.next();
      await pass(29_000);
      await writer.write(bytes(hello));
      expect((await second).value).toEqual({ type: 'text', delta: 'Hello' });
      const third = failureOf(events.next() as Promise<unknown>);
      await pass(30_000);
      expect(await third).toBeInstanceOf(TimeoutError);
      expect(await third).toMatchObject({ message: 'prompts.stream: the stream was silent for 30000 ms.' });
    });
  });

  it('ends with a TimeoutError after the limit of the call, or that of the client', async () => {
    const gateway = answering(() => new ReadableStream({}));
    const ofCall = gateway.prompts.stream('greeter', {}, { idleTimeout: 20 });
    expect(await failureOf(ofCall.text())).toBeInstanceOf(TimeoutError);
    const never = (): Promise<Response> => new Promise(() => undefined);
    const late = createImpatientGateway({ baseUrl: 'http://gateway.test', apiKey, fetch: never, maxRetries: 0 });
    const error = await failureOf(late.prompts.stream('greeter', {}, { timeout: 20 }).text());
    expect(error).toMatchObject({ name: 'TimeoutError', message: 'prompts.stream: no answer within 20 ms.' });
  });

  it('can have events of later types', async () => {
    const later = event({ type: 'reasoning', delta: 'Hm.' });
    const stream = answering(() => start + later + hello + finish).prompts.stream('greeter');
    expect(await types(stream)).toEqual(['start', 'reasoning', 'text', 'finish']);
    expect(await stream.text()).toBe('Hello');
  });

  it.each<[string, string, string | undefined]>([
    ['a page', '<h1>Proxy</h1>', 'text/html'],
    ['a whole answer', '{"text":"Hello"}', 'application/json'],
    ['data that is not JSON', 'data: {\n\n', undefined],
    ['data that is not an event', 'data: null\n\n', undefined],
    ['a failure of something else', event({ type: 'error', problem: { type: 'about:blank' } }), undefined],
    ['a line that never ends', 'x'.repeat(2 ** 25 + 1), undefined],
  ])('is an UnexpectedAnswerError if it is %s', async (_, body, type = 'text/event-stream') => {
    const error = await failureOf(
      answering(() => body, { 'content-type': type })
        .prompts.stream('greeter')
        .text(),
    );
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(error).toMatchObject({ status: 200, attempts: 1, mayHaveBeenApplied: true });
  });

  it('does not show the key in errors', async () => {
    const error = await failureOf(
      answering(() => `data: Bearer ${apiKey}\n\n`)
        .prompts.stream('greeter')
        .text(),
    );
    expect(error).toMatchObject({ text: 'Bearer ********' });
  });
});

describe('a stream', () => {
  it('sends nothing before it is read, or when it was canceled before', async () => {
    let calls = 0;
    const fetch = (): Promise<Response> => {
      calls += 1;
      return Promise.reject(new Error('offline'));
    };
    const gateway = new PromptGateway({ baseUrl: 'http://gateway.test', apiKey, fetch, maxRetries: 0 });
    const stream = gateway.prompts.stream('greeter');
    await stream.cancel();
    expect(await failureOf(stream.text())).toMatchObject({ name: 'AbortError' });
    await using unread = gateway.prompts.stream('greeter');
    await setImmediate();
    expect([calls, typeof unread]).toEqual([0, 'object']);
  });

  it('is read once', async () => {
    const fetch = (): Promise<Response> =>
      Promise.resolve(new Response(whole, { headers: { 'content-type': 'text/event-stream' } }));
    const stream = new PromptGateway({ baseUrl: 'http://gateway.test', apiKey, fetch }).prompts.stream('greeter');
    expect(await Promise.all([stream.text(), stream.text()])).toEqual(['Hello', 'Hello']);
    expect(() => stream[Symbol.asyncIterator]()).toThrow('A stream can be read only once.');
  });

  it('reports a failure once, to the reader', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): number => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const fetch = (): Promise<Response> => Promise.reject(new Error('offline'));
    const gateway = new PromptGateway({ baseUrl: 'http://gateway.test', apiKey, fetch, maxRetries: 0 });
    expect((await readAll(gateway.prompts.stream('greeter'))).error).toBeInstanceOf(ConnectionError);
    expect(await failureOf(gateway.prompts.stream('greeter').final())).toBeInstanceOf(ConnectionError);
    await setImmediate();
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});
