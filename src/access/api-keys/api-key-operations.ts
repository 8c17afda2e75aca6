import type { components } from '../../../generated/types.ts';
import { requireUnchanged } from '../../base/editing/read-only-fields.ts';
import { ifMatchRevision } from '../../http/conditional.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { answerPage } from '../../http/list-answer.ts';
import { toInstant } from '../../base/runtime/instants.ts';
import type { People } from '../people/people.ts';
import { currentApiKey } from './api-key-representation.ts';
import type { ApiKeys } from './api-keys.ts';
import { apiKeyFields, type ApiKeyStatus, type StoredApiKey } from './api-key.ts';
import { defined } from '../../base/runtime/objects.ts';

type Schemas = components['schemas'];
type ApiKeyOperations = Pick<
  OperationHandlers,
  | 'getCurrentApiKey'
  | 'createApiKey'
  | 'listApiKeys'
  | 'getApiKey'
  | 'updateApiKey'
  | 'revokeApiKey'
  | 'revokePersonKeys'
>;

const path = '/api/v1/api-keys';

export function apiKeyOperations(apiKeys: ApiKeys, version: string, people: Pick<People, 'get'>): ApiKeyOperations {
  const toApiKey = (key: StoredApiKey): Schemas['ApiKey'] => represent(key, apiKeys.statusOf(key));
  /** The last use is written without incrementing the revision, and a key expires by itself. */
  const etagOf = (key: StoredApiKey): string =>
    `"${key.id}.${key.revision}.${key.lastUsedAt?.getTime() ?? 0}.${apiKeys.statusOf(key)}"`;

  return {
    async createApiKey({ body, context }) {
      const { name, scopes, limits } = body;
      const expiresAt = toInstant(body.expires_at);
      const request = { name, scopes, expiresAt, limits: limits ?? undefined };
      const { record, key } = await apiKeys.create(request, context);
      return {
        status: 201,
        headers: { Location: `${path}/${record.id}` },
        body: { ...toApiKey(record), key },
      };
    },
    async getCurrentApiKey({ context: { principal } }) {
      return { status: 200, body: currentApiKey(principal, await apiKeys.describe(principal), version) };
    },
    listApiKeys: (input) => answerPage(input, () => apiKeys.list(input.query.status, input.query.author_id), toApiKey),
    async getApiKey({ path: { id } }) {
      const key = await apiKeys.get(id);
      return { status: 200, headers: { ETag: etagOf(key) }, body: toApiKey(key) };
    },
    async updateApiKey({ path: { id }, headers, body, context }) {
      const { status: _, last_used_at: __, ...fixed } = apiKeyFields.others(body) as Partial<Schemas['ApiKey']>;
      const precondition = (present: StoredApiKey): boolean =>
        ifMatchRevision(headers['If-Match'], present) && requireUnchanged(fixed, toApiKey(present));
      const key = await apiKeys.change(id, apiKeyFields.readChange(body), precondition, context);
      return { status: 200, headers: { ETag: etagOf(key) }, body: toApiKey(key) };
    },
    async revokePersonKeys({ path: { id }, context }) {
      // There has to be one.
      await people.get(id);
      return { status: 200, body: { revoked: await apiKeys.revokeOfPerson(id, context) } };
    },
    async revokeApiKey({ path: { id }, query: { descendants = 'keep' }, headers, context }) {
      const precondition = (present: StoredApiKey): boolean => ifMatchRevision(headers['If-Match'], present);
      const revoked = await apiKeys.revoke(id, descendants, precondition, context);
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

function represent(key: StoredApiKey, status: ApiKeyStatus): Schemas['ApiKey'] {
  // Earlier releases stored only the chain of a key.
  const parent = key.ancestors.at(-1);
  const author = key.author ?? (parent === undefined ? undefined : { type: 'key' as const, id: parent, name: parent });
  return defined({
    ...apiKeyFields.show({ ...key, author }),
    prefix: `pgw_${key.id.replaceAll('-', '')}`,
    status,
  });
}
