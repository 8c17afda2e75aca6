import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Scope } from '../../generated/operations.ts';
import { ProblemError } from '../errors/problem-error.ts';
import { administratorId, hashSecret } from './api-keys.ts';
import type { RefusedKeys } from './refused-keys.ts';
import type { ApiKeyStore, StoredApiKey } from './api-key-store.ts';
import { effectiveScopes } from './scopes.ts';
import { unauthenticated } from './unauthenticated.ts';
import type { Clock } from '../runtime/clock.ts';

/** The caller that a request's key identifies. */
export interface AuthenticatedKey {
  readonly keyId: string;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** The parts of a request that authentication reads. */
export interface Caller {
  readonly headers: IncomingHttpHeaders;
  /** The client's address. */
  readonly ip?: string | undefined;
}

export interface Authentication {
  /**
   * Authenticates the caller of a request, by `Authorization: Bearer <key>` or `X-API-Key: <key>`.
   * @throws {ProblemError} unauthenticated, with `WWW-Authenticate`; rate-limited if too many keys from the caller's
   *   address were refused and this one was not verified before
   */
  authenticate(caller: Caller): Promise<AuthenticatedKey>;
  /** Removes keys from the cache. */
  forget(ids: ReadonlySet<string>): void;
}

export interface AuthenticationOptions {
  readonly store: ApiKeyStore;
  readonly allScopes: ReadonlySet<Scope>;
  /** A key from configuration, with every scope. */
  readonly adminKey: string | undefined;
  /** Undefined if refused keys are not limited. */
  readonly refusedKeys?: RefusedKeys | undefined;
  /** Called when a key's last use cannot be recorded. This does not fail the request. */
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
}

/** A revocation applies in all processes within this time, in milliseconds. */
const cacheMs = 5_000;
/** Minimum time between two writes of a key's last use, in milliseconds. */
const touchMs = 60_000;
const keyForm = /^pgw_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { store, adminKey, allScopes, refusedKeys, onError, clock } = options;
  const administrator: AuthenticatedKey = { keyId: administratorId, name: 'administrator', scopes: allScopes };
  const adminHash = adminKey === undefined ? undefined : hashSecret(adminKey);
  const lookUps = new LRUCache<string, LookUp>({ max: 10_000 });
  /**
   * Keys that were verified recently, by the hash of the whole token, so that neither memory nor timing reveals the
   * token.
   */
  const verified = new LRUCache<string, Verified>({ max: 10_000 });
  /** The ids of keys that were verified. */
  const trusted = new LRUCache<string, true>({ max: 10_000 });
  /** Number of removals from the cache. */
  let forgotten = 0;
  const touched = new LRUCache<string, true>({ max: 10_000, ttl: touchMs });

  const touch = (id: string): void => {
    if (touched.has(id)) return;
    touched.set(id, true);
    store.touch(id, clock.now()).catch(onError);
  };

  /** The look-up that requests share while it is in progress and while its result is valid. */
  const lookUp = (id: string): LookUp => {
    const known = lookUps.get(id);
    if (known !== undefined && clock.monotonic() < known.until) return known;
    const fresh: LookUp = { key: store.find(id), until: clock.monotonic() + cacheMs };
    lookUps.set(id, fresh);
    fresh.key.catch(() => {
      if (lookUps.peek(id) === fresh) lookUps.delete(id);
    });
    return fresh;
  };

  const verify = async (token: string): Promise<Verified> => {
    const [, a, b, c, d, e, secret] = keyForm.exec(token) ?? [];
    if (secret === undefined) throw unauthenticated('The API key is not valid.');
    const id = `${a}-${b}-${c}-${d}-${e}`;
    const before = forgotten;
    const found = lookUp(id);
    const key = await found.key;
    // A revocation may have happened since the read.
    if (forgotten !== before) return await verify(token);
    // Also compared for an unknown id, so that the response time does not reveal which ids exist.
    const matches = sameHash(hashSecret(secret), key?.secretHash ?? '0'.repeat(64));
    if (!matches || key === undefined) throw unauthenticated('The API key is not valid.');
    if (key.revokedAt !== undefined) throw unauthenticated('The API key was revoked.');
    const principal = { keyId: key.id, name: key.name, scopes: effectiveScopes(key.scopes) };
    return { principal, until: found.until, expiresAt: key.expiresAt?.getTime() ?? Infinity };
  };

  /**
   * Whether this can be a key that was verified before. It decides without a hash; the result can be true for other
   * keys.
   */
  const mayBeTrusted = (token: string): boolean => {
    if (token.length === adminKey?.length) return true;
    const [, a, b, c, d, e] = keyForm.exec(token) ?? [];
    return a !== undefined && trusted.has(`${a}-${b}-${c}-${d}-${e}`);
  };

  const identify = async (caller: Caller): Promise<AuthenticatedKey> => {
    const token = tokenOf(caller.headers);
    const isLimited = refusedKeys?.isExceeded(caller) === true;
    if (isLimited && !mayBeTrusted(token)) throw await refusedKeys.problem(caller);
    const digest = hashSecret(token);
    if (adminHash !== undefined && sameHash(digest, adminHash)) return administrator;
    let found = verified.get(digest);
    if (isLimited && found === undefined) throw await refusedKeys.problem(caller);
    if (found === undefined || found.until <= clock.monotonic()) {
      found = await verify(token);
      verified.set(digest, found);
      trusted.set(found.principal.keyId, true);
    }
    if (found.expiresAt <= clock.now().getTime()) throw unauthenticated('The API key has expired.');
    touch(found.principal.keyId);
    return found.principal;
  };

  return {
    async authenticate(caller) {
      try {
        return await identify(caller);
      } catch (error) {
        if (refusedKeys !== undefined && isRefusal(error)) refusedKeys.count(caller);
        throw error;
      }
    },
    forget(ids) {
      forgotten += 1;
      for (const id of ids) lookUps.delete(id);
      for (const [digest, { principal }] of verified.entries()) if (ids.has(principal.keyId)) verified.delete(digest);
    },
  };
}

/** The cached result for an id, or the look-up in progress. */
interface LookUp {
  readonly key: Promise<StoredApiKey | undefined>;
  /** When it must be looked up again: measured from the start of the database read, on the monotonic clock. */
  readonly until: number;
}

interface Verified {
  readonly principal: AuthenticatedKey;
  /** When it must be looked up again, on the monotonic clock. */
  readonly until: number;
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
}

function tokenOf(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (token === undefined) throw unauthenticated('Send the API key as Authorization: Bearer <key>.');
    return token;
  }
  const key = headers['x-api-key'];
  if (typeof key === 'string' && key !== '') return key;
  throw unauthenticated('This operation needs an API key: Authorization: Bearer <key>.', false);
}

/** True for credentials that were sent and refused, not for a request without any. */
function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError && error.headers['www-authenticate']?.includes('invalid_token') === true;
}

function sameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
