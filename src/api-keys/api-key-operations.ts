import type { components } from '../../generated/types.ts';
import { ifMatchRevision } from '../http/conditional.ts';
import type { OperationHandlers } from '../http/operation.ts';
import { nextPageLink } from '../http/page.ts';
import { toInstant } from '../runtime/instants.ts';
import type { ApiKeys } from './api-keys.ts';
import type { StoredApiKey } from './api-key-store.ts';

type ApiKeyOperations = Pick<
  OperationHandlers,
  'getCurrentApiKey' | 'createApiKey' | 'listApiKeys' | 'getApiKey' | 'revokeApiKey'
>;

const path = '/api/v1/api-keys';

/** @param version of the service */
export function apiKeyOperations(apiKeys: ApiKeys, version: string): ApiKeyOperations {
  return {
    async createApiKey({ body, context }) {
      const { name, scopes } = body;
      const expiresAt = toInstant(body.expires_at);
      const { record, key } = await apiKeys.create({ name, scopes, expiresAt }, context.principal);
      return {
        status: 201,
        headers: { Location: `${path}/${record.id}` },
        body: { ...toApiKey(record), key },
      };
    },
    async getCurrentApiKey({ context: { principal } }) {
      const { keyId, name, scopes } = principal;
      const { expiresAt, isAdministrator } = await apiKeys.describe(principal);
      return {
        status: 200,
        body: {
          ...{ id: keyId, name, scopes: [...scopes] },
          ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
          administrator: isAdministrator,
          service_version: version,
        },
      };
    },
    async listApiKeys({ query }) {
      const { limit = 100, offset = 0 } = query;
      const { keys, total } = await apiKeys.list(limit, offset);
      const pagination = { total, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(path, pagination, keys.length),
        body: { data: keys.map(toApiKey), pagination },
      };
    },
    async getApiKey({ path: { id } }) {
      const key = await apiKeys.get(id);
      return { status: 200, headers: { ETag: etagOf(key) }, body: toApiKey(key) };
    },
    async revokeApiKey({ path: { id }, query: { descendants = 'keep' }, headers, context }) {
      const precondition = (present: StoredApiKey): boolean => ifMatchRevision(headers['If-Match'], present);
      const revoked = await apiKeys.revoke(id, context.principal, descendants, precondition);
      const { key, revokedDescendants, activeDescendants } = revoked;
      return {
        status: 200,
        headers: { ETag: etagOf(key) },
        body: {
          ...toApiKey(key),
          revoked_at: (key.revokedAt ?? key.createdAt).toISOString(),
          revoked_descendants: revokedDescendants,
          active_descendants: activeDescendants,
        },
      };
    },
  };
}

/** The last use is written without counting the revision up, so it is part of the tag. */
function etagOf(key: StoredApiKey): string {
  return `"${key.id}.${key.revision}.${key.lastUsedAt?.getTime() ?? 0}"`;
}

function toApiKey(key: StoredApiKey): components['schemas']['ApiKey'] {
  const maker = key.ancestors.at(-1);
  return {
    id: key.id,
    name: key.name,
    prefix: `pgw_${key.id.replaceAll('-', '')}`,
    scopes: [...key.scopes],
    created_at: key.createdAt.toISOString(),
    ...(maker === undefined ? {} : { created_by: maker }),
    ...(key.expiresAt === undefined ? {} : { expires_at: key.expiresAt.toISOString() }),
    ...(key.lastUsedAt === undefined ? {} : { last_used_at: key.lastUsedAt.toISOString() }),
    ...(key.revokedAt === undefined ? {} : { revoked_at: key.revokedAt.toISOString() }),
  };
}
