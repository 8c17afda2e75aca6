import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { Scope } from '../../generated/operations.ts';
import { ProblemError } from '../errors/problem-error.ts';
import type { ApiKeyStore, StoredApiKey } from './store.ts';

/** A new key with the only copy of its secret. */
export interface CreatedApiKey {
  readonly record: StoredApiKey;
  /** `pgw_<id without dashes>_<43 characters of base64url>` */
  readonly key: string;
}

/** Making, reading and revoking API keys. */
export interface ApiKeys {
  /** @throws {ProblemError} insufficient-scope for a scope that the granter lacks; invalid-request for an expiry in the past */
  create(
    request: { name: string; scopes: readonly Scope[]; expiresAt: Date | undefined },
    granter: ReadonlySet<Scope>,
  ): Promise<CreatedApiKey>;
  /** @throws {ProblemError} api-key-not-found */
  get(id: string): Promise<StoredApiKey>;
  list(limit: number, offset: number): Promise<{ keys: StoredApiKey[]; total: number }>;
  /** Revokes a key; revoking it again changes nothing. @throws {ProblemError} api-key-not-found */
  revoke(id: string): Promise<StoredApiKey>;
}

export interface ApiKeysOptions {
  readonly store: ApiKeyStore;
  readonly now?: () => Date;
  /** Told at once of a revocation in this process; others learn of it when their copies run out. */
  readonly onRevoked?: (id: string) => void;
}

export function createApiKeys({ store, now = () => new Date(), onRevoked }: ApiKeysOptions): ApiKeys {
  return {
    async create({ name, scopes, expiresAt }, granter) {
      const lacking = scopes.filter((scope) => !granter.has(scope));
      if (lacking.length > 0) {
        throw new ProblemError('insufficient-scope', {
          detail: `A key can only grant scopes it has itself; this one lacks ${lacking.join(', ')}.`,
          headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${lacking.join(' ')}"` },
        });
      }
      const createdAt = now();
      if (expiresAt !== undefined && expiresAt <= createdAt) {
        throw new ProblemError('invalid-request', {
          detail: 'The body of the request is not valid.',
          errors: [{ detail: 'must be in the future', pointer: '#/expires_at' }],
        });
      }
      const { key, id, secretHash } = mintKey(randomUUID());
      const record = { id, name, scopes, secretHash, createdAt, expiresAt };
      await store.insert(record);
      return { key, record: { ...record, revision: 1, lastUsedAt: undefined, revokedAt: undefined } };
    },
    async get(id) {
      return (await store.find(id)) ?? missing();
    },
    list: (limit, offset) => store.list(limit, offset),
    async revoke(id) {
      const revoked = (await store.revoke(id, now())) ?? missing();
      onRevoked?.(id);
      return revoked;
    },
  };
}

function missing(): never {
  throw new ProblemError('api-key-not-found', { detail: 'There is no API key with this id.' });
}

/** Makes a key with 32 random bytes of secret. */
export function mintKey(id: string): { key: string; id: string; secretHash: string } {
  const secret = randomBytes(32).toString('base64url');
  return { key: `pgw_${id.replaceAll('-', '')}_${secret}`, id, secretHash: hashSecret(secret) };
}

/** SHA-256 in hex. A secret of 256 random bits needs no slow hash. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}
