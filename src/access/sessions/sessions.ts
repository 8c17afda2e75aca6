import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { auditEntry, type Author } from '../audit/author.ts';
import { auditedSession, type People } from '../people/people.ts';
import type { PersonSession } from '../people/person.ts';
import type { Role } from '../people/roles.ts';
import type { AuthenticatedKey, Authentication, CurrentKey } from '../api-keys/authentication.ts';
import { hashSecret } from '../api-keys/api-keys.ts';
import type { RefusedKeys } from '../api-keys/refused-keys.ts';
import { unauthenticated } from '../api-keys/unauthenticated.ts';
import { createLookUps, watchLookUps } from '../look-ups.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import type { SecretBox } from '../../base/secrets/secret-box.ts';
import { atPublicUrl, pageOrigin, type PageRequest } from './page-origin.ts';
import {
  openSession,
  readCookies,
  sealSession,
  writeCookie,
  type KeySession,
  type SessionName,
} from './session-cookie.ts';
import type { SessionStore } from './session-store.ts';

/** The parts of a request that sessions read. */
export interface SessionRequest extends PageRequest {
  /** The client's address. */
  readonly ip?: string | undefined;
}

/** The caller of a request with a session: its person or its key, with what concerns the session. */
export interface SessionCaller extends AuthenticatedKey {
  readonly sessionId?: string;
  /** When it ends unless it is renewed. */
  readonly sessionEndsAt?: Date;
  /** Of a person. */
  readonly roles?: readonly Role[];
  /** `Set-Cookie` of the answer, if the session is renewed. */
  readonly renewedCookie?: string;
}

/** A request that signs in or out. */
interface SessionAuthor extends Author {
  readonly caller: SessionRequest;
}

/** What signs in: one of both. */
export interface Credentials {
  readonly apiKey?: string | undefined;
  readonly signInToken?: string | undefined;
}

export interface NewSession {
  readonly key: AuthenticatedKey;
  readonly expiresAt: Date;
  /** `Set-Cookie` of the answer. */
  readonly cookie: string;
}

/**
 * Sessions of browsers on pages of the service's own origin.
 *
 * The session of a key is not stored. It is in its cookie, so any process can read it, with a hash of the key's hash: it
 * ends with its key, and a key of a new database with the same id does not continue it. Signing out stores the session's
 * id, which also ends copies of the cookie and cookies that renewed it. The session of a person is a document, which
 * its cookie names (`people/`).
 */
export interface Sessions {
  /**
   * Authenticates the caller of a request: by its session if it has a cookie, comes from a page of the same origin and
   * has no API key; otherwise by its API key.
   * @throws {ProblemError} as {@link Authentication.authenticate}; unauthenticated if the session has ended
   */
  authenticate(request: SessionRequest): Promise<SessionCaller>;
  /**
   * Exchanges an API key or the token of a sign-in link for a session.
   * @throws {ProblemError} cross-origin for a page of another origin; unauthenticated; rate-limited if too many keys and
   *   tokens from the caller's address were refused
   */
  create(credentials: Credentials, author: SessionAuthor): Promise<NewSession>;
  /** Ends a session, also for copies of its cookie. @returns the ID token of a person's session, if it is kept */
  end(session: SessionName, author: Author): Promise<string | undefined>;
  /**
   * Calls back once, at most 5 seconds after the session of a caller has ended, or its key must not read on: the answer
   * of a request with a session ends with it, and an endless one with its key.
   * @returns stops this; undefined if nothing ends the answer
   */
  watch(caller: SessionCaller, onEnd: (error: unknown) => void, isEndless: boolean): (() => void) | undefined;
  /** What the cookie of a request names, whether it has ended or not; undefined without a cookie that can be read. */
  opened(request: SessionRequest): SessionName | undefined;
  /** `Set-Cookie` for a person's session; the one that removes the cookie without a session. */
  cookieOf(session: Pick<PersonSession, 'id' | 'startedAt' | 'endsAt'> | undefined, request: SessionRequest): string;
  /** Creates a link that signs in with a key once, within ten minutes. @returns its token, the only copy */
  createLink(keyId: string): Promise<string>;
}

export interface SessionsOptions {
  readonly store: SessionStore;
  readonly authentication: Pick<
    Authentication,
    'authenticate' | 'authenticateKey' | 'findKey' | 'recheck' | 'removals'
  >;
  /** Undefined if refused keys are not limited. */
  readonly refusedKeys: RefusedKeys | undefined;
  readonly people: Pick<People, 'identify' | 'endSession' | 'watch'>;
  /** Where browsers see the service; undefined: as they say. */
  readonly publicUrl: URL | undefined;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly random: Random;
}

/** The session of a key that is not used for this long ends, in milliseconds. */
const termMs = 12 * 3_600_000;
/** It ends so long after the sign-in, however much it is used, in milliseconds. */
const longestMs = 7 * 24 * 3_600_000;
/** A session is renewed if this makes it longer by at least so many milliseconds. */
const renewalMs = 30 * 60_000;
/** How long a link signs in, in milliseconds. */
const linkTermMs = 10 * 60_000;
/** Allowance for clocks of other processes and for what they have cached, in milliseconds. */
const marginMs = 10 * 60_000;

/** A session that was verified recently. */
interface Verified {
  readonly session: KeySession;
  readonly caller: SessionCaller;
  readonly key: CurrentKey;
  /** `removals` of authentication before it was verified. */
  readonly removals: number;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { store, authentication, refusedKeys, people, publicUrl, secrets, clock, random } = options;
  /** By the hash of the cookie, so that neither memory nor timing reveals the cookie. */
  const verified = new LRUCache<string, Verified>({ max: 10_000 });
  /** Whether sessions of keys have ended, by their ids. */
  const endings = createLookUps((id) => store.isEnded(id), clock);
  /** Number of sessions that this process has ended. */
  let ends = 0;

  const verify = async (session: KeySession): Promise<Verified> => {
    const removals = authentication.removals();
    const endsBefore = ends;
    const key = await authentication.findKey(session.keyId);
    const ending = endings.get(session.id);
    const isEnded = await ending.found;
    // A revocation or the end of a session may have happened since the reads.
    if (ends !== endsBefore || authentication.removals() !== removals) return await verify(session);
    if (isEnded || session.keyProof !== proofOf(key)) throw ended();
    const until = Math.min(key.until, ending.until);
    const caller = { ...key.principal, sessionId: session.id, sessionEndsAt: new Date(session.endsAt) };
    return { session, key: { ...key, until }, removals, caller };
  };

  /** Which of several sessions the user wants is not known: another host may have added its own. */
  const onlyOne = (cookies: readonly string[]): string => {
    const [first = '', ...others] =
      cookies.length === 1 ? cookies : cookies.filter((cookie) => openSession(cookie, secrets) !== undefined);
    if (others.length === 0) return first;
    const remedy = 'Remove the cookies of this host and its domain, then sign in again.';
    throw unauthenticated(`The browser sent several sessions. ${remedy}`, false);
  };

  const identify = async (cookies: readonly string[], request: SessionRequest): Promise<SessionCaller> => {
    const cookie = onlyOne(cookies);
    const digest = hashSecret(cookie);
    let found = verified.get(digest);
    const isKnown = found?.removals === authentication.removals() && found.key.until > clock.monotonic();
    if (found === undefined || !isKnown) {
      const opened = openSession(cookie, secrets);
      if (opened === undefined) throw ended();
      if (opened.isPersons === true) return await people.identify(opened.id);
      found = await verify(opened);
      verified.set(digest, found);
    }
    const { session, caller, key } = found;
    const now = clock.now().getTime();
    if (session.endsAt <= now || key.expiresAt <= now) throw ended();
    key.touch();
    const { beganAt = session.startedAt } = session;
    const endsAt = endOf(key, now, beganAt);
    if (endsAt - session.endsAt < renewalMs) return caller;
    const renewedCookie = cookieOf({ ...session, beganAt, startedAt: now, endsAt }, request);
    return { ...caller, sessionEndsAt: new Date(endsAt), renewedCookie };
  };

  const cookieOf = (session: KeySession, request: PageRequest): string => {
    const { startedAt, endsAt } = session;
    return writeCookie(sealSession(session, secrets), Math.ceil((endsAt - startedAt) / 1_000), request);
  };

  const useLink = async (token: string, request: SessionRequest): Promise<string> => {
    if (refusedKeys?.isExceeded(request) === true) throw await refusedKeys.problem(request);
    const keyId = await store.useLink(hashSecret(token), clock.now());
    if (keyId !== undefined) return keyId;
    refusedKeys?.count(request);
    throw unauthenticated('The sign-in link is not valid. It works once, within ten minutes. Use an API key.');
  };

  return {
    authenticate(sent) {
      const { cookie } = sent.headers;
      if (cookie === undefined || hasKey(sent)) return authentication.authenticate(sent);
      const request = atPublicUrl(sent, publicUrl);
      const own = readCookies(request);
      if (own.length === 0 || pageOrigin(request) !== 'same-origin') return authentication.authenticate(request);
      return identify(own, request);
    },
    async create({ apiKey, signInToken = '' }, author) {
      const request = atPublicUrl(author.caller, publicUrl);
      // Another site must not be able to sign the browser in with a key of its own.
      if (pageOrigin(request) === 'cross-origin') {
        throw new ProblemError('cross-origin', { detail: 'Only pages of this service can sign in here.' });
      }
      const keyId =
        apiKey === undefined
          ? await useLink(signInToken, request)
          : (await authentication.authenticateKey(apiKey, request)).id;
      const key = await authentication.findKey(keyId);
      const startedAt = clock.now().getTime();
      const endsAt = endOf(key, startedAt, startedAt);
      if (endsAt <= startedAt) throw unauthenticated('The API key has expired.');
      const session = { id: random.uuid(), keyId, keyProof: proofOf(key), beganAt: startedAt, startedAt, endsAt };
      // Before anyone gets the cookie: a process that ends now leaves the record of a session that nobody has.
      const { operationId, requestId, traceparent } = author;
      const principal = { ...key.principal, sessionId: session.id };
      const signedIn = { operationId, requestId, traceparent, principal, caller: request };
      await store.recordStart(auditEntry(signedIn, auditedSession, { at: new Date(startedAt), after: session }));
      return { key: key.principal, expiresAt: new Date(endsAt), cookie: cookieOf(session, request) };
    },
    async end({ id, isPersons }, author) {
      if (isPersons === true) return await people.endSession(id, author);
      const at = clock.now();
      const entry = auditEntry(author, auditedSession, { at, before: { id } });
      await store.end(id, new Date(at.getTime() + termMs + marginMs), entry);
      ends += 1;
      endings.forget(id);
      for (const [digest, { session }] of verified.entries()) if (session.id === id) verified.delete(digest);
      return undefined;
    },
    watch(caller, onEnd, isEndless) {
      const { kind, id, sessionId, sessionEndsAt } = caller;
      if (kind === 'person') return sessionId === undefined ? undefined : people.watch(sessionId, onEnd);
      if (sessionId === undefined && !isEndless) return undefined;
      return watchLookUps(clock, onEnd, async () => {
        const key = await (isEndless ? authentication.recheck(caller) : authentication.findKey(id));
        if (sessionId === undefined) return key;
        const ending = endings.get(sessionId);
        const isOver = sessionEndsAt !== undefined && sessionEndsAt <= clock.now();
        if (isOver || (await ending.found) === true) throw ended();
        return { until: Math.min(key.until, ending.until) };
      });
    },
    opened(sent) {
      const cookies = readCookies(atPublicUrl(sent, publicUrl));
      return cookies.map((cookie) => openSession(cookie, secrets)).find((session) => session !== undefined);
    },
    cookieOf(session, sent) {
      const request = atPublicUrl(sent, publicUrl);
      if (session === undefined) return writeCookie('', 0, request);
      const { id, startedAt, endsAt } = session;
      const seconds = Math.ceil((endsAt.getTime() - startedAt.getTime()) / 1_000);
      return writeCookie(sealSession({ id, isPersons: true }, secrets), seconds, request);
    },
    async createLink(keyId) {
      const token = randomBytes(32).toString('base64url');
      const expiresAt = new Date(clock.now().getTime() + linkTermMs);
      await store.addLink({ tokenHash: hashSecret(token), keyId, expiresAt });
      return token;
    },
  };
}

/** A session ends at the latest with its key. */
function endOf(key: CurrentKey, startedAt: number, beganAt: number): number {
  return Math.min(startedAt + termMs, beganAt + longestMs, key.expiresAt);
}

function proofOf({ secretHash }: CurrentKey): string {
  return hashSecret(secretHash);
}

/** Proxies can require `Authorization: Basic`, which browsers then send, too. It is not an API key. */
function hasKey({ headers }: PageRequest): boolean {
  return headers['x-api-key'] !== undefined || /^bearer\b/i.test(headers.authorization ?? '');
}

/** Not counted as a refused key: open pages go on sending a cookie that has ended. */
function ended(): ProblemError {
  return unauthenticated('The session has ended. Sign in again.', false);
}
