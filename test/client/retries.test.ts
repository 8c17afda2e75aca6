import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ConflictError,
  ConnectionError,
  PromptGateway,
  ProviderError,
  RateLimitError,
  ServiceError,
  TimeoutError,
  UnexpectedAnswerError,
  type AttemptEvent,
  type GatewayError,
  type GatewayOptions,
  type RequestEvent,
} from '../../clients/typescript/src/index.ts';
import { problem } from '../support/per-operation.ts';
import { startReceiver, type Reaction, type Receiver } from '../support/receiver.ts';
import { createImpatientGateway, type ImpatientGateway } from './harness.ts';

const apiKey = 'pgw_key-of-the-client_0123456789abcdef';
let server: Receiver;
beforeAll(async () => {
  server = await startReceiver();
});
afterAll(async () => {
  await server.close();
});
afterEach(() => {
  server.forget();
  server.always({ kind: 'answer' });
});

const address = (): string => `http://127.0.0.1:${server.port}`;
const connect = (options: Partial<GatewayOptions> = {}, timing = {}): ImpatientGateway =>
  createImpatientGateway({ baseUrl: address(), apiKey, ...options }, timing);

const answer = (status: number, body: unknown, headers: Record<string, string> = {}): Reaction => ({
  kind: 'answer',
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', 'x-request-id': 'request-1', ...headers },
});
const refuse = (status: number, name: string, headers = {}, members = {}): Reaction =>
  answer(
    status,
    { type: problem(name), title: 'T', status, detail: 'Why.', request_id: 'request-1', ...members },
    headers,
  );
const html = (status: number): Reaction => ({
  kind: 'answer',
  status,
  body: '<h1>Proxy</h1>',
  headers: { 'content-type': 'text/html' },
});
const cut: Reaction = { kind: 'cut' };
const order = answer(200, { id: 'order-1' });

/** The error of a call that is expected to fail. */
async function failure(call: Promise<unknown>): Promise<GatewayError> {
  const settled = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in settled) throw new Error(`the call succeeded: ${inspect(settled.value)}`);
  return settled.error as GatewayError;
}

describe('retries', () => {
  it.each([
    ['a cut connection', cut],
    ['an answer that is cut', { kind: 'cut-body' } as const],
    ['an answer that is not valid HTTP', { kind: 'garbage' } as const],
    ['408', refuse(408, 'request-timeout')],
    ['429', refuse(429, 'rate-limited')],
    ['502 that says retryable', refuse(502, 'provider-failed', {}, { retryable: true })],
    ['502 of a proxy', html(502)],
    ['503', refuse(503, 'database-unavailable')],
    ['503 of a proxy', html(503)],
    ['504 of a proxy', html(504)],
  ])('follow %s, two at most', async (_, reaction) => {
    const gateway = connect();
    server.next(reaction, reaction, order);
    expect(await gateway.orders.get('order-1')).toEqual({ id: 'order-1' });
    expect(server.requests).toHaveLength(3);
    expect(gateway.pauses).toEqual([500, 1_000]);

    server.forget();
    server.always(reaction);
    const error = await failure(gateway.orders.get('order-1'));
    expect(error).toMatchObject({ attempts: 3, operation: 'orders.get', mayHaveBeenApplied: false });
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    ['400', refuse(400, 'invalid-request')],
    ['404', refuse(404, 'order-not-found')],
    ['409 of another type', refuse(409, 'order-not-open')],
    ['500', refuse(500, 'internal-error')],
    ['500 of a proxy', html(500)],
    ['502 that is not retryable', refuse(502, 'provider-failed', {}, { retryable: false })],
    [
      '502 that may be billed',
      refuse(
        502,
        'provider-timeout',
        {},
        { retryable: true, attempts: [{ may_be_billed: false }, { may_be_billed: true }] },
      ),
    ],
    [
      '502 that should not be retried',
      refuse(502, 'provider-failed', { 'x-should-retry': 'false' }, { retryable: true }),
    ],
    ['503 that should not be retried', refuse(503, 'overloaded', { 'x-should-retry': 'false' })],
    ['504 not-cached', refuse(504, 'not-cached')],
    ['an answer that is not JSON', html(200)],
  ])('do not follow %s', async (_, reaction) => {
    server.always(reaction);
    expect(await failure(connect().orders.get('order-1'))).toMatchObject({ attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });

  it('are as many as the options allow', async () => {
    server.always(cut);
    await failure(connect({ maxRetries: 4 }).orders.get('order-1'));
    expect(server.requests).toHaveLength(5);
    await failure(connect({ maxRetries: 4 }).orders.get('order-1', { maxRetries: 0 }));
    expect(server.requests).toHaveLength(6);
  });

  it('repeat a POST with its idempotency key, which is different in each call', async () => {
    const gateway = connect();
    server.next(cut, refuse(503, 'database-unavailable'), order, order);
    await gateway.orders.create({ location_id: 'l', items: [] });
    await gateway.orders.create({ location_id: 'l', items: [] });
    await gateway.orders.create({ location_id: 'l', items: [] }, { idempotencyKey: 'mine' }).catch(() => undefined);
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([keys[0], keys[0], keys[0], expect.stringMatching(/^[0-9a-f]{32}$/), 'mine']);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it('repeat a POST without a key if the contract calls it repeatable', async () => {
    server.next(cut, order);
    await connect().orders.complete('order-1', { ifMatch: '"e"' });
    expect(server.requests.map(({ headers }) => [headers['idempotency-key'], headers['if-match']])).toEqual([
      [undefined, '"e"'],
      [undefined, '"e"'],
    ]);
  });

  const once = {
    'a POST without a key': (gateway: ImpatientGateway) => gateway.apiKeys.create({ name: 'n', scopes: [] }),
    'a call without its key': (gateway: ImpatientGateway) =>
      gateway.orders.create({ location_id: 'l', items: [] }, { idempotencyKey: null }),
  };
  describe.each(Object.entries(once))('%s', (_, call) => {
    it.each([
      ['a cut connection', cut, ConnectionError],
      ['an outcome that the service does not know', refuse(503, 'database-unavailable'), ServiceError],
      ['429 of a proxy', html(429), UnexpectedAnswerError],
    ])('is not repeated after %s', async (_name, reaction, type) => {
      server.always(reaction);
      const error = await failure(call(connect()));
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ attempts: 1, mayHaveBeenApplied: true, idempotencyKey: undefined });
      expect(server.requests).toHaveLength(1);
      expect(server.requests[0]?.headers).not.toHaveProperty('idempotency-key');
    });

    it.each([
      ['rate-limited', 429],
      ['too-much-in-progress', 429],
      ['overloaded', 503],
      ['shutting-down', 503],
      ['request-timeout', 408],
    ])('is repeated after %s, because nothing was done', async (name, status) => {
      server.next(refuse(status, name), answer(201, { id: 'k' }));
      expect(await call(connect())).toEqual({ id: 'k' });
      server.always(refuse(status, name));
      expect(await failure(call(connect()))).toMatchObject({ attempts: 3, mayHaveBeenApplied: false });
    });
  });

  it('the error says that an earlier attempt may have been applied', async () => {
    server.next(cut, refuse(404, 'integration-not-found'));
    expect(await failure(connect().integrations.delete('i'))).toMatchObject({ attempts: 2, mayHaveBeenApplied: true });
    server.next(refuse(404, 'integration-not-found'));
    expect(await failure(connect().integrations.delete('i'))).toMatchObject({ attempts: 1, mayHaveBeenApplied: false });
  });
});

describe('an attempt that is in progress', () => {
  const inUse = refuse(409, 'idempotency-key-in-use', { 'retry-after': '1' });
  const newOrder = { location_id: 'l', items: [] };
  /** A gateway whose clock only its pauses move. */
  const connectWithClock = (options: Partial<GatewayOptions>): ImpatientGateway & { readonly pauses: number[] } => {
    let now = 0;
    const pauses: number[] = [];
    const sleep = async (ms: number): Promise<void> => {
      pauses.push(ms);
      now += ms;
      await Promise.resolve();
    };
    return { ...connect(options, { monotonic: () => now, sleep }), pauses };
  };

  it('is waited for, as long as the call can take', async () => {
    server.next(cut, inUse, inUse, inUse, inUse, inUse, order);
    const gateway = connectWithClock({});
    expect(await gateway.orders.create(newOrder)).toEqual({ id: 'order-1' });
    expect(gateway.pauses).toEqual([500, 1_000, 1_000, 1_000, 1_000, 1_000]);
    expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  it('ends the call with a TimeoutError after the time of the call', async () => {
    server.next(cut);
    server.always(inUse);
    const gateway = connectWithClock({ totalTimeout: 4_000 });
    const error = await failure(gateway.orders.create(newOrder));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      attempts: 5,
      mayHaveBeenApplied: true,
      idempotencyKey: expect.any(String),
      cause: expect.any(ConflictError),
      message: 'orders.create: no answer within 4000 ms. An attempt of the call is still in progress.',
    });
    expect(gateway.pauses).toEqual([500, 1_000, 1_000, 1_000]);
  });

  it('of another call with the key is waited for too, and then a conflict', async () => {
    server.always(inUse);
    const gateway = connectWithClock({ totalTimeout: 3_000 });
    const error = await failure(gateway.orders.create(newOrder, { idempotencyKey: 'mine' }));
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ attempts: 3, mayHaveBeenApplied: false });
  });

  it('is not waited for without retries', async () => {
    server.always(inUse);
    const call = connect().orders.create(newOrder, { idempotencyKey: 'mine', maxRetries: 0 });
    expect(await failure(call)).toBeInstanceOf(ConflictError);
    expect(server.requests).toHaveLength(1);
  });
});

describe('the key of an invocation', () => {
  const keysOf = (): unknown[] => server.requests.map(({ headers }) => headers['idempotency-key']);
  const { signal } = new AbortController();

  it('is new in each call, and kept in its retries', async () => {
    server.next(cut, answer(200, { text: 'Hello' }));
    expect(await connect().prompts.invoke('greeter')).toEqual({ text: 'Hello' });
    expect(keysOf()).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keysOf()[0]]);
  });

  it('is not sent in a call with a signal, which is then not repeated', async () => {
    server.next(cut);
    const error = await failure(connect().prompts.invoke('greeter', {}, { signal }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ attempts: 1, mayHaveBeenApplied: true, idempotencyKey: undefined });
    expect(keysOf()).toEqual([undefined]);
  });

  it('is that of the caller, also with a signal', async () => {
    server.next(cut, answer(200, { text: 'Hello' }));
    await connect().prompts.invoke('greeter', {}, { signal, idempotencyKey: 'mine' });
    expect(keysOf()).toEqual(['mine', 'mine']);
  });

  it('is new in other calls with a signal, because the service does not stop them', async () => {
    server.always(order);
    await connect().orders.create({ location_id: 'l', items: [] }, { signal });
    expect(keysOf()).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });
});

describe('Retry-After', () => {
  it.each([
    ['seconds', { 'retry-after': '7' }, 7_000],
    [
      'a date, compared with the clock of the server',
      { date: 'Sun, 06 Nov 1994 08:49:37 GMT', 'retry-after': 'Sun, 06 Nov 1994 08:50:07 GMT' },
      30_000,
    ],
    [
      'a date in the past',
      { date: 'Sun, 06 Nov 1994 08:49:37 GMT', 'retry-after': 'Sun, 06 Nov 1994 08:49:07 GMT' },
      0,
    ],
    ['something else', { 'retry-after': 'soon' }, 500],
  ])('of %s', async (_, headers, pause) => {
    const gateway = connect();
    server.next(refuse(429, 'rate-limited', headers), order);
    await gateway.orders.get('order-1');
    expect(gateway.pauses).toEqual([pause]);
  });

  it('is the shortest pause of the client, which adds a random part', async () => {
    const gateway = connect({}, { random: () => 1 });
    server.next(refuse(429, 'rate-limited', { 'retry-after': '7' }), refuse(503, 'overloaded'), order);
    await gateway.orders.get('order-1');
    expect(gateway.pauses).toEqual([7_700, 500]);
  });

  it('ends the call if it asks for more time than the call has left', async () => {
    server.always(refuse(429, 'rate-limited', { 'retry-after': '60' }));
    const gateway = connect({ totalTimeout: 60_000 });
    expect(await failure(gateway.orders.get('order-1'))).toBeInstanceOf(RateLimitError);
    expect([gateway.pauses, server.requests.length]).toEqual([[], 1]);
  });

  it('pauses the client in real time', async () => {
    server.next(refuse(429, 'rate-limited', { 'retry-after': '1' }), order);
    await new PromptGateway({ baseUrl: address(), apiKey }).orders.get('order-1');
    const [first, second] = server.requests.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(990);
  });
});

describe('time limits', () => {
  // These tests have a server of their own, because canceled requests can still arrive there.
  let slow: Receiver;
  beforeAll(async () => {
    slow = await startReceiver();
  });
  afterAll(async () => {
    await slow.close();
  });
  const connectSlowly = (options: Partial<GatewayOptions>): ImpatientGateway =>
    connect({ baseUrl: `http://127.0.0.1:${slow.port}`, ...options });

  it.each(['hang', 'trickle-head', 'trickle-body'] as const)('end attempts at a server that does %s', async (kind) => {
    slow.always({ kind });
    const error = await failure(connectSlowly({ timeout: 50 }).orders.get('order-1'));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ attempts: 3, message: 'orders.get: no answer within 50 ms.' });
  });

  it('end the whole call', async () => {
    slow.always({ kind: 'hang' });
    const error = await failure(connectSlowly({ totalTimeout: 50, maxRetries: 9 }).orders.get('order-1'));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ attempts: 1 });
  });

  it('of a call override those of the client', async () => {
    slow.always({ kind: 'hang' });
    const error = await failure(connectSlowly({ timeout: 3_600_000 }).orders.get('order-1', { timeout: 50 }));
    expect(error).toBeInstanceOf(TimeoutError);
  });

  it('leave it open whether a POST was applied', async () => {
    slow.always({ kind: 'hang' });
    const error = await failure(connectSlowly({ timeout: 50 }).apiKeys.create({ name: 'n', scopes: [] }));
    expect(error).toMatchObject({ name: 'TimeoutError', attempts: 1, mayHaveBeenApplied: true });
  });

  it('apply even if fetch ignores its signal', async () => {
    const fetch = (): Promise<Response> => new Promise(() => undefined);
    const gateway = connect({ fetch, maxRetries: 0, timeout: 20 });
    expect(await failure(gateway.orders.get('order-1'))).toBeInstanceOf(TimeoutError);
  });

  it('can be longer than the longest timer', async () => {
    server.next(order);
    const gateway = connect({ timeout: Infinity, totalTimeout: Infinity });
    expect(await gateway.orders.get('order-1')).toEqual({ id: 'order-1' });
  });
});

describe('a signal', () => {
  const reason = new Error('the user left');

  it('cancels the call before it is sent', async () => {
    expect(await failure(connect().orders.get('order-1', { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  it('cancels an attempt', async () => {
    server.always({ kind: 'hang' });
    const controller = new AbortController();
    const call = failure(connect().orders.get('order-1', { signal: controller.signal }));
    await server.received(1);
    controller.abort(reason);
    expect(await call).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  it('cancels a pause', async () => {
    server.always(refuse(429, 'rate-limited', { 'retry-after': '100' }));
    const controller = new AbortController();
    const hooks = { onAttempt: () => setTimeout(() => controller.abort(reason)) };
    const gateway = new PromptGateway({ baseUrl: address(), apiKey, hooks });
    expect(await failure(gateway.orders.get('order-1', { signal: controller.signal }))).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  it('has no listeners after the call', async () => {
    const { signal } = new AbortController();
    const listening = new Set<unknown>();
    signal.addEventListener = (_: string, listener: unknown) => listening.add(listener);
    signal.removeEventListener = (_: string, listener: unknown) => listening.delete(listener);
    server.next(cut, order);
    await connect().orders.get('order-1', { signal });
    expect(listening.size).toBe(0);
  });
});

describe('answers that do not come from the service', () => {
  let other: Receiver;
  beforeAll(async () => {
    other = await startReceiver();
  });
  afterAll(async () => {
    await other.close();
  });

  it.each([
    ['a page that is not found', html(404), { status: 404, text: '<h1>Proxy</h1>', problem: undefined }],
    ['an error page', html(500), { status: 500, text: '<h1>Proxy</h1>' }],
    ['a page instead of JSON', html(200), { status: 200, text: '<h1>Proxy</h1>' }],
    ['an empty body instead of JSON', { kind: 'answer', status: 200 } as const, { status: 200, text: '' }],
    ['JSON of a proxy', answer(401, { error: 'no session' }), { status: 401, text: '{"error":"no session"}' }],
    ['error details of a proxy', answer(403, { type: 'about:blank', title: 'Forbidden' }), { status: 403 }],
  ])('are an UnexpectedAnswerError: %s', async (_, reaction, members) => {
    server.always(reaction);
    const error = await failure(connect().orders.get('order-1'));
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(error).toMatchObject(members);
    expect(error.message).toMatch(/^orders\.get: the answer \(status \d{3}\) of [^<{]+$/);
    expect(error.message).toContain(` of ${address()}/v1/orders/order-1 is `);
  });

  it('are an UnexpectedAnswerError: a page instead of text', async () => {
    server.always(html(200));
    expect(await failure(connect().service.getMetrics())).toBeInstanceOf(UnexpectedAnswerError);
  });

  it('are named with the URL, and not with its query', async () => {
    server.always(html(200));
    const { message } = await failure(connect().orders.list({ status: 'open' }));
    const end = 'is text/html, not what the service answers. Does baseUrl lead to the service?';
    expect(message).toBe(`orders.list: the answer (status 200) of ${address()}/v1/orders ${end}`);
  });

  it('are a ConnectionError with the address if there is none', async () => {
    const { port } = other;
    await other.close();
    const error = await failure(
      connect({ baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 }).orders.list({ limit: 5 }),
    );
    expect(error).toBeInstanceOf(ConnectionError);
    const reason = 'the connection failed (ECONNREFUSED).';
    expect(error.message).toBe(`orders.list: no answer from http://127.0.0.1:${port}/v1/orders, ${reason}`);
    other = await startReceiver();
  });

  it('do not send the key to another server', async () => {
    server.always({ kind: 'answer', status: 307, headers: { location: other.url } });
    const error = await failure(connect().orders.get('order-1'));
    const { response } = await new PromptGateway({ baseUrl: address(), apiKey }).raw.GET('/health/live');
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect([error.message, response.status]).toEqual([expect.stringContaining('redirect'), 307]);
    expect(other.requests).toHaveLength(0);
  });
});

describe('the request', () => {
  it('goes to a base URL with a path, with or without a slash at its end', async () => {
    server.always(order);
    await connect({ baseUrl: `${address()}/gateway//` }).orders.get('order-1');
    await connect({ baseUrl: `${address()}/gateway` }).orders.list({ status: 'open', limit: 5 });
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/gateway/v1/orders/order-1',
      '/gateway/v1/orders?status=open&limit=5',
    ]);
  });

  it('has the key, the headers of the client and those of the call', async () => {
    server.always(order);
    const gateway = connect({ headers: { 'x-proxy': 'p' } });
    await gateway.prompts.invoke('greeter', { variables: {} }, { headers: { 'X-Timeout-Ms': 5_000, 'x-mine': 'm' } });
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^prompt-gateway-client\/\d/),
        'x-mine': 'm',
        'x-proxy': 'p',
        'x-timeout-ms': '5000',
      },
    });
    expect(JSON.parse(server.requests[0]?.body.toString() ?? '')).toEqual({ variables: {} });
  });

  it('has no key if none is set', async () => {
    server.always(order);
    await connect({ apiKey: null }).service.getInfo();
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each(['', '.', '..', undefined, {}])('is not sent to another path when a parameter is %p', async (value) => {
    expect(() => connect().orders.cancel(value as string)).toThrow(/^orders\.cancel: id must be/);
    expect(server.requests).toHaveLength(0);
  });

  it('escapes parameters', async () => {
    server.always(order);
    await connect().prompts.get('../a/b?c#d%2e');
    expect(server.requests[0]?.path).toBe('/api/v1/prompts/..%2Fa%2Fb%3Fc%23d%252e');
  });

  it('uses the injected fetch', async () => {
    const seen: unknown[] = [];
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      seen.push([url, init.method, init.body, init.redirect]);
      return await Promise.resolve(Response.json({ id: 'order-1' }));
    };
    await connect({ baseUrl: 'https://gateway.test', fetch }).orders.create({ location_id: 'l', items: [] });
    expect(seen).toEqual([['https://gateway.test/v1/orders', 'POST', '{"location_id":"l","items":[]}', 'manual']]);
  });
});

describe('options', () => {
  it.each(['', 'gateway', '/gateway', 'ftp://h', 'http://user:secret@h', 'http://h?a=1', 'http://h#a'])(
    'refuses the base URL %p',
    (baseUrl) => {
      expect(() => connect({ baseUrl })).toThrow('baseUrl must be');
    },
  );

  it('in a page, accepts a path as the base URL and uses the session cookie instead of a key', async () => {
    const location = Object.getOwnPropertyDescriptor(globalThis, 'location');
    Object.defineProperty(globalThis, 'location', { value: { href: `${address()}/dashboard/` }, configurable: true });
    try {
      server.next(order);
      await connect({ baseUrl: '/', apiKey: null }).orders.get('order-1');
      expect(server.requests[0]).toMatchObject({ path: '/v1/orders/order-1' });
    } finally {
      if (location === undefined) Reflect.deleteProperty(globalThis, 'location');
      else Object.defineProperty(globalThis, 'location', location);
    }
  });

  it.each([undefined, '', 'two\nlines', 'späce'])('refuses the key %p and does not repeat it in the error', (key) => {
    expect(() => connect({ apiKey: key as string })).toThrow('apiKey must be an API key, or null to send none.');
  });

  it('in a page, refuses a key unless the caller allows it', () => {
    const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
    Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Mozilla/5.0' }, configurable: true });
    try {
      expect(() => connect()).toThrow(/^An API key in a page can be read by everybody/);
      expect(() => connect({ dangerouslyAllowBrowser: true })).not.toThrow();
      expect(() => connect({ apiKey: null })).not.toThrow();
    } finally {
      Object.defineProperty(globalThis, 'navigator', navigator ?? {});
    }
  });
});

describe('the key', () => {
  it('does not appear in errors, in the log or in the client', async () => {
    const events: unknown[] = [];
    const hooks = {
      onRequest: (event: unknown) => events.push(event),
      onAttempt: (event: unknown) => events.push(event),
    };
    const gateway = new PromptGateway({ baseUrl: address(), apiKey, hooks, maxRetries: 0 });
    const echo: Reaction = { kind: 'answer', status: 502, body: `You sent Authorization: Bearer ${apiKey}` };
    const errors: unknown[] = [];
    for (const reaction of [cut, echo, html(200), refuse(401, 'unauthenticated')]) {
      server.next(reaction);
      errors.push(await failure(gateway.orders.get('order-1')));
    }
    const never = (): Promise<Response> => new Promise(() => undefined);
    const hanging = connect({ fetch: never, hooks, maxRetries: 0, timeout: 20 });
    errors.push(await failure(hanging.orders.get('order-1')));
    const deep = { depth: Infinity, showHidden: true };
    const seen = [gateway, gateway.raw, hanging, errors, events].map(
      (value) => inspect(value, deep) + JSON.stringify(value),
    );
    expect(seen.join('\n')).toContain('Bearer ********');
    expect(seen.filter((text) => text.includes(apiKey))).toEqual([]);
    expect(events).toHaveLength(10);
  });
});

describe('a failure', () => {
  it('is reported once, to the caller', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): number => unhandled.push(reason);
    process.on('unhandledRejection', note);
    server.always(refuse(404, 'order-not-found'));
    await failure(connect().orders.get('order-1'));
    await failure(connect().orders.get('order-1').withResponse());
    await failure(connect().orders.list().withResponse());
    await failure(connect().orders.list().toArray({ limit: 5 }));
    await failure(connect().orders.list().pages()[Symbol.asyncIterator]().next());
    await setImmediate();
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});

describe('a list', () => {
  /** 250 entries in pages of 60. */
  const all = Array.from({ length: 250 }, (_, index) => ({ id: `order-${index}` }));
  const serveAll = (): void => {
    server.always(({ path }) => {
      const start = Number(new URL(path, address()).searchParams.get('after') ?? 0);
      const next = start + 60 < all.length ? String(start + 60) : null;
      return answer(200, { data: all.slice(start, start + 60), pagination: { next } });
    });
  };

  it('iterates to its end, by entries or by pages', async () => {
    serveAll();
    const walked: unknown[] = [];
    for await (const entry of connect().orders.list({ status: 'open' })) walked.push(entry);
    expect(walked).toEqual(all);
    const paths = server.requests.map(({ path }) => path);
    expect(paths).toEqual(
      ['', 60, 120, 180, 240].map((after) => `/v1/orders?status=open${after === '' ? '' : `&after=${after}`}`),
    );

    const sizes: number[] = [];
    for await (const page of connect().orders.list().pages()) sizes.push(page.data.length);
    expect(sizes).toEqual([60, 60, 60, 60, 10]);
  });

  it('requests only the pages that are read', async () => {
    serveAll();
    expect(await connect().orders.list().toArray({ limit: 60 })).toEqual(all.slice(0, 60));
    expect(server.requests).toHaveLength(1);
    expect(await connect().orders.list().toArray({ limit: 61 })).toEqual(all.slice(0, 61));
    expect(server.requests).toHaveLength(3);
    expect(await connect().orders.list().toArray({ limit: 0 })).toEqual([]);
    await server.received(4);
  });

  it('repeats the request of a page that was lost', async () => {
    serveAll();
    server.next(cut);
    expect(await connect().orders.list().toArray({ limit: 1_000 })).toEqual(all);
    expect(server.requests).toHaveLength(6);
  });

  it('uses its offset for the first page only', async () => {
    serveAll();
    await connect().orders.list({ offset: 5, limit: 60 }).toArray({ limit: 61 });
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v1/orders?limit=60&offset=5',
      '/v1/orders?limit=60&after=60',
    ]);
  });
});

describe('hooks', () => {
  it('get each attempt', async () => {
    const requests: RequestEvent[] = [];
    const attempts: AttemptEvent[] = [];
    const hooks = {
      onRequest: (event: RequestEvent) => requests.push(event),
      onAttempt: (event: AttemptEvent) => attempts.push(event),
    };
    server.next(refuse(502, 'provider-failed', {}, { retryable: true }), cut, answer(200, { text: 'Hello' }));
    await connect({ hooks }).prompts.invoke('greeter');
    const request = {
      operation: 'prompts.invoke',
      method: 'POST',
      url: `${address()}/api/v1/prompts/greeter/invoke`,
    };
    expect(requests).toEqual([1, 2, 3].map((attempt) => ({ ...request, attempt })));
    const durationMs = expect.any(Number);
    expect(attempts).toEqual([
      {
        ...request,
        durationMs,
        attempt: 1,
        status: 502,
        requestId: 'request-1',
        error: expect.any(ProviderError),
        retryInMs: 500,
      },
      { ...request, durationMs, attempt: 2, error: expect.any(ConnectionError), retryInMs: 1_000 },
      { ...request, durationMs, attempt: 3, status: 200, requestId: 'request-1' },
    ]);
  });

  it('do not make the call fail when they throw', async () => {
    const fail = (): void => {
      throw new Error('the log is full');
    };
    server.next(cut, order);
    expect(await connect({ hooks: { onRequest: fail, onAttempt: fail } }).orders.get('order-1')).toEqual({
      id: 'order-1',
    });
  });
});
