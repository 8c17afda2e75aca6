import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthority, createSelfSigned, trust } from '../support/certificates.ts';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { confidential, failure, provider, request, secret, startHarness, type Harness } from './providers-harness.ts';

let harness: Harness;
let elsewhere: Server;
let visitsElsewhere = 0;

beforeAll(async () => {
  elsewhere = createServer((_request, response) => {
    visitsElsewhere += 1;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  harness = await startHarness(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/stolen`);
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
  elsewhere.closeAllConnections();
  elsewhere.close();
});

interface Expected {
  model: string;
  type: string;
  status?: number;
  retryable: boolean;
  /** Limits to try until one lets the request reach the provider; the machine can be busy. */
  within?: readonly number[];
  /** The number of requests that the provider gets. */
  attempts: number;
  headers?: Record<string, string>;
}

const cases: Expected[] = [
  { model: 'mock-401', type: 'provider-refused-credentials', status: 401, retryable: false, attempts: 1 },
  { model: 'mock-403', type: 'provider-refused-credentials', status: 403, retryable: false, attempts: 1 },
  {
    model: 'mock-429-30',
    type: 'provider-rate-limited',
    status: 429,
    retryable: true,
    attempts: 1,
    headers: { 'Retry-After': '30' },
  },
  { model: 'mock-429', type: 'provider-rate-limited', status: 429, retryable: true, attempts: 3, headers: {} },
  { model: 'mock-503', type: 'provider-failed', status: 503, retryable: true, attempts: 3 },
  { model: 'mock-500', type: 'provider-failed', status: 500, retryable: false, attempts: 1 },
  { model: 'mock-501', type: 'provider-failed', status: 501, retryable: false, attempts: 1 },
  { model: 'mock-400', type: 'provider-failed', status: 400, retryable: false, attempts: 1 },
  { model: 'mock-404', type: 'provider-failed', status: 404, retryable: false, attempts: 1 },
  { model: 'mock-redirect', type: 'provider-failed', status: 307, retryable: false, attempts: 1 },
  { model: 'mock-reset', type: 'provider-failed', retryable: false, attempts: 1 },
  { model: 'mock-garbage', type: 'provider-bad-answer', status: 200, retryable: false, attempts: 1 },
  { model: 'mock-partial', type: 'provider-bad-answer', retryable: false, attempts: 1 },
  { model: 'mock-cut', type: 'provider-bad-answer', status: 200, retryable: false, attempts: 1 },
  { model: 'mock-huge', type: 'provider-bad-answer', status: 200, retryable: false, attempts: 1 },
  { model: 'mock-endless', type: 'provider-bad-answer', status: 200, retryable: false, attempts: 1 },
  { model: 'mock-hang', type: 'provider-timeout', retryable: false, within: [150, 1_500, 15_000], attempts: 1 },
  { model: 'mock-stall', type: 'provider-timeout', retryable: false, within: [150, 1_500, 15_000], attempts: 1 },
];

describe.each(['openai', 'anthropic', 'google', 'local'])('%s', (id) => {
  it.each(cases)(
    '$model is $type, without key or prompt',
    async ({ model, type, status, retryable, within, attempts, headers }) => {
      const [limit = 5_000, ...longer] = within ?? [];
      let problem = await failure(harness.registry, id, request(model, { within: limit }));
      for (let next = longer.shift(); harness.mock.requests.length < attempts && next; next = longer.shift()) {
        problem = await failure(harness.registry, id, request(model, { within: next }));
      }

      expect(problem).toMatchObject({ type, status: 502, extensions: { provider: id, model, retryable } });
      if (status !== undefined) expect(problem.extensions.provider_status).toBe(status);
      expect(problem.headers).toEqual(headers ?? {});
      expect(harness.mock.requests).toHaveLength(attempts);
      expect(visitsElsewhere).toBe(0);

      // Everything that a logger could print, with causes and their fields.
      const everything = inspect(problem, { depth: 20, showHidden: true });
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(confidential);
      expect(everything).not.toContain('Keep secrets');
    },
  );

  it('received the key and the prompt that its failures do not show', async () => {
    await provider(harness.registry, id).generate(request('llama'));

    const sent = JSON.stringify(harness.mock.requests);
    expect(sent).toContain(secret);
    expect(sent).toContain(confidential);
  });
});

const authority = trust(createAuthority('Example authority'));

describe('an error code', () => {
  it('is shown if it is known', async () => {
    harness.mock.behave('gpt', { kind: 'status', status: 404, code: 'model_not_found' });
    const problem = await failure(harness.registry, 'openai', request('gpt'));
    expect(problem.message).toBe('The provider answered with an error (status 404, model_not_found).');
  });

  it('is not shown if it is unknown', async () => {
    harness.mock.behave('gpt', { kind: 'status', status: 404, code: secret });
    const problem = await failure(harness.registry, 'openai', request('gpt'));
    expect(problem.message).toBe('The provider answered with an error (status 404).');
  });

  it('identifies a refused key of Google, which has status 400', async () => {
    harness.mock.behave('gemini', { kind: 'status', status: 400, code: 'API_KEY_INVALID' });
    const problem = await failure(harness.registry, 'google', request('gemini'));
    expect(problem).toMatchObject({ type: 'provider-refused-credentials', extensions: { provider_status: 400 } });
  });

  it('identifies an exhausted quota, which a retry cannot change', async () => {
    harness.mock.behave('gpt', { kind: 'status', status: 429, code: 'insufficient_quota' });
    const problem = await failure(harness.registry, 'openai', request('gpt'));
    expect(problem).toMatchObject({ type: 'provider-rate-limited', extensions: { retryable: false } });
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('a provider that cannot be reached', () => {
  it.each([
    ['no server listens', 'http://127.0.0.1:9', true, /^ECONNREFUSED 127\.0\.0\.1:9$/],
    ['the name does not resolve', 'http://provider.invalid', false, /^E\w+ provider\.invalid:80$/],
  ])('is provider-failed with code and address when %s', async (_why, baseUrl, retryable, words) => {
    const registry = harness.with({ settings: { builtIn: { openai: { apiKey: secret, baseUrl } } } });
    const problem = await failure(registry, 'openai', request('gpt', { within: 10_000 }));
    expect(problem.type).toBe('provider-failed');
    const { provider_message: message = '', provider_code: code } = problem.extensions;
    expect(message).toMatch(words);
    expect(message).toContain(`${code} `);
    expect(problem.message).toBe(`The provider could not be reached (${message}).`);
    expect(problem.extensions.provider_status).toBeUndefined();
    // Some resolvers answer "try again" for names that cannot exist.
    if (retryable) expect(problem.extensions.retryable).toBe(true);
  });
});

describe('a provider whose certificate is not trusted', () => {
  it.each([
    ['self-signed', () => createSelfSigned(['127.0.0.1']), 'its certificate is self-signed'],
    ['for other names', () => authority.issue(['a.example']), 'its certificate is for another name: a.example'],
    ['of an unknown authority', () => createAuthority('Unknown').issue(['127.0.0.1']), 'nobody who is trusted'],
  ])('is provider-failed and says that it is %s', async (_what, options, words) => {
    const server = createTlsServer(options()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const registry = harness.with({ settings: { builtIn: { openai: { apiKey: secret, baseUrl } } } });
    const problem = await failure(registry, 'openai', request('gpt', { within: 10_000 }));
    expect(problem.message).toContain(`The provider could not be reached: ${words}`);
    expect(problem).toMatchObject({ type: 'provider-failed', extensions: { retryable: false } });
    server.close();
  });
});

describe('a model name that would change the URL', () => {
  it.each([
    ...['../../v1/files', 'gemini?x=', 'gemini#', '%2e%2e/x', 'a/../b', './x'].map(
      (model) => ['google', model] as const,
    ),
    ['amazon-bedrock', '.'],
    ['amazon-bedrock', '..'],
  ])('of %s is not sent: %s', async (id, model) => {
    const problem = await failure(harness.registry, id, request(model));
    expect(problem).toMatchObject({ type: 'provider-failed', extensions: { retryable: false } });
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('is escaped if the package escapes it', async () => {
    await provider(harness.registry, 'amazon-bedrock').generate(request('../x?y'));
    expect(harness.mock.requests[0]?.path).toBe('/model/..%2Fx%3Fy/converse');
  });
});
