import { describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import { cookieFor } from '../sessions/sessions-harness.ts';
import { setUpPeople, type Browser } from './people-harness.ts';

const clock = createMovableClock();
const logged: string[] = [];
const setup = setUpPeople({}, { clock, print: (line) => logged.push(line) });
const { signIn } = setup;

const whoami = async (browser: Browser): Promise<Record<string, unknown>> =>
  (await browser.call('GET', '/api/v1/whoami')).body as Record<string, unknown>;
const statusOf = async (browser: Browser): Promise<number> => (await browser.call('GET', '/api/v1/whoami')).status;
const ownCookie = (browser: Browser): string | undefined =>
  browser.cookies.get(setup.service.url)?.get('prompt-gateway-session');

describe('a sign-in', () => {
  it('begins a session of the person, with the scopes of its roles', async () => {
    setup.issuer.account = { sub: 'lovelace', name: 'Ada Lovelace', email: 'ada@example.com', groups: ['devs', 'x'] };
    const { browser, visited } = await signIn();
    expect(visited.url).toBe(`${setup.service.url}/dashboard#signed-in`);
    const body = await whoami(browser);
    expect(body).toMatchObject({ type: 'person', name: 'Ada Lovelace', roles: ['editor'], administrator: false });
    expect(body['scopes']).toContain('prompts:write');
    expect(Date.parse(String(body['expires_at'])) - clock.now().getTime()).toBeGreaterThan(12 * 3_600_000 - 60_000);
    expect((await browser.call('GET', '/api/v1/prompts')).status).toBe(200);
    expect((await browser.call('GET', '/api/v1/people')).status).toBe(403);
    const { body: person } = await setup.service.call('GET', `/api/v1/people/${String(body['id'])}`);
    expect(person).toMatchObject({ issuer: setup.issuer.url, subject: 'lovelace', email: 'ada@example.com' });
  });

  it('asks by the code flow with PKCE, state and nonce, and for the answer in the query', async () => {
    const { headers } = await setup.browser().open(`${setup.service.url}/oidc/sign-in`, /./);
    const query = new URL(headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(query)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', response_mode: 'query', client_id: 'gateway' },
      ...{ redirect_uri: `${setup.service.url}/oidc/callback`, scope: 'openid profile email' },
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(query.get(name)).toMatch(/^[\w-]{43}$/);
    expect(headers.get('set-cookie')).toMatch(
      /^prompt-gateway-oidc-[0-9a-f]{16}=v1\.[0-9a-f]{16}\.[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('leaves no cookie but that of the session, which no other site gets', async () => {
    const { browser, visited } = await signIn();
    const set = visited.headers.getSetCookie();
    expect(set).toContainEqual(
      expect.stringMatching(/^prompt-gateway-session=v1\.[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/),
    );
    expect([...(browser.cookies.get(setup.service.url)?.keys() ?? [])]).toEqual(['prompt-gateway-session']);
  });

  it('is recorded in the audit log under the name of the person', async () => {
    setup.issuer.account = { sub: 'audited', name: 'Grace', groups: ['devs'] };
    const { browser } = await signIn();
    const { id } = await whoami(browser);
    const { body } = await setup.service.call('GET', `/api/v1/audit-log?author_id=${String(id)}`);
    const author = { type: 'person', id, name: 'Grace' };
    expect(body.data).toMatchObject([
      { operation: 'finishSignIn', resource_type: 'session', author, session_id: expect.any(String) },
      { operation: 'finishSignIn', resource_type: 'person', resource_id: id, author, after: { roles: ['editor'] } },
    ]);
  });

  it('takes the roles of the last sign-in: all of the groups, and none that was taken away', async () => {
    setup.issuer.account = { sub: 'moving', name: 'M', groups: ['devs', 'ops', 'devs'] };
    const { browser } = await signIn();
    const first = await whoami(browser);
    expect(first['roles']).toEqual(['editor', 'operator']);
    expect(first['scopes']).toEqual(expect.arrayContaining(['prompts:write', 'budgets:write']));
    setup.issuer.account = { sub: 'moving', name: 'M', groups: ['readers'] };
    const again = await signIn();
    expect(await whoami(again.browser)).toMatchObject({ id: first['id'], roles: ['viewer'] });
    clock.advance(5_000);
    expect((await whoami(browser))['roles']).toEqual(['viewer']);
  });

  it('ends the session that the browser had, of a person or of a key', async () => {
    const { browser } = await signIn();
    const before = browser.cookies.get(setup.service.url)?.get('prompt-gateway-session') ?? '';
    await signIn(browser);
    expect(await statusOf(browser)).toBe(200);
    const [name, value] = (await cookieFor(setup.service, setup.service.adminKey)).split('=');
    const keyBrowser = setup.browser();
    keyBrowser.cookies.set(setup.service.url, new Map([[name ?? '', value ?? '']]));
    await signIn(keyBrowser);
    expect((await whoami(keyBrowser))['type']).toBe('person');
    for (const old of [before, value]) {
      const stolen = setup.browser();
      stolen.cookies.set(setup.service.url, new Map([['prompt-gateway-session', old ?? '']]));
      expect(await statusOf(stolen)).toBe(401);
    }
  });

  it('in several tabs of a browser is finished in each, in any order, and leaves one session', async () => {
    const browser = setup.browser();
    const begin = async (to: string): Promise<string> =>
      (await browser.open(`${setup.service.url}/oidc/sign-in?to=${to}`, /\/oidc\/callback/)).url;
    const tabs = [await begin('/dashboard/a'), await begin('/dashboard/b'), await begin('/dashboard/c')];
    const sessions: (string | undefined)[] = [];
    for (const [tab, to] of [
      [1, 'b'],
      [0, 'a'],
      [2, 'c'],
    ] as const) {
      const { url } = await browser.open(tabs[tab] ?? '', /\/dashboard/);
      expect(url).toBe(`${setup.service.url}/dashboard/${to}#signed-in`);
      expect(await statusOf(browser)).toBe(200);
      sessions.push(ownCookie(browser));
    }
    expect([...(browser.cookies.get(setup.service.url)?.keys() ?? [])]).toEqual(['prompt-gateway-session']);
    for (const ended of sessions.slice(0, 2)) {
      const stolen = setup.browser();
      stolen.cookies.set(setup.service.url, new Map([['prompt-gateway-session', ended ?? '']]));
      expect(await statusOf(stolen)).toBe(401);
    }
  });

  it('that is refused leaves those in other tabs', async () => {
    const browser = setup.browser();
    const begin = async (): Promise<URL> =>
      new URL((await browser.open(`${setup.service.url}/oidc/sign-in`, /\/oidc\/callback/)).url);
    const [one, other, third] = [await begin(), await begin(), await begin()];
    one.searchParams.set('code', 'forged');
    expect((await browser.open(one.href)).status).toBe(400);
    const [unknown, without] = [new URL(third), new URL(third)];
    unknown.searchParams.set('state', 'x'.repeat(43));
    without.searchParams.delete('state');
    for (const forged of [unknown, without]) expect((await browser.open(forged.href)).status).toBe(400);
    for (const left of [third, other]) expect((await browser.open(left.href, /\/dashboard/)).status).toBe(303);
  });

  it('can be begun any number of times: of the cookies, only the newest stay', async () => {
    const browser = setup.browser();
    const oldest = await browser.open(`${setup.service.url}/oidc/sign-in`, /\/oidc\/callback/);
    const header = (): string =>
      [...(browser.cookies.get(setup.service.url) ?? [])].map((pair) => pair.join('=')).join('; ');
    let newest = oldest;
    for (const to of ['/dashboard', `/dashboard/${'x'.repeat(900)}`]) {
      for (let begun = 0; begun < 8; begun += 1) {
        newest = await browser.open(`${setup.service.url}/oidc/sign-in?to=${to}`, /\/oidc\/callback/);
        expect(header().length).toBeLessThan(4_200);
      }
    }
    expect((await browser.open(oldest.url)).status).toBe(400);
    expect((await browser.open(newest.url, /\/dashboard/)).status).toBe(303);
  });

  it('that begins on a page of another site goes on from a page of its own, which has the cookie', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    const begin = (query: string): Promise<Response> =>
      fetch(`${setup.service.url}/oidc/sign-in${query}`, { redirect: 'manual', headers });
    const answer = await begin('?to=%2Fdashboard%2Fprompts%3Fq%3D%22');
    const again = `${setup.service.url}/oidc/sign-in?to=%2Fdashboard%2Fprompts%3Fq%3D%22`;
    expect([answer.status, answer.headers.get('refresh'), answer.headers.getSetCookie()]).toEqual([
      200,
      `0;url=${again}`,
      [],
    ]);
    expect(await answer.text()).toContain(`href="${again}"`);
    expect((await begin('')).headers.get('refresh')).toBe(`0;url=${setup.service.url}/oidc/sign-in`);
  });

  it('returns to the page that was asked for', async () => {
    const { visited } = await signIn(undefined, '?to=%2Fdashboard%2Fprompts%3Fq%3Da');
    expect(visited.url).toBe(`${setup.service.url}/dashboard/prompts?q=a#signed-in`);
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/\t/evil.example', '/a#b', 'dashboard', ''])(
    'returns to the dashboard, not to %j',
    async (to) => {
      const { visited } = await signIn(undefined, `?to=${encodeURIComponent(to)}`);
      expect(visited.url).toBe(`${setup.service.url}/dashboard#signed-in`);
    },
  );
});

describe('the session of a person', () => {
  it('ends 12 hours after the sign-in, however much it is used', async () => {
    const { browser } = await signIn();
    clock.advance(11.9 * 3_600_000);
    const used = await browser.call('GET', '/api/v1/whoami');
    expect([used.status, used.headers['set-cookie']]).toEqual([200, undefined]);
    clock.advance(0.1 * 3_600_000);
    expect(await statusOf(browser)).toBe(401);
    // The clock of the issuer is that of the machine.
    clock.advance(-12 * 3_600_000);
  });

  it('ends when the person signs out, and leaves other sessions', async () => {
    const [one, other] = [(await signIn()).browser, (await signIn()).browser];
    const cookie = ownCookie(one);
    expect((await one.call('DELETE', '/api/v1/session')).status).toBe(200);
    expect(ownCookie(one)).toBeUndefined();
    const copy = setup.browser();
    copy.cookies.set(setup.service.url, new Map([['prompt-gateway-session', cookie ?? '']]));
    expect(await statusOf(copy)).toBe(401);
    expect(await statusOf(other)).toBe(200);
  });

  it('is useless to a page of another origin', async () => {
    const { browser } = await signIn();
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      expect((await browser.call('GET', '/api/v1/whoami', { headers })).status).toBe(401);
    }
  });
});

describe('what people make', () => {
  it('is a key that works on its own and names them', async () => {
    setup.issuer.account = { sub: 'maker', name: 'Maker', groups: ['ops', 'devs'] };
    const { browser } = await signIn();
    const { id } = await whoami(browser);
    const body = { name: 'Service', scopes: ['prompts:read', 'keys:manage'] };
    const made = await browser.call('POST', '/api/v1/api-keys', { body });
    expect(made.body).toMatchObject({ author: { type: 'person', id, name: 'Maker' } });
    const key = String(made.body.key);
    const further = await setup.service.call('POST', '/api/v1/api-keys', {
      key,
      body: { name: 'y', scopes: ['prompts:read'] },
    });
    expect(further.body.author).toMatchObject({ type: 'key', id: made.body.id });
    await setup.service.call('PUT', `/api/v1/people/${String(id)}`, { body: { disabled: true } });
    clock.advance(5_000);
    expect((await setup.service.call('GET', '/api/v1/prompts', { key })).status).toBe(200);
    expect((await setup.service.call('GET', '/api/v1/prompts', { key: String(further.body.key) })).status).toBe(200);
  });

  it('is no key with a scope that they lack', async () => {
    setup.issuer.account = { sub: 'operator', name: 'Op', groups: ['ops'] };
    const { browser } = await signIn();
    const body = { name: 'More', scopes: ['prompts:invoke'] };
    const refused = await browser.call('POST', '/api/v1/api-keys', { body });
    expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('Op lacks prompts:invoke')]);
  });
});

describe('GET /', () => {
  it('says how people sign in', async () => {
    const { body } = await setup.service.call('GET', '/', { key: null });
    expect(body.sign_in).toEqual({ api_key: true, oidc: { name: 'Example Corp', path: '/oidc/sign-in' } });
  });
});
