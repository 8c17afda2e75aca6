import type { errors, JWTPayload, JWTVerifyOptions } from 'jose';
import type * as openidClient from 'openid-client';
import type { Clock } from '../../base/runtime/clock.ts';
import { shareFor } from '../../base/runtime/share-for.ts';
import { authenticationBy } from './client-authentication.ts';
import type { Claims } from './groups.ts';
import { createIssuerKeys, type IssuerKeys } from './issuer-keys.ts';
import { clockOff, issuerAway, issuerMisnamed, reasonOf, SignInRefusal } from './sign-in-refusal.ts';

export interface IssuerOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Separated by spaces. */
  readonly scopes: string;
  /** What pages call it. */
  readonly name: string;
  /** Follows no redirects, and reads no more than a limited number of bytes. */
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
}

/** What this service and the browser know of a sign-in that has begun. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE. */
  readonly verifier: string;
}

/** What an issuer has confirmed. */
export interface Confirmed {
  readonly claims: Claims & { readonly iss: string; readonly sub: string };
  /** The session at the issuer, if it names one. */
  readonly sid: string | undefined;
  readonly idToken: string;
  /** What the userinfo endpoint says of the same subject; nothing if there is no such endpoint. */
  userInfo(): Promise<Claims>;
}

/** The operator's identity provider. Every method can throw a `SignInRefusal`. */
export interface Issuer {
  /** Reads what the issuer says of itself, unless that is known. */
  check(): Promise<void>;
  begin(redirectUri: string): Promise<{ readonly location: URL; readonly checks: Checks }>;
  /** @param callback the address that the issuer sent the browser to, with its query */
  finish(callback: URL, checks: Checks): Promise<Confirmed>;
  /**
   * Where a browser signs out at the issuer; undefined if the issuer has no such page.
   * @param backTo where the issuer sends the browser then
   */
  signOutUrl(idToken: string, backTo: string): Promise<string | undefined>;
  /** What lets nobody sign in, by what this process has seen; undefined if nothing does. Asks the issuer again meanwhile. */
  failure(): IssuerFailure | undefined;
  /** Verifies the logout token of OpenID Connect Back-Channel Logout 1.0, section 2.6, but not that it is used once. */
  verifyLogout(token: string): Promise<LogoutToken>;
}

/** Why nobody can sign in. */
export interface IssuerFailure {
  readonly since: Date;
  readonly detail: string;
}

export interface LogoutToken {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  readonly jti: string;
}

/** How long a request to the issuer takes at most, in seconds. */
const timeoutSeconds = 5;
/** How long what the issuer says of itself is used, in milliseconds. */
const metadataMs = 3_600_000;
/** The largest difference of clocks, in seconds. */
const toleranceSeconds = 60;
const toleranceMs = toleranceSeconds * 1_000;
/** How old a logout token is at most, in seconds, besides the difference of clocks. */
const logoutAgeSeconds = 4 * 60;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** The least time between two reads of what an issuer says of itself, while it does not answer, in milliseconds. */
const pauseMs = 5_000;

/** OpenID Connect with `openid-client`, which is loaded when it is first used. */
export function createIssuer(options: IssuerOptions): Issuer {
  const { issuer, clientId, clientSecret, scopes, name, clock } = options;
  const isPlain = issuer.startsWith('http:');
  let known:
    | {
        readonly library: Library;
        readonly configuration: openidClient.Configuration;
        readonly keys: IssuerKeys;
        readonly until: number;
      }
    | undefined;
  /** How far the clock of this service is ahead, by the `Date` of the last answer to a POST, in milliseconds. */
  let ahead: number | undefined;

  let failure: (IssuerFailure & { readonly isOfSignIn: boolean }) | undefined;
  /**
   * Remembers what lets nobody sign in.
   * @param isOfSignIn whether the issuer answers, but not as a sign-in needs it: only a sign-in shows that this is over
   */
  const fails = (reason: string, isOfSignIn = false): void => {
    failure = { since: failure?.since ?? clock.now(), detail: `${name}: ${reason}`, isOfSignIn };
  };
  const away = (reason: string): SignInRefusal => {
    fails(reason);
    return issuerAway(name, reason);
  };

  /** @param said what the issuer calls itself */
  const misnamed = (said: string): SignInRefusal => {
    const refusal = issuerMisnamed(name, issuer, said);
    fails(reasonOf(refusal));
    return refusal;
  };

  const fetch: openidClient.CustomFetch = async (url, { method, headers, body, signal }) => {
    const text = body instanceof URLSearchParams ? body.toString() : (body as string | null | undefined);
    const answer = await options.fetch(url, { method, headers, body: text ?? null, signal: signal ?? null });
    const date = Date.parse(answer.headers.get('date') ?? '');
    // A date has whole seconds. What a cache answers has the date of an earlier answer.
    if (method === 'POST') ahead = Number.isNaN(date) ? undefined : clock.now().getTime() - (date + 500);
    const content = Buffer.from(await answer.arrayBuffer());
    const shown = method === 'POST' ? hideIdToken(content) : content;
    return new Response(shown.byteLength === 0 ? null : shown, {
      status: answer.status,
      headers: [...answer.headers],
    });
  };

  const discover = shareFor(pauseMs, clock, async (): Promise<NonNullable<typeof known>> => {
    const library = await import('openid-client');
    const configuration = await library
      .discovery(
        new URL(issuer),
        clientId,
        { client_secret: clientSecret, [library.clockTolerance]: toleranceSeconds },
        authenticationBy(library, clientSecret),
        {
          [library.customFetch]: fetch,
          timeout: timeoutSeconds,
          execute: isPlain ? [library.allowInsecureRequests] : [],
        },
      )
      .catch((error: unknown) => {
        const said = otherIssuer(error, library);
        throw said === undefined ? away(reasonOf(error)) : misnamed(said);
      });
    const said = configuration.serverMetadata().issuer;
    // The library lets issuers of several tenants name another one. Then anybody could have an account there.
    if (new URL(said).href !== new URL(issuer).href) throw misnamed(said);
    const keys = await createKeys(configuration);
    if (failure?.isOfSignIn === false) {
      await keys.check();
      failure = undefined;
    }
    return { library, configuration, keys, until: clock.monotonic() + metadataMs };
  });
  const read = async (): Promise<NonNullable<typeof known>> => {
    if (known === undefined || clock.monotonic() >= known.until) known = await discover();
    return known;
  };

  const createKeys = async (configuration: openidClient.Configuration): Promise<IssuerKeys> => {
    const { jwks_uri: address = '' } = configuration.serverMetadata();
    if (!URL.canParse(address)) throw away('the issuer does not say where its keys are');
    if (!isPlain && !address.startsWith('https:')) throw away('the address of its keys does not begin with https');
    return await createIssuerKeys({
      async read() {
        const signal = AbortSignal.timeout(timeoutSeconds * 1_000);
        const headers = { accept: 'application/json, application/jwk-set+json' };
        const answer = await options.fetch(address, { headers, signal });
        if (answer.status !== 200) throw new Error(`its keys cannot be read: status ${answer.status}`);
        return await answer.json();
      },
      away: (error) => away(reasonOf(error)),
      clock,
    });
  };
  /** What the claims of each token must be, and which algorithms the issuer may sign it with. */
  const expectedOf = (configuration: openidClient.Configuration): Expected => {
    const { issuer: expected, id_token_signing_alg_values_supported: named } = configuration.serverMetadata();
    return {
      issuer: expected,
      audience: clientId,
      algorithms: algorithmsOf(named) ?? ['RS256'],
      clockTolerance: toleranceSeconds,
      currentDate: clock.now(),
    };
  };

  /**
   * Refuses a token if its own time shows that a clock is wrong. The `Date` of an answer alone shows nothing: a proxy can
   * have written it. A token from some minutes ago alone shows nothing, either: some issuers date their tokens back.
   */
  const requireSameTime = ({ iat }: JWTPayload): void => {
    const since = iat === undefined ? 0 : clock.now().getTime() - iat * 1_000;
    const isConfirmed = ahead !== undefined && Math.abs(since - ahead) <= toleranceMs;
    if (since < -toleranceMs || (since > toleranceMs && isConfirmed)) throw clockOff(name, since);
  };

  return {
    async check() {
      await read();
    },
    failure() {
      if (failure?.isOfSignIn === false) void discover().catch(() => undefined);
      return failure;
    },
    async begin(redirectUri) {
      const { library, configuration } = await read();
      const checks = {
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
      };
      const location = library.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopes,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
        response_mode: 'query',
      });
      return { location, checks };
    },
    async signOutUrl(idToken, backTo) {
      const { library, configuration } = await read();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      const parameters = { id_token_hint: idToken, post_logout_redirect_uri: backTo };
      return library.buildEndSessionUrl(configuration, parameters).href;
    },
    async verifyLogout(token) {
      const { configuration, keys } = await read();
      const expected = expectedOf(configuration);
      const required = { requiredClaims: ['iat', 'jti', 'events'], maxTokenAge: logoutAgeSeconds };
      const payload = await keys.verify(token, { ...expected, ...required }, (error) => badLogout(reasonOf(error)));
      const { sub, sid, jti = '', nonce, events } = payload;
      const event: unknown = (events as Readonly<Record<string, unknown>> | null | undefined)?.[logoutEvent];
      if (typeof event !== 'object' || event === null) throw badLogout('it has no event of a logout');
      if (nonce !== undefined) throw badLogout('it has a nonce');
      if (typeof jti !== 'string' || jti === '') throw badLogout('it has no jti');
      if (sub === undefined && sid === undefined) throw badLogout('it names neither subject nor session');
      if (sub !== undefined && !isName(sub)) throw badLogout('its subject is no name');
      if (sid !== undefined && !isName(sid)) throw badLogout('its session is no name');
      return { issuer: expected.issuer, subject: sub, sid, jti };
    },
    async finish(callback, { state, nonce, verifier }) {
      const { library, configuration, keys } = await read();
      const refuse = (error: unknown): never => {
        const refusal = refusalOf(error, library, name, ahead);
        if (refusal.status === 503 || isOfClient(error, library)) fails(reasonOf(refusal), isAnswered(error, library));
        throw refusal;
      };
      const checks = { expectedState: state, pkceCodeVerifier: verifier };
      const tokens = await library.authorizationCodeGrant(configuration, callback, checks).catch(refuse);
      const { [hiddenIdToken]: idToken, access_token: accessToken } = tokens;
      if (typeof idToken !== 'string') throw badAnswer(name, 'no ID token');
      const expected = { ...expectedOf(configuration), requiredClaims: ['exp', 'iat', 'sub'] };
      const claims = await keys.verify(idToken, expected, (error) => {
        const { claim, payload } = error as Partial<errors.JWTClaimValidationFailed>;
        if (payload !== undefined && (claim === 'exp' || claim === 'nbf')) requireSameTime(payload);
        return badAnswer(name, reasonOf(error));
      });
      const { sub, sid, azp = clientId } = claims;
      if (!isName(sub)) throw badAnswer(name, 'the subject of the ID token is no name');
      if (typeof sid === 'string' && sid.length > longestName)
        throw badAnswer(name, 'the session of the ID token is too long');
      requireSameTime(claims);
      if (claims['nonce'] !== nonce) throw badAnswer(name, 'the ID token is of another sign-in (nonce)');
      // Several audiences need no `azp` (OpenID Connect Core 1.0 with errata set 2, section 3.1.3.7).
      if (azp !== clientId) throw badAnswer(name, 'the ID token is for another client (azp)');
      failure = undefined;
      /** OpenID Connect Core 1.0, section 5.3.2: it can leave out issuer and audience. */
      const verifyUserInfo = async (token: string, algorithms: string[]): Promise<Claims> => {
        const { issuer: _, audience: __, ...others } = expectedOf(configuration);
        const said = await keys.verify(token, { ...others, algorithms }, (error) =>
          badAnswer(name, `userinfo: ${reasonOf(error)}`),
        );
        const { iss = expected.issuer, aud = clientId } = said;
        if (iss !== expected.issuer || ![aud].flat().includes(clientId)) {
          throw badAnswer(name, 'what the userinfo endpoint has signed is of another issuer or for another client');
        }
        return said;
      };
      return {
        claims: { ...claims, iss: expected.issuer, sub },
        sid: isName(sid) ? sid : undefined,
        idToken,
        async userInfo() {
          const { userinfo_endpoint: address, userinfo_signing_alg_values_supported: named } =
            configuration.serverMetadata();
          if (address === undefined) return {};
          const accept = new Headers({ accept: 'application/json, application/jwt' });
          const answer = await library
            .fetchProtectedResource(configuration, accessToken, new URL(address), 'GET', undefined, accept)
            .catch(refuse);
          if (answer.status !== 200) {
            const reason = `the userinfo endpoint answers ${answer.status}`;
            fails(reason, true);
            throw issuerAway(name, reason);
          }
          const text = (await answer.text()).trim();
          // Some send a signed answer under another type.
          const said = text.startsWith('{')
            ? parsed(text)
            : await verifyUserInfo(text, algorithmsOf(named) ?? expected.algorithms);
          if (said?.['sub'] !== sub) throw badAnswer(name, 'the userinfo endpoint says nothing of this subject');
          return said;
        },
      };
    },
  };
}

/** The most characters of a subject (OpenID Connect Core 1.0, section 2), and of a session. */
const longestName = 255;

/** Whether a claim can name somebody, or a session. An empty one would be the same for all whom an issuer gives no name. */
function isName(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.trim() !== '' && claim.length <= longestName;
}

/** The algorithms with a key that everybody may know; undefined if none is named. */
function algorithmsOf(named: unknown): string[] | undefined {
  const asymmetric = Array.isArray(named) ? named.filter((one) => !/^(none|HS)/.test(String(one))) : [];
  return asymmetric.length === 0 ? undefined : asymmetric;
}

/** Undefined if it is no JSON. */
function parsed(text: string): Claims | undefined {
  try {
    return JSON.parse(text) as Claims;
  } catch {
    return undefined;
  }
}

/** The member with the ID token in an answer of the token endpoint, as the library gets it. */
const hiddenIdToken = 'hidden_id_token';

/**
 * Renames the ID token in an answer of the token endpoint. The library would refuse one with several audiences, and would
 * not look whether a key has changed.
 */
function hideIdToken(answer: Buffer): Buffer {
  try {
    const { id_token: idToken, ...others } = JSON.parse(answer.toString()) as Record<string, unknown>;
    return idToken === undefined ? answer : Buffer.from(JSON.stringify({ ...others, [hiddenIdToken]: idToken }));
  } catch {
    return answer;
  }
}

/** What a token of the issuer must be. */
type Expected = JWTVerifyOptions & { readonly issuer: string; readonly algorithms: string[] };

type Library = typeof openidClient;

/** Codes of the library for answers that did not come, or were no answers of an issuer. */
const awayCodes: ReadonlySet<unknown> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM']);

/** @param ahead how far the clock of this service is ahead of the `Date` of the answer, in milliseconds */
function refusalOf(error: unknown, library: Library, name: string, ahead = 0): SignInRefusal {
  if (error instanceof library.AuthorizationResponseError) {
    return new SignInRefusal(403, 'Not signed in', `${name} did not sign you in.`, wordOf(error.error));
  }
  if (error instanceof library.ResponseBodyError) {
    if (error.error === 'invalid_grant') {
      return new SignInRefusal(400, 'Not signed in', 'This sign-in was used before or has expired.', error.error);
    }
    // With `client_secret_jwt`, the issuer refuses what our clock has dated.
    const isDated = Math.abs(ahead) <= toleranceMs || !isOfClient(error, library);
    const more = isDated ? '' : `; its Date header differs by ${Math.round(Math.abs(ahead) / 1_000)} seconds`;
    return badAnswer(name, wordOf(error.error) + more);
  }
  const isAway = error instanceof library.ClientError && (error.code === undefined || awayCodes.has(error.code));
  return isAway ? issuerAway(name, reasonOf(error)) : badAnswer(name, reasonOf(error));
}

/** What an issuer calls itself, if discovery has failed because that is something else. */
function otherIssuer(error: unknown, library: Library): string | undefined {
  if (!(error instanceof library.ClientError)) return undefined;
  const { attribute, body } = (error.cause ?? {}) as { attribute?: unknown; body?: { issuer?: unknown } };
  return attribute === 'issuer' && typeof body?.issuer === 'string' ? body.issuer : undefined;
}

/** Whether the issuer does not know this service, or its secret, any more. */
function isOfClient(error: unknown, library: Library): boolean {
  return error instanceof library.ResponseBodyError && /^(invalid|unauthorized)_client$/.test(error.error);
}

/** Whether something answered, although not as an issuer that works does. */
function isAnswered(error: unknown, library: Library): boolean {
  return (
    error instanceof library.ResponseBodyError ||
    (error instanceof library.ClientError && error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
  );
}

function badLogout(reason: string): SignInRefusal {
  return new SignInRefusal(400, 'Not signed out', 'The logout token is not valid.', reason);
}

function badAnswer(name: string, reason: string): SignInRefusal {
  const text = `What ${name} answered is not valid, so nobody was signed in. The log of the service says why.`;
  return new SignInRefusal(502, 'Not signed in', text, reason);
}

/** A code of the protocol; nothing longer, because an issuer can answer anything. */
function wordOf(code: string): string {
  return /^[a-z_]{1,60}$/.test(code) ? code : 'another error';
}
