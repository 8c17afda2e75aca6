import type { ApiKeys } from '../api-keys/api-keys.ts';
import type { Basis } from '../feature.ts';
import { sessionOperations } from './session-operations.ts';
import { createSessionStore } from './session-store.ts';
import { createSessions, type SessionsOptions } from './sessions.ts';

export interface SessionFeatureOptions extends Pick<SessionsOptions, 'authentication' | 'refusedKeys' | 'secrets'> {
  readonly apiKeys: ApiKeys;
  readonly version: string;
}

export function createSessionFeature(basis: Basis, { apiKeys, version, ...options }: SessionFeatureOptions) {
  const sessions = createSessions({ ...basis, ...options, store: createSessionStore(basis.database) });
  return { sessions, operations: sessionOperations(sessions, apiKeys, version) };
}
