import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Scope } from '../../../generated/operations.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { administratorId, firstKeyId, hashSecret } from './api-keys.ts';
import type { RefusedKeys } from './refused-keys.ts';
import { createLookUps, lookUpMs } from '../look-ups.ts';
import type { StoredApiKey } from './api-key.ts';
import type { ApiKeyStore } from './api-key-store.ts';
import type { Principal } from '../../base/limits/principal.ts';
import { reachOf, tagsOf, toLimits } from './limits.ts';
import { effectiveScopes } from './scopes.ts';
import { unauthenticated } from './unauthenticated.ts';
import type { Clock } from '../../base/runtime/clock.ts';

/**
 * The caller that a request's key identifies. Its family is the first of the person and the keys that led to it, and
 * itself, that is not an administrator.
 */
export interface AuthenticatedKey extends Principal {
  readonly scopes: ReadonlySet<Scope>;
}

/** The parts of a request that authentication reads. */
export interface Caller {
  readonly headers: IncomingHttpHeaders;
  /** The client's address. */
  readonly ip?: string | undefined;
}

/** A key as it was when it was last looked up, at most 5 seconds ago. */
export interface CurrentKey {
  readonly principal: AuthenticatedKey;
  /** Its id, and those of the keys that led to it. */
  readonly chain: readonly string[];
  /** SHA-256 of the secret part, in hex; of the whole key for the one from configuration. */
  readonly secretHash: string;
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
  /** When it must be looked up again, on the monotonic clock. */
  readonly until: number;
  /** Records that the key is used. */
  touch(): void;
}

export interface Authentication {
  /**
   * Authenticates the caller of a request, by `Authorization: Bearer <key>` or `X-API-Key: <key>`.
   * @throws {ProblemError} unauthenticated, with `WWW-Authenticate`; rate-limited if too many keys from the caller's
   *   address were refused and this one was not verified before
   */
  authenticate(caller: Caller): Promise<AuthenticatedKey>;
  /** The same for a key that was sent in another way. */
  authenticateKey(key: string, caller: Caller): Promise<AuthenticatedKey>;
  /** @throws {ProblemError} unauthenticated if no key has this id, or it was revoked; not if it has expired */
  findKey(id: string): Promise<CurrentKey>;
  /**
   * Looks a key up again, for an answer that does not end by itself.
   * @param principal of the key, when the answer began
   * @throws {ProblemError} unauthenticated if it was revoked, has expired or has other limits
   */
  recheck(principal: AuthenticatedKey): Promise<CurrentKey>;
  /** How often keys were removed from the cache. What was found before then has to be found again. */
  removals(): number;
  /** Removes keys, and the keys that they led to, from the cache. */
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

/** Minimum time between two writes of a key's last use, in milliseconds. */
const touchMs = 60_000;
/** How many keys. `max` would reserve the memory of all of them at once. */
const remembered = { maxSize: 10_000, sizeCalculation: () => 1 };
const keyForm = /^pgw_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { store, adminKey, allScopes, refusedKeys, onError, clock } = options;
  const administrator: AuthenticatedKey = {
    kind: 'key',
    id: administratorId,
    name: 'administrator',
    scopes: allScopes,
    reach: undefined,
    tags: undefined,
    makers: [],
    family: administratorId,
  };
  const adminHash = adminKey === undefined ? undefined : hashSecret(adminKey);
  const lookUps = createLookUps((id) => store.find(id), clock);
  /**
   * Keys that were verified recently, by the hash of the whole token, so that neither memory nor timing reveals the
   * token.
   */
  const verified = new LRUCache<string, CurrentKey>(remembered);
  /** The ids of keys that were verified. */
  const trusted = new LRUCache<string, true>(remembered);
  /** Number of removals from the cache. */
  let forgotten = 0;
  const touched = new LRUCache<string, true>({ max: 10_000, ttl: touchMs });

  /** An administrator's key has all scopes and no limits. The first key also gets the scopes that later releases add. */
  const isAdministrator = ({ id, scopes, limits }: StoredApiKey): boolean => {
    const held = effectiveScopes(scopes);
    return limits === undefined && (id === firstKeyId || [...allScopes].every((scope) => held.has(scope)));
  };

  const touch = (id: string): void => {
    if (touched.has(id)) return;
    touched.set(id, true);
    store.touch(id, clock.now()).catch(onError);
  };

  /**
   * A key as it is now, with what follows from the keys that led to it.
   * @param check throws unless it is the right key, before others are read
   */
  const find = async (id: string, check: (key: StoredApiKey | undefined) => StoredApiKey): Promise<CurrentKey> => {
    const before = forgotten;
    const own = lookUps.get(id);
    const key = check(await own.found);
    // Few keys create the others, so these are nearly always in the cache. Their limits hold although they are revoked.
    const makers = key.ancestors.filter((maker) => maker !== administratorId).map((maker) => lookUps.get(maker));
    const above = (await Promise.all(makers.map((maker) => maker.found))).filter((maker) => maker !== undefined);
    // A revocation or a change may have happened since the reads.
    if (forgotten !== before) return await find(id, check);
    if (key.revokedAt !== undefined) throw unauthenticated('The API key was revoked.');
    const { name, scopes, ancestors, person, secretHash, expiresAt } = key;
    const limited = [...above, key];
    return {
      principal: {
        kind: 'key',
        id,
        name,
        // The first key gets the scopes that later releases add; otherwise no key could grant them.
        scopes: id === firstKeyId ? allScopes : effectiveScopes(scopes),
        reach: reachOf(limited),
        tags: tagsOf(limited),
        makers: person === undefined ? ancestors : [person.id, ...ancestors],
        family:
          person === undefined || person.isAdministrator
            ? (limited.find((one) => !isAdministrator(one)) ?? key).id
            : person.id,
      },
      chain: [...ancestors, id],
      secretHash,
      until: Math.min(own.until, ...makers.map(({ until }) => until)),
      expiresAt: expiresAt?.getTime() ?? Infinity,
      touch() {
        touch(id);
      },
    };
  };

  const verify = async (token: string): Promise<CurrentKey> => {
    const [, a, b, c, d, e, secret] = keyForm.exec(token) ?? [];
    if (secret === undefined) throw unauthenticated('The API key is not valid.');
    return await find(`${a}-${b}-${c}-${d}-${e}`, (key) => {
      // Also compared for an unknown id, so that the response time does not reveal which ids exist.
      const matches = sameHash(hashSecret(secret), key?.secretHash ?? '0'.repeat(64));
      if (!matches || key === undefined) throw unauthenticated('The API key is not valid.');
      return key;
    });
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

  const identify = async (token: string, caller: Caller): Promise<AuthenticatedKey> => {
    const isLimited = refusedKeys?.isExceeded(caller) === true;
    if (isLimited && !mayBeTrusted(token)) throw await refusedKeys.problem(caller);
    const digest = hashSecret(token);
    if (adminHash !== undefined && sameHash(digest, adminHash)) return administrator;
    let found = verified.get(digest);
    if (isLimited && found === undefined) throw await refusedKeys.problem(caller);
    if (found === undefined || found.until <= clock.monotonic()) {
      found = await verify(token);
      verified.set(digest, found);
      trusted.set(found.principal.id, true);
    }
    if (found.expiresAt <= clock.now().getTime()) throw unauthenticated('The API key has expired.');
    found.touch();
    return found.principal;
  };

  const counted = async (caller: Caller, tokenOf: () => string): Promise<AuthenticatedKey> => {
    try {
      return await identify(tokenOf(), caller);
    } catch (error) {
      if (refusedKeys !== undefined && isRefusal(error)) refusedKeys.count(caller);
      throw error;
    }
  };

  const findKey: Authentication['findKey'] = async (id) => {
    if (id === administratorId && adminHash !== undefined) {
      const until = clock.monotonic() + lookUpMs;
      return {
        principal: administrator,
        chain: [administratorId],
        secretHash: adminHash,
        until,
        expiresAt: Infinity,
        touch: () => undefined,
      };
    }
    return await find(id, (key) => {
      if (key === undefined) throw unauthenticated('The API key is not valid.');
      return key;
    });
  };

  return {
    authenticate: (caller) => counted(caller, () => tokenOf(caller.headers)),
    authenticateKey: (key, caller) => counted(caller, () => key),
    findKey,
    async recheck(principal) {
      const key = await findKey(principal.id);
      if (key.expiresAt <= clock.now().getTime()) throw unauthenticated('The API key has expired.');
      if (limitsOf(key.principal) !== limitsOf(principal)) {
        throw unauthenticated('The limits of the API key have changed.');
      }
      return key;
    },
    removals: () => forgotten,
    forget(ids) {
      forgotten += 1;
      for (const id of ids) lookUps.forget(id);
      for (const [digest, { chain }] of verified.entries())
        if (chain.some((id) => ids.has(id))) verified.delete(digest);
    },
  };
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

/** For comparison. */
function limitsOf({ reach, tags }: Principal): string {
  return JSON.stringify(toLimits(reach, tags) ?? null);
}

function sameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
