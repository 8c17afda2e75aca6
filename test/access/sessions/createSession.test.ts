import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import { problem } from '../../support/per-operation.ts';
import { startTestService, type Answer, type TestService } from '../../support/service.ts';
import { callWith, cookieOf, path, samePage, signIn } from './sessions-harness.ts';

const clock = createMovableClock();
let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    environment: { TRUSTED_PROXIES: '127.0.0.0/8,::1/128', REFUSED_KEYS_LIMIT: '5/60s' },
    clock,
  });
});
afterAll(() => service.close());

const unknownKey = `pgw_${'0'.repeat(32)}_${'A'.repeat(43)}`;
const twelveHours = 12 * 3_600_000;

describe('201', () => {
  it('returns the key and its scopes in the form of getCurrentApiKey', async () => {
    const key = await service.createKey('orders:read', 'integrations:manage');
    const before = clock.now().getTime();
    const { status, body } = await signIn(service, { api_key: key });
    const end = Date.parse(String(body.expires_at));
    expect(status).toBe(201);
    expect(body.api_key).toEqual((await service.call('GET', '/api/v1/whoami', { key })).body);
    expect(end).toBeGreaterThanOrEqual(before + twelveHours);
    expect(end).toBeLessThanOrEqual(clock.now().getTime() + twelveHours);
  });

  it('signs in with the key that the operator configured', async () => {
    const answer = await signIn(service, { api_key: service.adminKey });
    expect(answer.body.api_key).toMatchObject({ id: 'administrator', administrator: true });
    expect((await callWith(service, cookieOf(answer))).body.id).toBe('administrator');
  });

  it('ends with its key', async () => {
    const expires_at = new Date(clock.now().getTime() + 3_600_000).toISOString();
    const made = await service.call('POST', '/api/v1/api-keys', {
      body: { name: 'short', scopes: ['orders:read'], expires_at },
    });
    const answer = await signIn(service, { api_key: made.body.key as string });
    expect(answer.body.expires_at).toBe(expires_at);
    expect(Number(/Max-Age=(\d+)/.exec(answer.headers['set-cookie'] ?? '')?.[1])).toBeLessThanOrEqual(3_600);
  });

  it('sets a cookie that only this origin gets, and that scripts cannot read', async () => {
    const key = await service.createKey('orders:read');
    const http = await signIn(service, { api_key: key });
    expect(http.headers['set-cookie']).toMatch(
      /^prompt-gateway-session=v1\.[0-9a-f]{16}\.[\w-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const https = await signIn(service, { api_key: key }, { ...samePage, 'x-forwarded-proto': 'https' });
    expect(https.headers['set-cookie']).toMatch(
      /^__Host-prompt-gateway=v1\.[0-9a-f]{16}\.[\w-]+; Path=\/; Max-Age=43200; HttpOnly; Secure; SameSite=Strict$/,
    );
    for (const { headers, text } of [http, https]) {
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['set-cookie'] + text).not.toContain(key.slice(-43));
    }
  });
});

describe('400', () => {
  it.each([
    ['nothing', {}],
    ['both', { api_key: unknownKey, sign_in_token: 'abc' }],
    ['spaces', { api_key: 'two words' }],
  ])('refuses %s', async (_name, body) => {
    const answer = await signIn(service, body);
    expect([answer.status, answer.body.type]).toEqual([400, problem('invalid-request')]);
    expect(answer.text).not.toContain(unknownKey);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe('401', () => {
  it('refuses unknown, revoked and expired keys, and unknown tokens', async () => {
    const revoked = await service.call('POST', '/api/v1/api-keys', { body: { name: 'x', scopes: ['orders:read'] } });
    await service.call('POST', `/api/v1/api-keys/${String(revoked.body.id)}/revoke`);
    const expires_at = new Date(clock.now().getTime() + 60_000).toISOString();
    const expired = await service.call('POST', '/api/v1/api-keys', {
      body: { name: 'y', scopes: ['orders:read'], expires_at },
    });
    clock.advance(60_000);
    const refused = [
      { api_key: unknownKey },
      { api_key: String(revoked.body.key) },
      { api_key: String(expired.body.key) },
      { sign_in_token: 'A'.repeat(43) },
    ];
    for (const body of refused) {
      const answer = await signIn(service, body, { ...samePage, 'x-forwarded-for': '192.0.2.10' });
      expect([answer.status, answer.body.type]).toEqual([401, problem('unauthenticated')]);
      expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(answer.text).not.toContain(Object.values(body)[0]);
    }
  });
});

describe('403', () => {
  const evil = 'https://evil.example';
  it.each<[string, Record<string, string>]>([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another host of the site', { 'sec-fetch-site': 'same-site' }],
    ['of another site, although it claims this origin', { 'sec-fetch-site': 'cross-site', host: 'evil.example' }],
    ['of another origin, in an old browser', { origin: evil }],
    ['of no origin', { origin: 'null' }],
    ['of another port', { origin: 'http://127.0.0.1:1' }],
  ])('refuses a page %s', async (_name, headers) => {
    const answer = await signIn(service, { api_key: service.adminKey }, headers);
    expect([answer.status, answer.body.type]).toEqual([403, problem('cross-origin')]);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('allows pages of this origin, and programs', async () => {
    const sent: Record<string, string>[] = [
      samePage,
      { origin: service.url },
      { referer: `${service.url}/dashboard` },
      {},
    ];
    for (const headers of sent) {
      expect((await signIn(service, { api_key: service.adminKey }, headers)).status).toBe(201);
    }
  });
});

describe('429', () => {
  const from = (address: string, body: object): Promise<Answer> =>
    signIn(service, body, { ...samePage, 'x-forwarded-for': address });

  it.each([
    ['keys', { api_key: unknownKey }],
    ['tokens', { sign_in_token: 'A'.repeat(43) }],
  ])('answers an address that has sent too many wrong %s', async (name, wrong) => {
    const address = name === 'keys' ? '192.0.2.1' : '192.0.2.2';
    for (let sent = 0; sent < 5; sent += 1) expect((await from(address, wrong)).status).toBe(401);
    const limited = await from(address, wrong);
    expect([limited.status, limited.body.type]).toEqual([429, problem('rate-limited')]);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    // Keys in the body and in header fields count together.
    const key = { key: unknownKey, headers: { 'x-forwarded-for': address } };
    expect((await service.call('GET', '/api/v1/whoami', key)).status).toBe(429);
    expect((await from(address, { sign_in_token: 'B'.repeat(43) })).status).toBe(429);
    expect((await from('192.0.2.3', { api_key: service.adminKey })).status).toBe(201);
  });
});

it('413: accepts only small bodies, because it needs no key', async () => {
  const answer = await service.call('POST', path, { key: null, body: { api_key: 'x'.repeat(16 * 1024) } });
  expect([answer.status, answer.body.type]).toEqual([413, problem('content-too-large')]);
});
