import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Scope } from '../../generated/operations.ts';
import { ProblemError } from '../errors/problem-error.ts';
import { hashSecret } from './api-keys.ts';
import type { ApiKeyStore, StoredApiKey } from './store.ts';

/** Whom a request's key stands for. */
export interface AuthenticatedKey {
  readonly keyId: string;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

export interface Authentication {
  /**
   * Finds out who sends a request, by `Authorization: Bearer <key>` or `X-API-Key: <key>`.
   * @throws {ProblemError} unauthenticated, with `WWW-Authenticate`
   */
  authenticate(headers: IncomingHttpHeaders): Promise<AuthenticatedKey>;
  /** Forgets what is known of a key. */
  forget(id: string): void;
}

export interface AuthenticationOptions {
  readonly store: ApiKeyStore;
  readonly allScopes: ReadonlySet<Scope>;
  /** A key from configuration that may do everything. */
  readonly adminKey: string | undefined;
  /** Told of failures to record a key's last use, which never fail a request. */
  readonly onError: (error: unknown) => void;
  readonly now?: () => number;
}

/** A revocation holds everywhere within this time, in milliseconds. */
const cacheMs = 5_000;
/** How often a key's last use is written, at most, in milliseconds. */
const touchMs = 60_000;
const keyForm = /^pgw_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

type Entry = { key: StoredApiKey | undefined; principal: AuthenticatedKey | undefined };

export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { store, adminKey, allScopes, onError, now = Date.now } = options;
  const administrator: AuthenticatedKey = { keyId: 'administrator', name: 'administrator', scopes: allScopes };
  const adminHash = adminKey === undefined ? undefined : hashSecret(adminKey);
  const cache = new LRUCache<string, Entry>({
    max: 10_000,
    ttl: cacheMs,
    fetchMethod: async (id) => {
      const key = await store.find(id);
      return { key, principal: key && { keyId: key.id, name: key.name, scopes: new Set(key.scopes) } };
    },
  });
  const touched = new LRUCache<string, true>({ max: 10_000, ttl: touchMs });

  const touch = (id: string): void => {
    if (touched.has(id)) return;
    touched.set(id, true);
    store.touch(id, new Date(now())).catch(onError);
  };

  return {
    async authenticate(headers) {
      const token = tokenOf(headers);
      if (adminHash !== undefined && sameHash(hashSecret(token), adminHash)) return administrator;
      const [, a, b, c, d, e, secret] = keyForm.exec(token) ?? [];
      if (secret === undefined) throw unauthenticated('The API key is not valid.');
      const { key, principal } = (await cache.fetch(`${a}-${b}-${c}-${d}-${e}`)) ?? {};
      // Compared even for an unknown id, so that the time taken does not tell which ids exist.
      const matches = sameHash(hashSecret(secret), key?.secretHash ?? '0'.repeat(64));
      if (!matches || key === undefined || principal === undefined) throw unauthenticated('The API key is not valid.');
      if (key.revokedAt !== undefined) throw unauthenticated('The API key was revoked.');
      if (key.expiresAt !== undefined && key.expiresAt.getTime() <= now()) throw unauthenticated('The API key has expired.');
      touch(key.id);
      return principal;
    },
    forget(id) {
      cache.delete(id);
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

function unauthenticated(detail: string, sent = true): ProblemError {
  // RFC 6750, section 3.1: no error code when the request carried no credentials at all.
  const challenge = sent ? 'Bearer error="invalid_token"' : 'Bearer';
  return new ProblemError('unauthenticated', { detail, headers: { 'www-authenticate': challenge } });
}

function sameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
