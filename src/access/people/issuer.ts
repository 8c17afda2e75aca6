import type * as jose from 'jose';
import type * as openidClient from 'openid-client';
import type { Clock } from '../../base/runtime/clock.ts';
import { shareFor } from '../../base/runtime/share-for.ts';
import { authenticationBy } from './client-authentication.ts';
import type { Claims } from './groups.ts';
import { clockOff, issuerAway, reasonOf, SignInRefusal } from './sign-in-refusal.ts';

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
/** How old a logout token is at most, in seconds, besides the difference of clocks. */
const logoutAgeSeconds = 4 * 60;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** The least time between two reads of the keys, or of what an issuer says of itself that does not answer, in ms. */
const pauseMs = 5_000;

/** OpenID Connect with `openid-client`, which is loaded when it is first used. */
export function createIssuer(options: IssuerOptions): Issuer {
  const { issuer, clientId, clientSecret, scopes, name, clock } = options;
  let known:
    | {
        readonly library: Library;
        readonly configuration: openidClient.Configuration;
        readonly keys: Keys;
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

  const fetch: openidClient.CustomFetch = async (url, { method, headers, body, signal }) => {
    const text = body instanceof URLSearchParams ? body.toString() : (body as string | null | undefined);
    const answer = await options.fetch(url, { method, headers, body: text ?? null, signal: signal ?? null });
    const date = Date.parse(answer.headers.get('date') ?? '');
    // A date has whole seconds. What a cache answers has the date of an earlier answer.
    if (method === 'POST' && !Number.isNaN(date)) ahead = clock.now().getTime() - (date + 500);
    const content = await answer.arrayBuffer();
    return new Response(content.byteLength === 0 ? null : content, {
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
          execute: [
            library.enableNonRepudiationChecks,
            ...(issuer.startsWith('http:') ? [library.allowInsecureRequests] : []),
          ],
        },
      )
      .catch((error: unknown) => {
        throw away(reasonOf(error));
      });
    const said = configuration.serverMetadata().issuer;
    // The library lets issuers of several tenants name another one. Then anybody could have an account there.
    if (new URL(said).href !== new URL(issuer).href) {
      throw away('OIDC_ISSUER is not what the issuer calls itself');
    }
    const keys = await createKeys(configuration);
    if (failure?.isOfSignIn === false) failure = undefined;
    return { library, configuration, keys, until: clock.monotonic() + metadataMs };
  });
  const read = async (): Promise<NonNullable<typeof known>> => {
    if (known === undefined || clock.monotonic() >= known.until) known = await discover();
    return known;
  };

  /** The keys for logout tokens. Everybody can send one with an unknown key, so they are not read each time. */
  const createKeys = async (configuration: openidClient.Configuration): Promise<Keys> => {
    const library = await import('jose');
    const { jwks_uri: address = '' } = configuration.serverMetadata();
    if (!URL.canParse(address)) throw away('the issuer does not say where its keys are');
    let readAt = -Infinity;
    const get = library.createRemoteJWKSet(new URL(address), {
      timeoutDuration: timeoutSeconds * 1_000,
      async [library.customFetch](url, { headers, signal, ...rest }) {
        if (clock.monotonic() - readAt < pauseMs) throw new Error('the keys were read a moment ago');
        readAt = clock.monotonic();
        const sent = { ...rest, headers: Object.fromEntries(headers), signal, body: null };
        return await fetch(url, sent).catch((error: unknown) => {
          fails(reasonOf(error));
          throw error;
        });
      },
    });
    return { library, get };
  };

  const requireSameTime = (): void => {
    if (ahead !== undefined && Math.abs(ahead) > toleranceSeconds * 1_000) throw clockOff(name, ahead);
  };
  /** The library does not look. A proxy in front of the issuer can have a right clock, and `Date` is the proxy's then. */
  const requireIssued = (issuedAt: number): void => {
    const since = clock.now().getTime() - issuedAt * 1_000;
    if (since < -toleranceSeconds * 1_000) throw clockOff(name, since);
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
      const { issuer: expected, id_token_signing_alg_values_supported: algorithms = ['RS256'] } =
        configuration.serverMetadata();
      const { payload } = await keys.library
        .jwtVerify(token, keys.get, {
          issuer: expected,
          audience: clientId,
          algorithms: algorithms.filter((one) => !/^(none|HS)/.test(one)),
          requiredClaims: ['iat', 'jti', 'events'],
          maxTokenAge: logoutAgeSeconds,
          clockTolerance: toleranceSeconds,
          currentDate: clock.now(),
        })
        .catch((error: unknown) => {
          // Without the keys, nobody knows: the issuer can send it again.
          const isKnown =
            error instanceof keys.library.errors.JOSEError && /^ERR_(JWT|JWS|JOSE_ALG|JWKS_NO)/.test(error.code);
          throw isKnown ? badLogout(reasonOf(error)) : issuerAway(name, reasonOf(error));
        });
      const { sub, sid, jti = '', nonce, events } = payload;
      const event: unknown = (events as Readonly<Record<string, unknown>> | null | undefined)?.[logoutEvent];
      if (typeof event !== 'object' || event === null) throw badLogout('it has no event of a logout');
      if (nonce !== undefined) throw badLogout('it has a nonce');
      if (typeof jti !== 'string' || jti === '') throw badLogout('it has no jti');
      if (sub === undefined && sid === undefined) throw badLogout('it names neither subject nor session');
      if (sub !== undefined && !isName(sub)) throw badLogout('its subject is empty');
      if (sid !== undefined && !isName(sid)) throw badLogout('its session is empty');
      return { issuer: expected, subject: sub, sid, jti };
    },
    async finish(callback, { state, nonce, verifier }) {
      const { library, configuration } = await read();
      const refuse = (error: unknown): never => {
        requireSameTime();
        const refusal = refusalOf(error, library, name);
        if (refusal.status === 503 || isOfClient(error, library)) fails(reasonOf(refusal), isAnswered(error, library));
        throw refusal;
      };
      const tokens = await library
        .authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        .catch(refuse);
      requireSameTime();
      const claims = tokens.claims();
      const { id_token: idToken, access_token: accessToken } = tokens;
      if (claims === undefined || idToken === undefined) throw badAnswer(name, 'no ID token');
      if (!isName(claims.sub)) throw badAnswer(name, 'the ID token has an empty subject');
      requireIssued(claims.iat);
      const { azp = clientId } = claims;
      if (azp !== clientId) throw badAnswer(name, 'the ID token is for another client (azp)');
      failure = undefined;
      return {
        claims,
        idToken,
        async userInfo() {
          if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
          return await library.fetchUserInfo(configuration, accessToken, claims.sub).catch(refuse);
        },
      };
    },
  };
}

/** Whether a claim can name somebody. An empty one would be the same for all whom an issuer gives no name. */
function isName(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.trim() !== '';
}

type Library = typeof openidClient;

interface Keys {
  readonly library: typeof jose;
  readonly get: ReturnType<typeof jose.createRemoteJWKSet>;
}

/** Codes of the library for answers that did not come, or were no answers of an issuer. */
const awayCodes: ReadonlySet<unknown> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM']);

function refusalOf(error: unknown, library: Library, name: string): SignInRefusal {
  if (error instanceof library.AuthorizationResponseError) {
    return new SignInRefusal(403, 'Not signed in', `${name} did not sign you in.`, wordOf(error.error));
  }
  if (error instanceof library.ResponseBodyError) {
    if (error.error === 'invalid_grant') {
      return new SignInRefusal(400, 'Not signed in', 'This sign-in was used before or has expired.', error.error);
    }
    return badAnswer(name, wordOf(error.error));
  }
  const isAway = error instanceof library.ClientError && (error.code === undefined || awayCodes.has(error.code));
  return isAway ? issuerAway(name, reasonOf(error)) : badAnswer(name, reasonOf(error));
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
