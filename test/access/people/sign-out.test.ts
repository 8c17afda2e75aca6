import { describe, expect, it } from '@jest/globals';
import { generateKeyPair, type JWTPayload } from 'jose';
import { createMovableClock } from '../../support/clock.ts';
import { setUpPeople, type Browser } from './people-harness.ts';

const clock = createMovableClock();
const setup = setUpPeople({ REFUSED_KEYS_LIMIT: '30/60s' }, { clock });

const statusOf = async (browser: Browser): Promise<number> => (await browser.call('GET', '/api/v1/whoami')).status;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
const now = (): number => Math.floor(Date.now() / 1_000);

/** What the issuer says when somebody signs out there. */
const claimsOf = (more: { readonly [claim: string]: unknown } = {}): JWTPayload => ({
  ...{ iss: setup.issuer.url, aud: 'gateway', iat: now(), exp: now() + 120, jti: crypto.randomUUID(), sub: 'ada' },
  ...{ events: { [logoutEvent]: {} }, ...more },
});

const send = async (token: string, to = setup.service.url): Promise<Response> =>
  await fetch(`${to}/oidc/back-channel-logout`, { method: 'POST', body: new URLSearchParams({ logout_token: token }) });

describe('signing out here', () => {
  it('says where to sign out at the issuer, who signs the other sessions out, too', async () => {
    const [{ browser }, { browser: other }] = [await setup.signIn(), await setup.signIn()];
    const { body } = await browser.call('DELETE', '/api/v1/session');
    const next = new URL(String(body.continue_at));
    expect(next.origin).toBe(setup.issuer.url);
    expect(next.searchParams.get('post_logout_redirect_uri')).toBe(`${setup.service.url}/dashboard`);
    expect(await statusOf(browser)).toBe(401);
    expect(await statusOf(other)).toBe(200);
    const asked = await browser.open(next.href);
    const [, action = ''] = /action="([^"]+)"/.exec(asked.text) ?? [];
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(asked.text) ?? [];
    const done = await browser.post(action, { xsrf, logout: 'yes' });
    expect(done.path.at(-1)).toBe(`${setup.service.url}/dashboard`);
    // By its back channel.
    expect(await statusOf(other)).toBe(401);
    const { body: log } = await setup.service.call('GET', '/api/v1/audit-log?operation=backChannelLogout&limit=1');
    expect(log.data).toMatchObject([
      { author: { type: 'system', id: 'oidc', name: 'Example Corp' }, resource_type: 'person', resource_name: 'Ada' },
    ]);
  });

  it('works while the issuer is away', async () => {
    const { browser } = await setup.signIn();
    await setup.issuer.setUp(false);
    expect((await browser.call('DELETE', '/api/v1/session')).status).toBe(200);
    await setup.issuer.setUp(true);
  });
});

describe('a logout token', () => {
  it('ends all sessions of its subject, here at once and within 5 seconds in other processes', async () => {
    const { browser } = await setup.signIn();
    const other = await setup.startAnother();
    const headers = setup.pageHeaders(browser);
    const there = (): Promise<{ status: number }> => other.call('GET', '/api/v1/whoami', { key: null, headers });
    expect((await there()).status).toBe(200);
    const answer = await send(await setup.issuer.sign(claimsOf(), { typ: 'logout+jwt' }));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await statusOf(browser)).toBe(401);
    clock.advance(5_000);
    expect((await there()).status).toBe(401);
    expect(await statusOf((await setup.signIn()).browser)).toBe(200);
  });

  it('without a subject names a session at the issuer', async () => {
    const { browser } = await setup.signIn();
    const { body } = await browser.call('DELETE', '/api/v1/session');
    const hint = new URL(String(body.continue_at)).searchParams.get('id_token_hint') ?? '';
    const { sid } = JSON.parse(Buffer.from(hint.split('.')[1] ?? '', 'base64url').toString()) as { sid: string };
    await setup.signIn(browser);
    expect((await send(await setup.issuer.sign(claimsOf({ sub: undefined, sid: 'another' })))).status).toBe(200);
    expect(await statusOf(browser)).toBe(200);
    expect((await send(await setup.issuer.sign(claimsOf({ sub: undefined, sid })))).status).toBe(200);
    expect(await statusOf(browser)).toBe(401);
  });

  it('of somebody who has never signed in changes nothing', async () => {
    expect((await send(await setup.issuer.sign(claimsOf({ sub: 'stranger' })))).status).toBe(200);
  });

  it('counts once', async () => {
    const token = await setup.issuer.sign(claimsOf());
    expect((await send(token)).status).toBe(200);
    const { browser } = await setup.signIn();
    const again = await send(token);
    expect([again.status, await again.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_request' })]);
    expect(await statusOf(browser)).toBe(200);
  });

  it('is refused if anything is wrong with it, and ends nothing', async () => {
    const { browser } = await setup.signIn();
    const { privateKey } = await generateKeyPair('RS256');
    const secret = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']);
    const plain = [{ alg: 'none' }, claimsOf()].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
    const { sign } = setup.issuer;
    const forged: Record<string, string> = {
      'no token': '',
      'no JWT': 'a.b.c',
      'no signature': `${plain.join('.')}.`,
      'another key': await sign(claimsOf(), {}, privateKey),
      'an unknown key': await sign(claimsOf(), { kid: 'unknown' }, privateKey),
      'a shared secret': await sign(claimsOf(), { alg: 'HS256' }, secret as never),
      'another issuer': await sign(claimsOf({ iss: 'https://evil.example' })),
      'another audience': await sign(claimsOf({ aud: 'another' })),
      'no audience': await sign(claimsOf({ aud: undefined })),
      'too old': await sign(claimsOf({ iat: now() - 301 })),
      'of the future': await sign(claimsOf({ iat: now() + 90 })),
      'no iat': await sign(claimsOf({ iat: undefined })),
      expired: await sign(claimsOf({ exp: now() - 61 })),
      'no jti': await sign(claimsOf({ jti: undefined })),
      'no event': await sign(claimsOf({ events: undefined })),
      'another event': await sign(claimsOf({ events: { 'http://schemas.openid.net/event/other': {} } })),
      'an empty subject': await sign(claimsOf({ sub: '' })),
      'a subject of blanks': await sign(claimsOf({ sub: '  ', sid: 'x' })),
      'a subject that is no text': await sign(claimsOf({ sub: 1 as unknown as string, sid: 'x' })),
      'a subject that is too long': await sign(claimsOf({ sub: 'x'.repeat(256) })),
      'a session that is too long': await sign(claimsOf({ sid: 'x'.repeat(256) })),
      'an empty session': await sign(claimsOf({ sid: '' })),
      'an event that is none': await sign(claimsOf({ events: { [logoutEvent]: 'yes' } })),
      'a nonce, as an ID token has': await sign(claimsOf({ nonce: 'x' })),
      'neither subject nor session': await sign(claimsOf({ sub: undefined })),
    };
    // So that the keys can be read again.
    clock.advance(6_000);
    for (const [name, token] of Object.entries(forged)) {
      const answer = await send(token);
      expect([name, answer.status]).toEqual([name, 400]);
      expect(await answer.json()).toMatchObject({ error: 'invalid_request' });
    }
    expect(await statusOf(browser)).toBe(200);
  });

  it('with an unknown key does not let the keys be read each time', async () => {
    const limitless = await setup.startAnother({ REFUSED_KEYS_LIMIT: 'off' });
    const { privateKey } = await generateKeyPair('RS256');
    const reads = (): number => setup.issuer.requests.filter((request) => request === 'GET /jwks').length;
    const before = reads();
    for (let sent = 0; sent < 20; sent += 1) {
      await send(await setup.issuer.sign(claimsOf(), { kid: `unknown-${sent}` }, privateKey), limitless.url);
    }
    expect(reads() - before).toBe(1);
  });

  it('can be sent again if the keys of the issuer could not be read', async () => {
    const other = await setup.startAnother();
    const { browser } = await setup.signIn();
    setup.issuer.tamper = (path) => (path === '/jwks' ? Promise.resolve({ status: 500 }) : undefined);
    const token = await setup.issuer.sign(claimsOf());
    const first = await send(token, other.url);
    expect([first.status, await first.json()]).toEqual([
      503,
      expect.objectContaining({ error: 'temporarily_unavailable' }),
    ]);
    setup.issuer.tamper = undefined;
    clock.advance(6_000);
    expect((await send(token, other.url)).status).toBe(200);
    clock.advance(6_000);
    expect(await statusOf(browser)).toBe(401);
  });

  it('that a page lets a browser send is not counted against the address of its user', async () => {
    const limited = await setup.startAnother({ REFUSED_KEYS_LIMIT: '2/60s' });
    const url = `${limited.url}/oidc/back-channel-logout`;
    const body = new URLSearchParams({ logout_token: 'x' });
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, {}]) {
      for (let sent = 0; sent < 3; sent += 1) {
        const { status } = await fetch(url, { method: 'POST', headers: headers as Record<string, string>, body });
        expect(status).toBe('origin' in headers || 'sec-fetch-site' in headers || sent < 2 ? 400 : 429);
      }
    }
  });

  it('that is too large, or no form, is refused', async () => {
    expect((await send('x'.repeat(70_000))).status).toBe(413);
    const url = `${setup.service.url}/oidc/back-channel-logout`;
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(415);
    expect((await fetch(url)).status).toBe(405);
  });

  it('from an address that has sent too many that were refused has to wait', async () => {
    const limited = await setup.startAnother({ REFUSED_KEYS_LIMIT: '2/60s' });
    for (let sent = 0; sent < 2; sent += 1) expect((await send('x', limited.url)).status).toBe(400);
    expect((await send(await setup.issuer.sign(claimsOf()), limited.url)).status).toBe(429);
  });
});
