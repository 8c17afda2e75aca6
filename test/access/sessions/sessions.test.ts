import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSecretBox, type Sealed } from '../../../src/base/secrets/secret-box.ts';
import { createMovableClock } from '../../support/clock.ts';
import { problem, startAnother } from '../../support/per-operation.ts';
import { startTestService, type Answer, type TestService } from '../../support/service.ts';
import { createImpatientGateway } from '../../client/harness.ts';
import { callWith, cookieFor, cookieOf, path, samePage, signIn } from './sessions-harness.ts';

const hour = 3_600_000;
const allowedOrigin = 'https://app.example.org';
const encryptionKey = Buffer.alloc(32, 7);
const clock = createMovableClock();
let service: TestService;
/** Another process on the same database. */
let other: TestService;
beforeAll(async () => {
  const environment = {
    SECRETS_KEY: encryptionKey.toString('hex'),
    CORS_ORIGINS: allowedOrigin,
    TRUSTED_PROXIES: '127.0.0.0/8,::1/128',
    REFUSED_KEYS_LIMIT: '5/60s',
    RATE_LIMIT: '100000/3600s',
  };
  service = await startTestService({ environment, clock });
  other = await startAnother(service, environment, { clock });
});
afterAll(async () => {
  await other.close();
  await service.close();
});

/** A new API key with one scope, and a session of it. */
async function open(to = service): Promise<{ key: string; cookie: string }> {
  const key = await service.createKey('prompts:read');
  return { key, cookie: await cookieFor(to, key) };
}

async function makeKey(more: object = {}): Promise<{ id: string; key: string }> {
  const body = { name: 'made', scopes: ['prompts:read', 'keys:manage'], ...more };
  return (await service.call('POST', '/api/v1/api-keys', { body })).body as { id: string; key: string };
}

const whoami = '/api/v1/whoami';
const bare = (headers: Record<string, string>, method = 'GET', target = whoami, body?: unknown): Promise<Answer> =>
  service.call(method, target, { key: null, headers, body });

describe('the page that sends the cookie', () => {
  const own = (): string => service.url;
  const accepted: [string, () => Record<string, string>][] = [
    ['of the same origin', () => samePage],
    ['of the same origin, by Origin in a browser without Sec-Fetch-Site', () => ({ origin: own() })],
    ['of the same origin, by Referer', () => ({ referer: `${own()}/dashboard/prompts?q=a` })],
    [
      'of the same origin, behind a proxy that ends TLS',
      () => ({ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'gw.example', origin: 'https://gw.example' }),
    ],
  ];
  const refused: [string, () => Record<string, string>][] = [
    ['of another site', () => ({ 'sec-fetch-site': 'cross-site' })],
    ['of another host or port of the site', () => ({ 'sec-fetch-site': 'same-site' })],
    ['of no site: an address that was typed in', () => ({ 'sec-fetch-site': 'none' })],
    ['of another site, with the right Origin', () => ({ 'sec-fetch-site': 'cross-site', origin: own() })],
    ['of two sites', () => ({ 'sec-fetch-site': 'same-origin, cross-site' })],
    ['of another origin', () => ({ origin: 'https://evil.example' })],
    ['of another port', () => ({ origin: 'http://127.0.0.1:1' })],
    ['of another protocol', () => ({ origin: own().replace('http:', 'https:') })],
    ['of an opaque origin', () => ({ origin: 'null' })],
    ['of another origin, with the right Referer', () => ({ origin: 'https://evil.example', referer: own() })],
    ['of an origin that begins the same', () => ({ referer: `${own()}.evil.example/` })],
    ['of an origin with this one as the user', () => ({ referer: `${own()}@evil.example/` })],
    ['of an origin that CORS allows', () => ({ origin: allowedOrigin })],
    ['that does not show', () => ({})],
  ];
  const cookieOn = async (headers: Record<string, string>): Promise<string> => {
    const isSecure = headers['x-forwarded-proto'] === 'https';
    return cookieOf(
      await signIn(service, { api_key: service.adminKey }, isSecure ? { ...samePage, ...headers } : samePage),
    );
  };

  it.each(accepted)('is one %s', async (_name, headers) => {
    const fields = headers();
    const answer = await bare({ ...fields, cookie: await cookieOn(fields) });
    expect([answer.status, answer.body.id]).toEqual([200, 'administrator']);
  });

  it.each(refused)('is not one %s', async (_name, headers) => {
    const fields = headers();
    const cookie = await cookieOn(fields);
    const withCookie = await bare({ ...fields, cookie });
    const without = await bare(fields);
    expect([withCookie.status, withCookie.body.type]).toEqual([401, problem('unauthenticated')]);
    expect(withCookie.body.detail).toBe(without.body.detail);
    expect(withCookie.headers['access-control-allow-credentials']).toBeUndefined();
    const body = { name: 'stolen', scopes: ['prompts:read'] };
    expect((await bare({ ...fields, cookie }, 'POST', '/api/v1/api-keys', body)).status).toBe(401);
  });

  it('is none that a preflight asks for', async () => {
    const answer = await fetch(service.url + path, {
      method: 'OPTIONS',
      headers: { origin: allowedOrigin, 'access-control-request-method': 'POST' },
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe(allowedOrigin);
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
    const read = await service.call('GET', whoami, { headers: { origin: allowedOrigin } });
    expect(read.headers['access-control-expose-headers']).not.toMatch(/set-cookie/i);
  });
});

describe('the cookie', () => {
  it('is accepted among others, under the name for HTTP or HTTPS', async () => {
    const { key, cookie } = await open();
    expect((await callWith(service, `a=1; ${cookie};b=prompt-gateway-session=x`)).status).toBe(200);
    const https = { 'x-forwarded-proto': 'https' };
    // Over HTTPS, other hosts of the domain can set a cookie with the name for HTTP.
    expect((await callWith(service, cookie, 'GET', whoami, { headers: https })).status).toBe(401);
    const secure = cookieOf(await signIn(service, { api_key: key }, { ...samePage, ...https }));
    expect((await callWith(service, secure, 'GET', whoami, { headers: https })).status).toBe(200);
    expect((await callWith(service, secure)).status).toBe(401);
  });

  it('counts only if no other session is there, because over HTTP other hosts of the domain can add theirs', async () => {
    const [{ cookie }, other] = [await open(), await cookieFor(service, service.adminKey)];
    for (const both of [`${other}; ${cookie}`, `${cookie}; ${other}`]) {
      const answer = await callWith(service, both);
      expect([answer.status, answer.body.type]).toEqual([401, problem('unauthenticated')]);
      expect(answer.body.detail).toMatch(/several sessions/);
    }
    for (const none of ['prompt-gateway-session=none', 'prompt-gateway-session=', cookie]) {
      for (const both of [`${none}; ${cookie}`, `${cookie}; ${none}`]) {
        expect([both, (await callWith(service, both)).body.name]).toEqual([both, 'test']);
      }
    }
  });

  it('is refused when it was changed, wherever', async () => {
    const { cookie } = await open();
    const [name = '', value = ''] = cookie.split('=');
    const places = [0, 5, 19, 20, 30, value.length - 2];
    const changed = places.map((at) => value.slice(0, at) + (value[at] === 'a' ? 'b' : 'a') + value.slice(at + 1));
    for (const wrong of [...changed, '', 'v1', value.slice(0, -1), value.slice(0, 24), `${value}.x`, '%00']) {
      expect([wrong, (await callWith(service, `${name}=${wrong}`)).status]).toEqual([wrong, 401]);
    }
    expect((await callWith(service, cookie)).status).toBe(200);
  });

  it('is no other text that the service sealed, and no key', async () => {
    const { cookie } = await open();
    const value = cookie.split('=')[1] ?? '';
    const box = createSecretBox(encryptionKey);
    const content = box.open(value as Sealed, 'sessions/cookie');
    const same = box.seal(content, 'sessions/cookie');
    const others = ['integrations/x/secret', 'administrator createIntegration /api/v1/integrations', 'sessions', ''];
    expect((await callWith(service, `prompt-gateway-session=${same}`)).status).toBe(200);
    for (const record of others) {
      expect((await callWith(service, `prompt-gateway-session=${box.seal(content, record)}`)).status).toBe(401);
    }
    const asKey = [{ authorization: `Bearer ${value}` }, { 'x-api-key': value }, { 'x-api-key': cookie }];
    for (const headers of asKey) expect((await bare({ ...samePage, ...headers })).status).toBe(401);
  });

  it('contains neither key nor readable text', async () => {
    const { key, cookie } = await open();
    const decoded = Buffer.from(cookie.split('.').at(-1) ?? '', 'base64url').toString('latin1');
    for (const text of [key.slice(-43), key.slice(4, 36), 'keyId']) expect(cookie + decoded).not.toContain(text);
  });
});

describe('a session', () => {
  it('has the scopes of its key and no more', async () => {
    const { key, cookie } = await open();
    for (const target of ['/api/v1/prompts', '/api/v1/integrations', '/v1/orders', '/api/v1/api-keys', '/metrics']) {
      const [byKey, bySession] = [
        await service.call('GET', target, { key }),
        await callWith(service, cookie, 'GET', target),
      ];
      expect([target, bySession.status, bySession.body.type]).toEqual([target, byKey.status, byKey.body.type]);
    }
    const refused = await callWith(service, cookie, 'GET', '/v1/orders');
    expect([refused.status, refused.body.type]).toEqual([403, problem('insufficient-scope')]);
    const more = { name: 'more', scopes: ['orders:read'] };
    expect((await callWith(service, cookie, 'POST', '/api/v1/api-keys', { body: more })).status).toBe(403);
  });

  it('gives way to a key in the same request, also to a wrong one', async () => {
    const { cookie } = await open();
    const both = (key: Record<string, string>): Promise<Answer> => bare({ ...samePage, cookie, ...key });
    expect((await both({ authorization: `Bearer ${service.adminKey}` })).body.id).toBe('administrator');
    expect((await both({ 'x-api-key': service.adminKey })).body.id).toBe('administrator');
    expect((await both({ authorization: 'bearer wrong' })).status).toBe(401);
    // Of a proxy that asks for a password: it is no key.
    expect((await both({ authorization: 'Basic YTpi' })).body.name).toBe('test');
  });

  it('counts as its key for rate limits and Idempotency-Keys', async () => {
    const { key } = await makeKey({ scopes: ['prompts:write', 'prompts:read'] });
    const cookie = await cookieFor(service, key);
    const request = {
      body: { name: 'Once', messages: [{ role: 'user', content: 'Hello' }] },
      headers: { 'Idempotency-Key': 'same-for-both' },
    };
    const first = await service.call('POST', '/api/v1/prompts', { ...request, key });
    const again = await callWith(service, cookie, 'POST', '/api/v1/prompts', request);
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([201, 'true']);
    expect(again.body.id).toBe(first.body.id);
    const left = ({ headers }: Answer): number => Number(/r=(\d+)/.exec(headers['ratelimit'] ?? '')?.[1]);
    expect(left(again)).toBe(left(first) - 1);
  });

  it('shows in the list when its key was used last', async () => {
    const { id, key } = await makeKey();
    await callWith(service, await cookieFor(service, key));
    const { body } = await service.call('GET', `/api/v1/api-keys/${id}`);
    expect(body.last_used_at).toEqual(expect.any(String));
  });

  it('works in all processes', async () => {
    const { cookie } = await open(other);
    expect((await callWith(service, cookie)).status).toBe(200);
    expect((await callWith(other, cookie)).status).toBe(200);
  });

  it('works with the client, which sends no key', async () => {
    const { key } = await open();
    let cookie = '';
    // A browser: it keeps the cookie, and says where the page comes from.
    const browser: typeof fetch = async (input, init) => {
      const headers = new Headers(init?.headers);
      expect(headers.has('authorization')).toBe(false);
      headers.set('sec-fetch-site', 'same-origin');
      if (cookie !== '') headers.set('cookie', cookie);
      const answer = await fetch(input, { ...init, headers });
      for (const set of answer.headers.getSetCookie()) cookie = set.split(';')[0] ?? '';
      return answer;
    };
    const gateway = createImpatientGateway({ baseUrl: service.url, apiKey: null, fetch: browser });
    const session = await gateway.sessions.create({ api_key: key });
    expect(await gateway.apiKeys.getCurrent()).toEqual(session.api_key);
    expect((await gateway.prompts.list()).data).toEqual(expect.any(Array));
    await gateway.sessions.delete();
    await expect(gateway.apiKeys.getCurrent()).rejects.toMatchObject({ status: 401 });
  });
});

describe('the end of a session', () => {
  it('comes 12 hours after it was last renewed', async () => {
    const { cookie } = await open();
    clock.advance(12 * hour - 60_000);
    const answer = await callWith(service, cookie);
    const renewed = cookieOf(answer);
    expect(answer.status).toBe(200);
    clock.advance(60_000);
    for (const each of [service, other]) {
      expect((await callWith(each, cookie)).status).toBe(401);
      expect((await callWith(each, renewed)).status).toBe(200);
    }
    clock.advance(12 * hour);
    expect((await callWith(service, renewed)).status).toBe(401);
  });

  it('comes 7 days after the sign-in, however much it is used', async () => {
    const { cookie } = await open();
    let last = cookie;
    for (let half = 1; half < 14; half += 1) {
      clock.advance(12 * hour - 60_000);
      last = cookieOf(await callWith(service, last)) || last;
    }
    expect((await callWith(service, last)).status).toBe(200);
    clock.advance(12 * hour + 14 * 60_000);
    expect((await callWith(service, last)).status).toBe(401);
  });

  it('is moved by an answer only if half an hour has passed', async () => {
    const { cookie } = await open();
    clock.advance(hour / 2 - 60_000);
    expect((await callWith(service, cookie)).headers['set-cookie']).toBeUndefined();
    clock.advance(60_000);
    const answer = await callWith(service, cookie);
    expect(answer.headers['set-cookie']).toMatch(/; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    expect(cookieOf(answer)).not.toBe(cookie);
    expect((await callWith(service, cookieOf(answer))).headers['set-cookie']).toBeUndefined();
  });

  it('is the end of its key, at the latest', async () => {
    const expires_at = new Date(clock.now().getTime() + 2 * hour).toISOString();
    const cookie = await cookieFor(service, (await makeKey({ expires_at })).key);
    clock.advance(hour);
    const answer = await callWith(service, cookie);
    expect([answer.status, answer.headers['set-cookie']]).toEqual([200, undefined]);
    clock.advance(hour);
    expect((await callWith(service, cookie)).status).toBe(401);
  });

  it('comes with the revocation of its key: at once, and within 5 seconds in other processes', async () => {
    const { id, key } = await makeKey();
    const cookie = await cookieFor(service, key);
    for (const each of [service, other]) expect((await callWith(each, cookie)).status).toBe(200);
    // A session can revoke its own key.
    expect((await callWith(service, cookie, 'POST', `/api/v1/api-keys/${id}/revoke`)).status).toBe(200);
    expect((await callWith(service, cookie)).status).toBe(401);
    clock.advance(5_000);
    expect((await callWith(other, cookie)).status).toBe(401);
  });

  it('comes when the operator replaces the configured key or the encryption key', async () => {
    const administrator = await cookieFor(service, service.adminKey);
    const { cookie } = await open();
    const former = encryptionKey.toString('hex');
    const next = Buffer.alloc(32, 8).toString('hex');
    const replaced = await startAnother(service, {
      ADMIN_API_KEY: 'another-administrator-key-0123456789',
      SECRETS_KEY: `${next},${former}`,
    });
    const foreign = await startAnother(service, { SECRETS_KEY: next });
    try {
      expect((await callWith(replaced, administrator)).status).toBe(401);
      expect((await callWith(replaced, cookie)).status).toBe(200);
      expect((await callWith(foreign, cookie)).status).toBe(401);
    } finally {
      await Promise.all([replaced.close(), foreign.close()]);
    }
  });

  it('does not count as a refused key, because open pages go on asking', async () => {
    const { cookie } = await open();
    await callWith(service, cookie, 'DELETE', path);
    for (let sent = 0; sent < 10; sent += 1) {
      const { status, body, headers } = await callWith(service, cookie);
      expect([status, body.type]).toEqual([401, problem('unauthenticated')]);
      expect(headers['www-authenticate']).toBe('Bearer');
    }
    expect((await open()).cookie).not.toBe('');
  });
});
