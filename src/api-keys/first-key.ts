import type { Scope } from '../../generated/operations.ts';
import { firstKeyId, mintKey } from './api-keys.ts';
import type { ApiKeyStore } from './api-key-store.ts';
import type { Clock } from '../runtime/clock.ts';

export interface FirstKeyOptions {
  readonly store: ApiKeyStore;
  readonly allScopes: readonly Scope[];
  /** Prints lines for the operator; not a log. */
  readonly print: (line: string) => void;
  readonly clock: Clock;
}

/**
 * Creates the administrator key of an installation without keys. The key is printed before it is stored. After a crash
 * in between, the printed key is not valid, but there is never a valid key that was not printed.
 */
export async function ensureFirstKey({ store, allScopes, print, clock }: FirstKeyOptions): Promise<void> {
  if (!(await store.isEmpty())) return;
  const { key, id, secretHash } = mintKey(firstKeyId);
  print(`Administrator key (shown once, keep it): ${key}`);
  const record = {
    id,
    name: 'administrator',
    scopes: [...allScopes],
    secretHash,
    ancestors: [],
    createdAt: clock.now(),
    expiresAt: undefined,
  };
  if (!(await store.insert(record))) {
    print('Another process has just created the administrator key. Use that key; the key above is not valid.');
  }
}
