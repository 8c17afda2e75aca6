/** What needs attention while nobody can sign in. Nothing asks the issuer for it but sign-ins, key fetches and readers. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { components } from '../../../generated/types.ts';
import { createMovableClock } from '../../support/clock.ts';
import type { TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import type { Tampered } from './issuer-harness.ts';
import { setUpPeople } from './people-harness.ts';

type Item = components['schemas']['AttentionItem'];

const clock = createMovableClock();
const setup = setUpPeople({}, { clock });
const attention = async (service?: TestService): Promise<Item[]> =>
  (await (service ?? setup.service).call('GET', '/api/v1/attention')).body.data as Item[];
const signIn = async (): Promise<number> => (await setup.signIn()).visited.status;
/** The clock of the issuer goes with that of the service. @param more what replaces the answer of the token endpoint */
const answer = (more: Tampered = {}): void => {
  setup.issuer.tamper = (path, { headers }) => {
    const inTime = { headers: { ...headers, date: clock.now().toUTCString() } };
    return Promise.resolve(path === '/token' ? { ...inTime, ...more } : inTime);
  };
};

beforeEach(() => {
  answer();
});
afterEach(async () => {
  answer();
  expect(await signIn()).toBe(303);
  expect(await attention()).toEqual([]);
});

describe('an issuer that does not answer', () => {
  it('needs attention since a sign-in has shown it, until it answers again', async () => {
    expect(await signIn()).toBe(303);
    const browser = setup.browser();
    const { url } = await browser.open(`${setup.service.url}/oidc/sign-in`, /\/oidc\/callback/);
    await setup.issuer.setUp(false);
    expect(await attention()).toEqual([]);
    expect((await browser.open(url)).status).toBe(503);
    const [item, ...others] = await attention();
    expect([item, others]).toEqual([
      {
        ...{ kind: 'identity-provider', id: 'oidc', name: 'Example Corp', status: 'failing' },
        ...{ since: expect.any(String), detail: expect.stringMatching(/^Example Corp: .*ECONNREFUSED/) },
      },
      [],
    ]);
    clock.advance(5_001);
    expect((await attention())[0]?.since).toBe(item?.since);
    await setup.issuer.setUp(true);
    // Whoever reads the list lets the service ask again.
    await until(
      async () => {
        clock.advance(5_001);
        return await attention();
      },
      (items) => items.length === 0,
    );
  });

  it('needs attention when its keys cannot be read for a logout token', async () => {
    const token = await setup.issuer.sign({}, { kid: 'unknown' });
    const other = await setup.startAnother();
    const send = async (): Promise<number> => {
      const body = new URLSearchParams({ logout_token: token });
      return (await fetch(`${other.url}/oidc/back-channel-logout`, { method: 'POST', body })).status;
    };
    expect((await fetch(`${other.url}/oidc/sign-in`, { redirect: 'manual' })).status).toBe(303);
    await setup.issuer.setUp(false);
    expect(await send()).toBe(503);
    expect(await attention(other)).toMatchObject([{ kind: 'identity-provider' }]);
    await setup.issuer.setUp(true);
    clock.advance(5_001);
    await until(
      () => attention(other),
      (items) => items.length === 0,
    );
    // With a key that there is not, as anybody can send it.
    clock.advance(5_001);
    for (let sent = 0; sent < 3; sent += 1) expect([400, 503]).toContain(await send());
    expect(await attention(other)).toEqual([]);
  });
});

describe('an issuer that answers, but not as a sign-in needs it', () => {
  it.each([
    ['fails', 500, '{}', 503],
    ['does not accept the secret any more', 401, '{"error":"invalid_client"}', 502],
  ])('because it %s needs attention until a sign-in succeeds', async (_, status, body, shown) => {
    answer({ status, body });
    expect(await signIn()).toBe(shown);
    expect(await attention()).toMatchObject([{ kind: 'identity-provider' }]);
    clock.advance(5_001);
    expect(await attention()).toMatchObject([{ kind: 'identity-provider' }]);
  });

  it('still needs attention after an ID token that is refused', async () => {
    answer({ status: 500, body: '{}' });
    await signIn();
    setup.issuer.tamper = (path, { headers, ...said }) => {
      const inTime = { ...said, headers: { ...headers, date: clock.now().toUTCString() } };
      return path === '/token' ? setup.issuer.reissue(inTime, (claims) => ({ ...claims, azp: 'another' })) : undefined;
    };
    expect(await signIn()).toBe(502);
    expect(await attention()).toMatchObject([{ kind: 'identity-provider' }]);
  });

  it('does not need attention because of a code that somebody has made up', async () => {
    const browser = setup.browser();
    const { url } = await browser.open(`${setup.service.url}/oidc/sign-in`, /\/oidc\/callback/);
    const forged = new URL(url);
    forged.searchParams.set('code', 'forged');
    expect((await browser.open(forged.href)).status).toBe(400);
    expect(await attention()).toEqual([]);
  });
});
