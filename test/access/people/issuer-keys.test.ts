/** Keys of an issuer that change. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose';
import { createMovableClock } from '../../support/clock.ts';
import { setUpPeople } from './people-harness.ts';

const clock = createMovableClock();
const setup = setUpPeople({ REFUSED_KEYS_LIMIT: 'off' }, { clock });

/** A key pair as an issuer has it. */
interface Key {
  readonly published: JWK;
  sign(claims: JWTPayload): Promise<string>;
}

/** @param kid undefined for a key without a name */
async function createKey(kid: string | undefined): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const name = kid === undefined ? {} : { kid };
  return {
    published: { ...(await exportJWK(publicKey)), ...name },
    sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', ...name }).sign(privateKey),
  };
}

/** What the issuer publishes; undefined: an answer that is none. */
let published: readonly Key[] | undefined;
/** What it signs with. */
let signing: Key;
const secondsNow = (): number => Math.floor(clock.now().getTime() / 1_000);
beforeEach(async () => {
  signing = await createKey('one');
  published = [signing];
  // Keys that earlier tests have published are old.
  clock.advance(300_000);
  setup.issuer.tamper = async (path, { headers, body }) => {
    // The clock of the issuer goes with that of the service.
    const inTime = { headers: { ...headers, date: clock.now().toUTCString() } };
    if (path === '/jwks') {
      if (published === undefined) return { status: 500 };
      return { ...inTime, body: JSON.stringify({ keys: published.map((key) => key.published) }) };
    }
    if (path !== '/token') return inTime;
    const tokens = JSON.parse(body) as { id_token: string };
    const times = { iat: secondsNow(), exp: secondsNow() + 600 };
    const id_token = await signing.sign({ ...decodeJwt(tokens.id_token), ...times });
    return { ...inTime, body: JSON.stringify({ ...tokens, id_token }) };
  };
});

const signIn = async (): Promise<number> => (await setup.signIn()).visited.status;
const signOut = async (key: Key): Promise<number> => {
  const logout_token = await key.sign({
    ...{ iss: setup.issuer.url, aud: 'gateway', sub: 'ada', jti: crypto.randomUUID() },
    ...{ iat: secondsNow(), exp: secondsNow() + 120 },
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  });
  const body = new URLSearchParams({ logout_token });
  return (await fetch(`${setup.service.url}/oidc/back-channel-logout`, { method: 'POST', body })).status;
};
const reads = (): number => setup.issuer.requests.filter((request) => request === 'GET /jwks').length;

/** From now on the issuer signs with this key. @param kept whether it still publishes the others */
function rotate(key: Key, kept: boolean): void {
  signing = key;
  published = [...(kept ? (published ?? []) : []), key];
}

describe('a key that takes the place of another', () => {
  it.each<[string, kids: [string | undefined, string | undefined], kept: boolean]>([
    ['under its name', ['one', 'one'], false],
    ['under its name, beside it', ['one', 'one'], true],
    ['under another name', ['one', 'two'], false],
    ['under another name, beside it', ['one', 'two'], true],
    ['without a name', [undefined, undefined], false],
    ['without a name, beside it', [undefined, undefined], true],
    ['with the first name', [undefined, 'one'], false],
  ])('counts for sign-ins and logout tokens: %s', async (_name, [kid, next], kept) => {
    signing = await createKey(kid);
    published = [signing];
    expect(await signIn()).toBe(303);
    const before = reads();
    for (const send of [signIn, () => signOut(signing)]) {
      rotate(await createKey(next), kept);
      clock.advance(60_001);
      expect(await send()).toBe(send === signIn ? 303 : 200);
    }
    expect(reads() - before).toBe(2);
  });

  it('is read once for all who need it at the same time', async () => {
    expect(await signIn()).toBe(303);
    rotate(await createKey('one'), false);
    clock.advance(60_001);
    const before = reads();
    expect(await Promise.all([signIn(), signIn(), signIn(), signOut(signing)])).toEqual([303, 303, 303, 200]);
    expect(reads() - before).toBe(1);
  });
});

it('a signature that fits no key reads the keys at most once a minute', async () => {
  expect(await signIn()).toBe(303);
  const wrong = [await createKey('one'), await createKey('other'), await createKey(undefined)];
  for (let minute = 0; minute < 3; minute += 1) {
    const before = reads();
    for (const key of wrong) for (let sent = 0; sent < 4; sent += 1) expect(await signOut(key)).toBe(400);
    expect(reads() - before).toBe(minute === 0 ? 0 : 1);
    clock.advance(60_001);
  }
});

it('while the keys cannot be read again, those that are known count, and nothing is said of other signatures', async () => {
  expect(await signIn()).toBe(303);
  const [known, next] = [signing, await createKey('two')];
  published = undefined;
  clock.advance(60_001);
  const before = reads();
  for (let sent = 0; sent < 3; sent += 1) expect(await signOut(next)).toBe(503);
  expect(await signOut(known)).toBe(200);
  expect(await signIn()).toBe(303);
  expect(reads() - before).toBe(1);
  rotate(next, false);
  clock.advance(5_001);
  expect(await signIn()).toBe(303);
});

it('a key that the issuer has removed counts for 5 minutes at most', async () => {
  expect(await signIn()).toBe(303);
  const removed = signing;
  published = [await createKey('two')];
  expect(await signOut(removed)).toBe(200);
  clock.advance(300_000);
  expect(await signOut(removed)).toBe(400);
  expect(await signIn()).toBe(502);
});
