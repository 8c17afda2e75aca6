import { afterEach, describe, expect, it } from '@jest/globals';
import type { AttemptEnd, AttemptLog, FailedAttempt } from '../../src/models/language-model.ts';
import { createProviderHttp, TextInPieces, type Fetch, type ProviderHttp } from '../../src/models/transport/http.ts';
import { createAuthority, trust } from '../support/certificates.ts';
import { plain, reach, readable, refused, ways, type Way } from '../support/odd-answers.ts';
import { startRawServer, type RawAnswer, type RawServer, type RawServerOptions } from '../support/raw-server.ts';
import { failure, provider, request, startHarness } from './providers-harness.ts';

const authority = trust(createAuthority('Example authority'));
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A provider that is reached in this way, and a call of it. */
async function providerWith(
  way: Way,
  options: RawServerOptions,
  use: (http: ProviderHttp) => Fetch = (http) => http.fetch,
  changes: { repeatsStale?: boolean } = {},
): Promise<{ server: RawServer; call: () => Promise<Response> }> {
  const { server, origin, lookUp, proxy } = await reach(way, authority, options, closing);
  const http = createProviderHttp({ lookUp, proxy, connections: 1, ...changes });
  closing.push(() => http.close());
  const call = () => use(http)(`${origin}/v1`, { method: 'POST', body: '{"é":1}' });
  return { server, call };
}

const plainly: Way = { scheme: 'http', isProxied: false };

it.each(readable)('reads %s', async (_what, answer, isKept) => {
  const { server, call } = await providerWith(plainly, { answer: (_nth, number) => (number === 1 ? answer : plain) });
  await call();
  const response = await call();
  const [, status] = /^HTTP\/1.\d (2\d\d|304)/m.exec(answer) ?? [];
  expect(response.status).toBe(Number(status));
  expect(await response.text()).toBe(status === '200' ? 'ok' : '');
  if (answer.includes('X-Two')) expect(response.headers.get('x-two')).toBe('a b c');
  await call();
  expect(server.requests).toEqual(isKept ? [0, 0, 0] : [0, 0, 1]);
});

it.each(refused)('refuses %s', async (_what, answer, error) => {
  const { server, call } = await providerWith(plainly, { answer: (_nth, number) => (number === 1 ? answer : plain) });
  await call();
  await expect(call()).rejects.toMatchObject({
    reason: 'unanswered',
    status: undefined,
    ...(error === 'head-too-large' && { cause: { code: 'ANSWER_TOO_LONG' } }),
  });
  expect(await call()).toMatchObject({ status: 200 });
  expect(server.requests).toEqual([0, 0, 1]);
});

describe.each(ways)('by $scheme, through a proxy: $isProxied', (way) => {
  it.each([false, true])('reads a stream after interim answers, byte by byte: %s', async (isSlow) => {
    const stream = `HTTP/1.1 200 OK\nContent-Type: text/event-stream\nTransfer-Encoding: chunked\n\n3\r\nend\r\n0\r\n\r\n`;
    const answer = () => `HTTP/1.1 100 Continue\r\n\r\n${stream}`;
    const { call } = await providerWith(way, { isSlow, answer }, (http) => http.streamFetch);
    const { body } = await call();
    let text = '';
    for await (const piece of body ?? []) text += String(Buffer.from(piece));
    expect(text).toBe('end');
  });

  it.each(['end', 'reset'] as const)('says that an old connection was closed, and opens another: %s', async (then) => {
    const answer = (nth: number): RawAnswer => (nth === 1 ? { then } : plain);
    const { server, call } = await providerWith(way, { answer });
    await call();
    await expect(call()).rejects.toMatchObject({ reason: 'stale' });
    await call();
    expect(server.requests).toEqual([0, 0, 1]);
    const repeating = await providerWith(way, { answer }, undefined, { repeatsStale: true });
    await repeating.call();
    expect(await repeating.call()).toMatchObject({ status: 200 });
    expect(repeating.server.requests).toEqual([0, 0, 1]);
  });
});

it.each([
  ['that is like a head', 'HTTP/1.1 200 OK\r\nX : 1\n\n folded\n'.repeat(200), true],
  ['that is like an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(200), true],
  ['that ends like the begin of a head', `${'\r\n\r\n Hello, HTTP : 1\n\n folded\n'.repeat(200)}HTTP/1.`, true],
  ['that is like a head, of a request that is written at once', 'HTTP/1.1 200 OK\r\nX : 1\n\n folded\n', false],
])(
  'leaves the body of an answer as it is that comes while a long request is sent: one %s',
  async (_what, body, inPieces) => {
    const head = `HTTP/1.1 413 Too Long\r\nContent-Length: ${body.length}\r\n\r\n`;
    const server = await startRawServer({ isSlow: true, isHasty: true, answer: () => head + body });
    closing.push(() => server.close());
    const http = createProviderHttp({ lookUp: () => Promise.reject(new Error()), connections: 1 });
    closing.push(() => http.close());
    const text = 'x'.repeat(30_000_000);
    for (let each = 0; each < 2; each += 1) {
      const sent = inPieces ? (new TextInPieces([text]) as unknown as string) : text;
      const response = await http.fetch(`http://127.0.0.1:${server.port}/`, { method: 'POST', body: sent });
      expect([response.status, await response.text()]).toEqual([413, body]);
    }
  },
);

describe('a call of a model', () => {
  const completion = JSON.stringify({
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'llama' },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello.' } }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  });
  const whole = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${completion.length}\r\n\r\n${completion}`;

  /** A provider that answers so, and what is written down of calls of it. */
  async function modelWith(answer: RawServerOptions['answer']) {
    const server = await startRawServer({ answer });
    closing.push(() => server.close());
    const harness = await startHarness();
    closing.push(() => harness.close());
    const baseUrl = `http://127.0.0.1:${server.port}`;
    const compatible = [{ id: 'local', name: 'Local', baseUrl, apiKey: 'sk-1', models: ['llama'] }];
    // With one connection, the next call does not open another before the first is marked as free.
    const http = createProviderHttp({ lookUp: () => Promise.reject(new Error()), connections: 1 });
    closing.push(() => http.close());
    const registry = harness.with({ fetch: http.fetch, settings: { compatible } });
    const ends: AttemptEnd[] = [];
    const attempts: FailedAttempt[] = [];
    const attemptLog = {
      id: 'i',
      payers: '',
      begin: () => Promise.resolve({ end: (end: AttemptEnd) => void ends.push(end), withdraw: () => undefined }),
    } as unknown as AttemptLog;
    const call = (changes: Parameters<typeof request>[1] = {}) =>
      request('llama', {
        ...{ within: 60_000, attemptLog, onFailedAttempt: (attempt) => attempts.push(attempt) },
        ...changes,
      });
    return { server, registry, ends, attempts, call };
  }

  it('is answered after a 100 that nobody asked for', async () => {
    const { server, registry, ends, call } = await modelWith(() => `HTTP/1.1 100 Continue\r\n\r\n${whole}`);
    for (let each = 0; each < 2; each += 1) await provider(registry, 'local').generate(call());
    expect(ends.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded']);
    expect(server.requests).toEqual([0, 0]);
  });

  it.each(['end', 'reset'] as const)('is repeated once over a new connection: %s', async (then) => {
    const { server, registry, ends, attempts, call } = await modelWith((nth) => (nth === 1 ? { then } : whole));
    await provider(registry, 'local').generate(call());
    // No retries of what may be billed are allowed. Each attempt is written down.
    const { usage } = await provider(registry, 'local').generate(call({ retries: 0 }));
    expect(usage).toMatchObject({ inputTokens: 3 });
    expect(server.requests).toEqual([0, 0, 1]);
    expect(ends.map(({ outcome }) => outcome)).toEqual(['succeeded', 'provider-failed', 'succeeded']);
    expect(attempts).toMatchObject([{ provider_code: 'ECONNRESET', may_be_billed: true }]);
  });

  it('is not repeated again, nor over a connection that had no answer yet, nor after a byte', async () => {
    const twice = await modelWith((_nth, number) => (number === 0 ? whole : { then: 'reset' }));
    await provider(twice.registry, 'local').generate(twice.call());
    expect(await failure(twice.registry, 'local', twice.call())).toMatchObject({ type: 'provider-failed' });
    expect(twice.server.requests).toEqual([0, 0, 1]);
    expect(await failure(twice.registry, 'local', twice.call())).toMatchObject({ type: 'provider-failed' });
    expect(twice.server.requests).toEqual([0, 0, 1, 2]);
    const begun = await modelWith((_nth, number) =>
      number === 0 ? whole : { text: 'HTTP/1.1 102 P\r\n\r\n', then: 'end' },
    );
    await provider(begun.registry, 'local').generate(begun.call());
    expect(await failure(begun.registry, 'local', begun.call())).toMatchObject({ type: 'provider-failed' });
    expect(begun.server.requests).toEqual([0, 0]);
    const late = await modelWith((nth) => (nth === 0 ? whole : { then: 'reset', afterMs: 5_500 }));
    await provider(late.registry, 'local').generate(late.call());
    const billable = late.call({ retries: 0 });
    expect(await failure(late.registry, 'local', billable)).toMatchObject({ type: 'provider-failed' });
    expect(late.server.requests).toEqual([0, 0]);
  });

  it.each([
    ['SSH-2.0-OpenSSH_9.9\r\n', "The provider's answer is not HTTP."],
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n', "The provider's answer is not HTTP."],
    [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(66_000)}\r\n\r\n`, "The headers of the provider's answer are too large."],
  ])('fails with a name: %.60s', async (answer, detail) => {
    const { server, registry, call } = await modelWith(() => answer);
    const problem = await failure(registry, 'local', call());
    expect([problem.type, problem.message]).toEqual(['provider-bad-answer', detail]);
    expect(server.requests).toEqual([0]);
  });
});
