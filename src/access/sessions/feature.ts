import type { ApiKeys } from '../api-keys/api-keys.ts';
import type { Basis } from '../../storage/db/basis.ts';
import { sessionOperations } from './session-operations.ts';
import { createSessionStore, type SessionStore } from './session-store.ts';
import { createSessions, type SessionsOptions } from './sessions.ts';

export interface SessionFeatureOptions extends Pick<
  SessionsOptions,
  'authentication' | 'refusedKeys' | 'people' | 'publicUrl' | 'secrets'
> {
  readonly apiKeys: ApiKeys;
  readonly version: string;
  readonly isReadOnly: boolean;
}

export function createSessionFeature(basis: Basis, options: SessionFeatureOptions) {
  const { apiKeys, version, isReadOnly, ...others } = options;
  const store = createSessionStore(basis.database);
  const sessions = createSessions({ ...basis, ...others, store: isReadOnly ? withoutWrites(store) : store });
  return { sessions, operations: sessionOperations(sessions, apiKeys, version) };
}

/** Sessions are in their cookies, so a process that changes nothing can begin them. It cannot use up a link. */
function withoutWrites(store: SessionStore): SessionStore {
  const nothing = (): Promise<void> => Promise.resolve();
  return { ...store, recordStart: nothing, end: nothing, useLink: () => Promise.resolve(undefined) };
}
