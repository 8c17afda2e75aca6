import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { generateKeyPair, type JWTPayload } from 'jose';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { createIssuer } from '../../../src/access/people/issuer.ts';
import { createMovableClock } from '../../support/clock.ts';
import { startIssuer, type Tampered } from './issuer-harness.ts';
import { setUpPeople, type Browser, type Visited } from './people-harness.ts';

const clock = createMovableClock();
const lines: string[] = [];
const log = pino(
  { level: 'warn' },
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  }),
);
const setup = setUpPeople({}, { clock, log });

/** A sign-in that is refused: nobody is signed in, and the page says why. */
async function refused(status: number, words: string, browser?: Browser): Promise<Visited> {
  const { visited, browser: used } = await setup.signIn(browser);
  expectRefused(visited, used, status, words);
  return visited;
}

/** @param kept how many sign-ins the browser can still finish */
function expectRefused(visited: Visited, browser: Browser, status: number, words: string, kept = 0): void {
  expect([visited.status, visited.text]).toEqual([status, expect.stringContaining(words)]);
  expect(visited.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(visited.headers.get('cache-control')).toBe('no-store');
  const names = [...(browser.cookies.get(setup.service.url)?.keys() ?? [])];
  expect(names).toEqual(Array.from({ length: kept }, () => expect.stringMatching(/^prompt-gateway-oidc-/)));
}

/** Changes the ID token, and signs it again with the key of the issuer. */
function changeIdToken(change: (claims: JWTPayload) => JWTPayload): void {
  setup.issuer.tamper = (path, answer) => (path === '/token' ? setup.issuer.reissue(answer, change) : undefined);
}

/** Opens the sign-in until the issuer sends the browser back. @returns the address that it is sent to */
async function untilCallback(browser: Browser): Promise<string> {
  const { url } = await browser.open(`${setup.service.url}/oidc/sign-in`, /\/oidc\/callback/);
  return url;
}

describe('the roles of a person', () => {
  it('are missing if it is in none of the groups, which the page names', async () => {
    setup.issuer.account = { sub: 'nobody', name: 'N', groups: ['guests'] };
    const { text } = await refused(403, 'Your account is in no group that may sign in here.');
    for (const group of ['admins', 'devs', 'ops', 'readers']) expect(text).toContain(`&#34;${group}&#34;`);
    setup.issuer.account = { sub: 'nobody', name: 'N' };
    await refused(403, 'Your account is in no group that may sign in here.');
    const { body } = await setup.service.call('GET', '/api/v1/people');
    expect(body.data).toEqual([]);
  });

  it('are gone from the sessions that there are when a sign-in shows that there are none any more', async () => {
    setup.issuer.account = { sub: 'moved', name: 'Moved', groups: ['admins'] };
    const { browser } = await setup.signIn();
    const { body: me } = await browser.call('GET', '/api/v1/whoami');
    setup.issuer.account = { sub: 'moved', name: 'Moved', groups: [] };
    expect((await setup.signIn()).visited.status).toBe(403);
    expect((await browser.call('GET', '/api/v1/whoami')).status).toBe(401);
    const { body } = await setup.service.call('GET', `/api/v1/people/${String(me.id)}`);
    expect(body.roles).toEqual([]);
  });

  it('count no longer where the operator has removed the issuer', async () => {
    const { browser } = await setup.signIn();
    const without = { OIDC_ISSUER: '', OIDC_CLIENT_ID: '', OIDC_CLIENT_SECRET: '', OIDC_ROLES: '', OIDC_NAME: '' };
    const other = await setup.startAnother(without);
    const headers = setup.pageHeaders(browser);
    expect((await other.call('GET', '/api/v1/whoami', { key: null, headers })).status).toBe(401);
    expect((await browser.call('GET', '/api/v1/whoami')).status).toBe(200);
  });

  it('are not those of no groups if the issuer left the groups out', async () => {
    for (const more of [{ hasgroups: true }, { _claim_names: { groups: 'src1' } }]) {
      setup.issuer.account = { sub: 'many', name: 'Many', ...more };
      await refused(403, 'use app roles');
    }
    setup.issuer.userInfoOnly = ['_claim_names'];
    await refused(403, 'use app roles');
  });

  it.each<[groups: unknown]>([
    [{ devs: true }],
    [[{ name: 'devs' }]],
    [['devs', 7]],
    [[['devs']]],
    [7],
    [true],
    ['devs,ops'],
    ['guests; devs'],
    ['devs ops'],
    ['["devs"]'],
    ['[devs, ops]'],
  ])('are not those of no groups if the form of the groups is not understood: %j', async (groups) => {
    for (const only of [[], ['groups']]) {
      setup.issuer.account = { sub: 'formed', name: 'Formed', groups };
      setup.issuer.userInfoOnly = only;
      const { text } = await refused(403, 'in a form that this service does not understand');
      expect(text).not.toContain('in no group');
    }
    expect(lines.at(-1)).toContain('the claim groups is neither a list of texts nor one text with one group');
  });

  it('are not the default ones if the form of the groups is not understood', async () => {
    const settings = { OIDC_DEFAULT_ROLE: 'viewer', OIDC_ROLES_CLAIM: '/realm_access/roles' };
    expect(await setup.signInWith(settings, { realm_access: { roles: 'guests' } })).toEqual(['viewer']);
    for (const access of [{ roles: { devs: true } }, { roles: 'devs,ops' }, 'devs', 7]) {
      expect([access, await setup.signInWith(settings, { realm_access: access })]).toEqual([access, 403]);
    }
  });

  it.each<[groups: unknown, found: unknown]>([
    ['devs', ['editor']],
    [['devs', 'devs, old'], ['editor']],
    ['a, b', ['viewer']],
    ['guests, staff', 403],
    [[], 403],
    ['', 403],
    [null, 403],
  ])('follow from one group or a list of groups: %j', async (groups, found) => {
    const roles = { OIDC_ROLES: '{"devs":"editor","a, b":"viewer"}' };
    expect(await setup.signInWith(roles, { groups })).toEqual(found);
  });

  it('follow from the userinfo endpoint if the ID token does not have the claim', async () => {
    setup.issuer.userInfoOnly = ['groups'];
    const { browser } = await setup.signIn();
    expect((await browser.call('GET', '/api/v1/whoami')).body.roles).toEqual(['editor']);
    // Somebody else's groups.
    setup.issuer.tamper = (path) =>
      path === '/me' ? Promise.resolve({ body: JSON.stringify({ sub: 'eve', groups: ['admins'] }) }) : undefined;
    await refused(502, 'is not valid');
  });

  it('follow from an answer of the userinfo endpoint that is signed', async () => {
    const { issuer } = setup;
    const now = Math.floor(Date.now() / 1_000);
    const { privateKey: forged } = await generateKeyPair('RS256');
    const said = { sub: 'ada', groups: ['devs'] };
    const rows: [claims: JWTPayload, type: string, roles: unknown, key?: typeof forged][] = [
      [{ ...said, iss: issuer.url, aud: 'gateway' }, 'application/jwt', ['editor']],
      [{ ...said, iss: issuer.url, aud: ['gateway', 'another'], exp: now + 60 }, 'application/jwt', ['editor']],
      [said, 'application/JWT; charset=utf-8', ['editor']],
      [said, 'application/json', ['editor']],
      [{ ...said, sub: 'eve' }, 'application/jwt', 502],
      [{ groups: ['devs'] }, 'application/jwt', 502],
      [{ ...said, iss: 'https://evil.example' }, 'application/jwt', 502],
      [{ ...said, aud: 'another' }, 'application/jwt', 502],
      [{ ...said, exp: now - 61 }, 'application/jwt', 502],
      [said, 'application/jwt', 502, forged],
    ];
    issuer.userInfoOnly = ['groups'];
    for (const [claims, type, roles, key] of rows) {
      const body = await issuer.sign(claims, {}, key);
      issuer.tamper = (path, { headers }) =>
        path === '/me' ? Promise.resolve({ headers: { ...headers, 'content-type': type }, body }) : undefined;
      const { browser, visited } = await setup.signIn();
      const found: unknown =
        visited.status === 303 ? (await browser.call('GET', '/api/v1/whoami')).body.roles : visited.status;
      expect([claims, type, found]).toEqual([claims, type, roles]);
    }
    const unsigned = [{ alg: 'none' }, said].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
    for (const body of [`${unsigned.join('.')}.`, '', '[]', '{"sub":', '<html>']) {
      issuer.tamper = (path) => (path === '/me' ? Promise.resolve({ body }) : undefined);
      await refused(502, 'is not valid');
    }
    issuer.tamper = (path) => (path === '/me' ? Promise.resolve({ status: 500 }) : undefined);
    await refused(503, 'does not answer');
  });

  it('follow from a JSON pointer or an exact name, and a default role', async () => {
    const { signInWith } = setup;
    const pointer = { OIDC_ROLES_CLAIM: '/realm_access/roles' };
    expect(await signInWith(pointer, { realm_access: { roles: ['ops'] } })).toEqual(['operator']);
    expect(await signInWith(pointer, { realm_access: { __proto__: ['ops'] } })).toBe(403);
    expect(
      await signInWith({ OIDC_ROLES_CLAIM: 'roles' }, { roles: 'readers', _claim_names: { groups: 's' } }),
    ).toEqual(['viewer']);
    expect(await signInWith({ OIDC_DEFAULT_ROLE: 'viewer' }, { groups: ['guests'] })).toEqual(['viewer']);
  });
});

describe('the answer of the issuer', () => {
  it('that no browser began is not counted against its address, and the others are', async () => {
    const limited = await setup.startAnother({ REFUSED_KEYS_LIMIT: '2/60s' });
    const callback = `${limited.url}/oidc/callback?code=x&state=y`;
    for (let sent = 0; sent < 4; sent += 1) expect((await fetch(callback)).status).toBe(400);
    const statuses: number[] = [];
    for (let sent = 0; sent < 3; sent += 1) {
      const begun = await fetch(`${limited.url}/oidc/sign-in`, { redirect: 'manual' });
      const state = new URL(begun.headers.get('location') ?? 'http://limited').searchParams.get('state');
      const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
      statuses.push(
        (await fetch(`${limited.url}/oidc/callback?error=x&state=${state}`, { headers: { cookie } })).status,
      );
    }
    expect(statuses).toEqual([502, 502, 429]);
  });

  it('counts only in the browser that began the sign-in', async () => {
    const eve = setup.browser();
    const callback = await untilCallback(eve);
    // Eve makes another browser finish her sign-in: without one of its own, and with one.
    const victim = setup.browser();
    expectRefused(await victim.open(callback, /\/dashboard/), victim, 400, 'This browser has not begun this sign-in');
    await untilCallback(victim);
    const forced = await victim.open(callback, /\/dashboard/);
    expectRefused(forced, victim, 400, 'This browser has not begun this sign-in', 1);
    // Not even if she gives it a cookie under the name of hers.
    const [[name = ''] = []] = eve.cookies.get(setup.service.url) ?? [];
    const own = victim.cookies.get(setup.service.url);
    const [[, value = ''] = []] = own ?? [];
    own?.set(name, value);
    expectRefused(await victim.open(callback, /\/dashboard/), victim, 400, 'the answer to another sign-in', 1);
  });

  it('counts once', async () => {
    const browser = setup.browser();
    const callback = await untilCallback(browser);
    const cookies = new Map(browser.cookies.get(setup.service.url));
    expect((await browser.open(callback, /\/dashboard/)).status).toBe(303);
    const again = setup.browser();
    again.cookies.set(setup.service.url, cookies);
    expectRefused(
      await again.open(callback, /\/dashboard/),
      again,
      400,
      'This sign-in was used before. Sign in again.',
    );
  });

  it('counts once of several at the same time', async () => {
    const browser = setup.browser();
    const callback = await untilCallback(browser);
    const cookie = [...(browser.cookies.get(setup.service.url) ?? [])].map((pair) => pair.join('=')).join('; ');
    const tokens = (): number => setup.issuer.requests.filter((request) => request === 'POST /token').length;
    const before = tokens();
    const all = await Promise.all(
      Array.from({ length: 5 }, () => fetch(callback, { redirect: 'manual', headers: { cookie } })),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([303, 400, 400, 400, 400]);
    expect(tokens() - before).toBe(1);
  });

  it('is refused with a state, a code or an issuer that is not the right one', async () => {
    const forged: [string, (callback: URL) => void, number, string, number?][] = [
      ['another state', ({ searchParams }) => searchParams.set('state', 'x'.repeat(43)), 400, 'has not begun', 1],
      ['no state', ({ searchParams }) => searchParams.delete('state'), 400, 'has not begun', 1],
      ['two states', ({ searchParams }) => searchParams.append('state', 'x'), 502, 'is not valid'],
      ['another code', ({ searchParams }) => searchParams.set('code', 'x'), 400, 'was used before or has expired'],
      ['no code', ({ searchParams }) => searchParams.delete('code'), 502, 'is not valid'],
      ['another issuer', ({ searchParams }) => searchParams.set('iss', 'https://evil.example'), 502, 'is not valid'],
      ['no issuer', ({ searchParams }) => searchParams.delete('iss'), 502, 'is not valid'],
      ['an error', ({ searchParams }) => searchParams.set('error', 'access_denied'), 403, 'did not sign you in'],
    ];
    for (const [, forge, status, words, kept] of forged) {
      const browser = setup.browser();
      const callback = new URL(await untilCallback(browser));
      forge(callback);
      expectRefused(await browser.open(callback.href, /\/dashboard/), browser, status, words, kept);
    }
  });

  it('is refused with a code that another sign-in got', async () => {
    const [browser, other] = [setup.browser(), setup.browser()];
    const callback = new URL(await untilCallback(browser));
    const stolen = new URL(await untilCallback(other));
    callback.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    expectRefused(await browser.open(callback.href, /\/dashboard/), browser, 400, 'was used before or has expired');
  });

  it('is refused with a code that was used before', async () => {
    const first = setup.browser();
    const used = new URL(await untilCallback(first));
    expect((await first.open(used.href, /\/dashboard/)).status).toBe(303);
    const browser = setup.browser();
    const callback = new URL(await untilCallback(browser));
    callback.searchParams.set('code', used.searchParams.get('code') ?? '');
    expectRefused(await browser.open(callback.href, /\/dashboard/), browser, 400, 'was used before or has expired');
  });

  it('is refused after 10 minutes', async () => {
    const browser = setup.browser();
    const callback = await untilCallback(browser);
    clock.advance(10 * 60_000);
    expectRefused(await browser.open(callback, /\/dashboard/), browser, 400, 'longer than 10 minutes');
    clock.advance(-10 * 60_000);
  });

  it.each<[string, (claims: JWTPayload) => JWTPayload]>([
    ['of another audience', (claims) => ({ ...claims, aud: 'another' })],
    ['of several audiences without this one', (claims) => ({ ...claims, aud: ['one', 'another'] })],
    ['of several audiences with an empty azp', (claims) => ({ ...claims, aud: ['gateway', 'another'], azp: '' })],
    ['for another client', (claims) => ({ ...claims, aud: ['gateway', 'another'], azp: 'another' })],
    ['for another client, with one audience', (claims) => ({ ...claims, azp: 'another' })],
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['with another nonce', (claims) => ({ ...claims, nonce: 'x' })],
    ['without a nonce', ({ nonce: _, ...claims }) => claims],
    ['that has expired', (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1_000) - 61 })],
    ['without a subject', ({ sub: _, ...claims }) => claims],
    ['with an empty subject', (claims) => ({ ...claims, sub: '' })],
    ['with a subject of blanks', (claims) => ({ ...claims, sub: ' \t\u00a0' })],
    ['with a subject that is no text', (claims) => ({ ...claims, sub: 0 as unknown as string })],
    ['with a subject that is too long', (claims) => ({ ...claims, sub: 'x'.repeat(256) })],
    ['with a session that is too long', (claims) => ({ ...claims, sid: 'x'.repeat(256) })],
  ])('is refused with an ID token %s', async (_name, change) => {
    changeIdToken(change);
    const { visited, browser } = await setup.signIn();
    expect([400, 502]).toContain(visited.status);
    expectRefused(visited, browser, visited.status, 'Not signed in');
  });

  it.each<[string, JWTPayload]>([
    ['several audiences and this client as azp', { aud: ['gateway', 'another'], azp: 'gateway' }],
    ['several audiences without azp', { aud: ['another', 'gateway'] }],
    ['one audience in a list', { aud: ['gateway'] }],
    ['names of 255 characters', { sub: 'x'.repeat(255), sid: 'x'.repeat(255) }],
    ['a session that has no name', { sid: '' }],
  ])('is accepted with %s', async (_name, changed) => {
    changeIdToken((claims) => ({ groups: ['devs'], ...claims, ...changed }));
    expect((await setup.signIn()).visited.url).toContain('/dashboard');
  });

  it('is refused with an ID token that another key signed, or none', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const unsigned = (claims: JWTPayload): string =>
      [{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.';
    const ways: ((claims: JWTPayload) => Promise<string> | string)[] = [
      (claims) => setup.issuer.sign(claims, {}, privateKey),
      (claims) => setup.issuer.sign(claims, { kid: 'other' }, privateKey),
      unsigned,
    ];
    for (const sign of ways) {
      setup.issuer.tamper = async (path, answer): Promise<Tampered | undefined> => {
        if (path !== '/token') return undefined;
        const tokens = JSON.parse(answer.body) as { id_token: string };
        const claims = JSON.parse(
          Buffer.from(tokens.id_token.split('.')[1] ?? '', 'base64url').toString(),
        ) as JWTPayload;
        return { body: JSON.stringify({ ...tokens, id_token: await sign({ ...claims, groups: ['admins'] }) }) };
      };
      await refused(502, 'is not valid');
    }
  });

  it('is refused if it is too large, a redirect, or no JSON', async () => {
    const others: [Tampered, number, string][] = [
      [{ body: `{"access_token":"${'x'.repeat(300_000)}"}` }, 503, 'does not answer'],
      [{ status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' }, 503, 'does not answer'],
      [{ body: 'no JSON' }, 502, 'is not valid'],
      [{ status: 500, body: '{}' }, 503, 'does not answer'],
    ];
    for (const [other, status, words] of others) {
      setup.issuer.tamper = (path) => (path === '/token' ? Promise.resolve(other) : undefined);
      await refused(status, words);
    }
  });
});

describe('the clock', () => {
  // Otherwise the time of the sign-in would count.
  beforeEach(() => {
    clock.hold();
  });
  afterEach(() => {
    clock.release();
  });
  /** Dates ID tokens this number of seconds after the clock of the service. */
  const dateTokens = (seconds: number): void => {
    const iat = Math.floor(clock.now().getTime() / 1_000) + seconds;
    changeIdToken((claims) => ({ ...claims, iat }));
  };
  /** The seconds that a page names, which can be rounded. */
  const named = (text: string): number => Number(/ (\d+) seconds /.exec(text)?.[1]);

  it.each([
    ['ahead of', 300_000],
    ['behind', -300_000],
  ])(
    'of the service that is %s that of the issuer by 5 minutes refuses, and names the difference',
    async (words, ms) => {
      clock.advance(ms);
      try {
        dateTokens(-ms / 1_000);
        const { text } = await refused(502, `seconds ${words} the clock of Example Corp`);
        expect(Math.abs(named(text) - 300)).toBeLessThanOrEqual(1);
      } finally {
        clock.advance(-ms);
      }
    },
  );

  it.each([
    [120, 502],
    [50, 303],
  ])('of an issuer that dates an ID token %d seconds ahead: %d', async (seconds, status) => {
    dateTokens(seconds);
    const { visited } = await setup.signIn();
    expect(visited.status).toBe(status);
    if (status === 502) {
      expect(visited.text).toMatch(/seconds behind the clock of Example Corp\. At most 60 seconds/);
      expect(Math.abs(named(visited.text) - 120)).toBeLessThanOrEqual(1);
    }
  });

  const day = 86_400;
  it.each<[string, date: number | string, iat: number]>([
    ['a day ahead', day, 0],
    ['a day behind', -day, 0],
    ['5 minutes ahead', 300, 0],
    ['5 minutes behind', -300, 0],
    ['no date', 'yesterday', 0],
    ['right, and dates its tokens back by 5 minutes', 0, -300],
    ['a day behind, and dates its tokens back by 5 minutes', -day, -300],
  ])('of an issuer that is %s in the Date header signs in, if the times of the token are right', async (...row) => {
    const [, date, iat] = row;
    setup.issuer.tamper = async (path, answer): Promise<Tampered | undefined> => {
      const written = typeof date === 'number' ? new Date(Date.now() + date * 1_000).toUTCString() : date;
      const headers = { ...answer.headers, date: written };
      if (path !== '/token') return { headers };
      return {
        headers,
        ...(await setup.issuer.reissue(answer, (claims) => ({ ...claims, iat: (claims.iat ?? 0) + iat }))),
      };
    };
    expect((await setup.signIn()).visited.status).toBe(303);
  });

  it('is not to blame for a wrong Date header beside something else that is refused', async () => {
    const date = new Date(Date.now() - 600_000).toUTCString();
    const withDate = (more: Tampered): void => {
      setup.issuer.tamper = (path, answer) =>
        path === '/token' ? Promise.resolve({ ...more, headers: { ...answer.headers, date } }) : undefined;
    };
    withDate({ status: 400, body: '{"error":"invalid_grant"}' });
    await refused(400, 'was used before or has expired');
    withDate({ status: 401, body: '{"error":"invalid_client"}' });
    await refused(502, 'What Example Corp answered is not valid');
    expect(lines.at(-1)).toMatch(/invalid_client; its Date header differs by [56]\d\d seconds/);
    setup.issuer.tamper = async (path, answer): Promise<Tampered | undefined> =>
      path === '/token'
        ? {
            headers: { ...answer.headers, date },
            ...(await setup.issuer.reissue(answer, (claims) => ({ ...claims, exp: (claims.iat ?? 0) - 61 }))),
          }
        : undefined;
    await refused(502, 'What Example Corp answered is not valid');
  });

  it('may differ by less than 60 seconds', async () => {
    clock.advance(50_000);
    try {
      expect((await setup.signIn()).visited.status).toBe(303);
    } finally {
      clock.advance(-50_000);
    }
  });
});

describe('an issuer that is away', () => {
  it('is a sentence on the page, and sessions go on', async () => {
    const { browser } = await setup.signIn();
    const late = setup.browser();
    const callback = await untilCallback(late);
    await setup.issuer.setUp(false);
    try {
      expect((await browser.call('GET', '/api/v1/whoami')).status).toBe(200);
      expectRefused(await late.open(callback, /\/dashboard/), late, 503, 'Example Corp does not answer at the moment.');
    } finally {
      await setup.issuer.setUp(true);
    }
    expect((await setup.signIn()).visited.status).toBe(303);
  });

  it('at the start is a warning, and it is asked again at a sign-in 5 seconds later', async () => {
    await setup.issuer.setUp(false);
    const other = await setup.startAnother();
    try {
      const begun = await fetch(`${other.url}/oidc/sign-in`, { redirect: 'manual' });
      expect([begun.status, await begun.text()]).toEqual([503, expect.stringContaining('does not answer')]);
      expect(lines.join('')).toContain('The identity provider of OIDC_ISSUER does not answer as it should');
    } finally {
      await setup.issuer.setUp(true);
    }
    clock.advance(5_001);
    expect((await fetch(`${other.url}/oidc/sign-in`, { redirect: 'manual' })).status).toBe(303);
  });

  it('is not asked for the time by an answer that a cache has kept', async () => {
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    setup.issuer.tamper = (path, { headers }) =>
      path === '/jwks' ? Promise.resolve({ headers: { ...headers, date } }) : undefined;
    const other = await setup.startAnother();
    const browser = setup.browser();
    const { url } = await browser.open(`${other.url}/oidc/sign-in`, /\/oidc\/callback/);
    expect((await browser.open(url.replace(setup.service.url, other.url), /\/dashboard/)).status).toBe(303);
  });

  it('is one that names no keys', async () => {
    const mute = await startIssuer([]);
    mute.tamper = (path, { body }) =>
      path.endsWith('/openid-configuration')
        ? Promise.resolve({ body: body.replace(/"jwks_uri":"[^"]*",/, '') })
        : undefined;
    const other = await setup.startAnother({ OIDC_ISSUER: mute.url });
    expect((await fetch(`${other.url}/oidc/sign-in`, { redirect: 'manual' })).status).toBe(503);
    await mute.close();
  });

  it('is one that every organisation has accounts at', async () => {
    const address = 'https://login.microsoftonline.com';
    const said = {
      issuer: `${address}/{tenantid}/v2.0`,
      authorization_endpoint: `${address}/common/oauth2/v2.0/authorize`,
      jwks_uri: `${address}/common/discovery/v2.0/keys`,
    };
    const issuer = createIssuer({
      ...{ issuer: `${address}/common/v2.0`, clientId: 'gateway', clientSecret: 'x', scopes: 'openid', name: 'All' },
      ...{ fetch: () => Promise.resolve(Response.json(said)), clock },
    });
    await expect(issuer.check()).rejects.toMatchObject({ reason: 'OIDC_ISSUER is not what the issuer calls itself' });
  });

  it('is one that calls itself something else', async () => {
    const impostor = await startIssuer([]);
    impostor.tamper = (path, { body }) =>
      path.endsWith('/openid-configuration')
        ? Promise.resolve({ body: body.replaceAll(`"issuer":"${impostor.url}"`, '"issuer":"https://evil.example"') })
        : undefined;
    const other = await setup.startAnother({ OIDC_ISSUER: impostor.url });
    const begun = await fetch(`${other.url}/oidc/sign-in`, { redirect: 'manual' });
    const text = await begun.text();
    expect([begun.status, text]).toEqual([503, expect.stringContaining('OIDC_ISSUER is not what Example Corp calls')]);
    expect(text).not.toContain('evil');
    await impostor.close();
  });

  it.each([
    ['/realms/company', '/realms/company/'],
    ['/realms/company/', '/realms/company'],
  ])('is one whose setting differs by its last slash, which the page says: %s', async (set, said) => {
    const issuer = await startIssuer([]);
    issuer.tamper = () =>
      Promise.resolve({
        ...{ status: 200, headers: { 'content-type': 'application/json' } },
        body: JSON.stringify({ issuer: issuer.url + said, jwks_uri: `${issuer.url}/jwks` }),
      });
    const other = await setup.startAnother({ OIDC_ISSUER: issuer.url + set });
    const begun = await fetch(`${other.url}/oidc/sign-in`, { redirect: 'manual' });
    expect([begun.status, await begun.text()]).toEqual([
      503,
      expect.stringMatching(
        `only by the slash at its end\\. Ask the operator to set OIDC_ISSUER=${issuer.url}${said}<`,
      ),
    ]);
    const { body } = await other.call('GET', '/api/v1/attention');
    expect(body.data).toMatchObject([{ detail: expect.stringContaining('they differ by the slash at the end') }]);
    await issuer.close();
  });

  it.each(['', '/'])('is none if only a slash after the host is there or not: %j', async (slash) => {
    const set = { OIDC_ISSUER: setup.issuer.url + slash };
    expect(await setup.signInWith(set, { groups: ['devs'] })).toEqual(['editor']);
  });
});

describe('an equal subject of another issuer', () => {
  it('is another person', async () => {
    const another = await startIssuer([`${setup.service.url}/oidc/callback`]);
    const other = await setup.startAnother({ OIDC_ISSUER: another.url });
    await setup.signIn();
    const browser = setup.browser();
    const { url } = await browser.open(`${other.url}/oidc/sign-in`, /\/oidc\/callback/);
    expect((await browser.open(url.replace(setup.service.url, other.url), /\/dashboard/)).status).toBe(303);
    const { body } = await setup.service.call('GET', '/api/v1/people');
    const adas = (body.data as { subject: string; issuer: string; id: string }[]).filter(
      ({ subject }) => subject === 'ada',
    );
    expect(adas.map(({ issuer }) => issuer).toSorted()).toEqual([setup.issuer.url, another.url].toSorted());
    expect(new Set(adas.map(({ id }) => id)).size).toBe(2);
    await another.close();
  });
});

describe('the log', () => {
  it('says why nobody was signed in, without tokens, codes and secrets', () => {
    const all = lines.join('');
    for (const reason of ['no group with a role', 'use app roles', 'invalid_grant', 'clocks differ by']) {
      expect(all).toContain(reason);
    }
    expect(all).not.toMatch(/eyJ[\w-]{10}|EXAMPLE-not-a-real-secret|code=|state=/);
  });
});
