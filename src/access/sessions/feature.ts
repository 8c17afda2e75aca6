import type { ApiKeys } from '../api-keys/api-keys.ts';
import type { Issuer } from '../people/issuer.ts';
import type { Basis } from '../../storage/db/basis.ts';
import { sessionOperations } from './session-operations.ts';
import { createSessionStore, type SessionStore } from './session-store.ts';
import { createSessions, type SessionsOptions } from './sessions.ts';

export interface SessionFeatureOptions extends Pick<
  SessionsOptions,
  'authentication' | 'refusedKeys' | 'people' | 'publicUrl' | 'secrets'
> {
  readonly apiKeys: ApiKeys;
  /** Undefined without an identity provider. */
  readonly issuer: Pick<Issuer, 'signOutUrl'> | undefined;
  readonly version: string;
  readonly isReadOnly: boolean;
}

export function createSessionFeature(basis: Basis, options: SessionFeatureOptions) {
  const { apiKeys, issuer, version, isReadOnly, ...others } = options;
  const { publicUrl } = options;
  const store = createSessionStore(basis.database);
  const sessions = createSessions({ ...basis, ...others, store: isReadOnly ? withoutWrites(store) : store });
  // An issuer that is away keeps nobody from signing out here.
  const signOutUrl = async (idToken: string): Promise<string | undefined> =>
    await issuer?.signOutUrl(idToken, `${publicUrl?.href.replace(/\/$/, '') ?? ''}/dashboard`).catch(() => undefined);
  return { sessions, operations: sessionOperations(sessions, apiKeys, version, signOutUrl) };
}

/** Sessions are in their cookies, so a process that changes nothing can begin them. It cannot use up a link. */
function withoutWrites(store: SessionStore): SessionStore {
  const nothing = (): Promise<void> => Promise.resolve();
  return { ...store, recordStart: nothing, useLink: () => Promise.resolve(undefined) };
}
