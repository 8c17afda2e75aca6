import type { Logger } from 'pino';
import document from '../../../generated/openapi.json' with { type: 'json' };
import type { Scope } from '../../../generated/operations.ts';
import type { Basis } from '../../storage/db/basis.ts';
import type { People } from '../people/people.ts';
import { apiKeyOperations } from './api-key-operations.ts';
import { createApiKeyStore } from './api-key-store.ts';
import { createApiKeys } from './api-keys.ts';
import { createAuthentication } from './authentication.ts';
import { createRefusedKeys, type RefusedKeysPolicy } from './refused-keys.ts';

/** Every scope of the contract: the scopes of the administrator. */
export const allScopes: readonly Scope[] = document.components.schemas.Scope.enum as Scope[];

export interface ApiKeyFeatureOptions {
  /** A key from configuration, with every scope. */
  readonly adminKey: string | undefined;
  /** Undefined if refused keys are not limited. */
  readonly refusedKeysLimit: RefusedKeysPolicy | undefined;
  readonly version: string;
  /** Those who make keys. */
  readonly people: Pick<People, 'get' | 'read'>;
  readonly log: Logger;
}

export function createApiKeyFeature(
  { database, clock, random }: Basis,
  { adminKey, refusedKeysLimit, version, people, log }: ApiKeyFeatureOptions,
) {
  const store = createApiKeyStore(database);
  const refusedKeys = createRefusedKeys(refusedKeysLimit);
  const authentication = createAuthentication({
    clock,
    store,
    allScopes: new Set(allScopes),
    adminKey,
    refusedKeys,
    onError: (error) => {
      log.debug({ error }, 'the last use of an API key could not be recorded');
    },
  });
  const apiKeys = createApiKeys({
    clock,
    random,
    store,
    allScopes,
    people,
    onChanged: authentication.forget,
  });
  return { store, apiKeys, authentication, refusedKeys, operations: apiKeyOperations(apiKeys, version, people) };
}
