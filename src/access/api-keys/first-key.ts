import type { Scope } from '../../../generated/operations.ts';
import { firstKeyId, mintKey } from './api-keys.ts';
import type { ApiKeyStore } from './api-key-store.ts';
import type { Clock } from '../../base/runtime/clock.ts';

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
 *
 * @returns whether this process has created the key
 */
export async function ensureFirstKey({ store, allScopes, print, clock }: FirstKeyOptions): Promise<boolean> {
  if (!(await store.isEmpty())) return false;
  const { key, id, secretHash } = mintKey(firstKeyId);
  print(`Administrator key (shown once, keep it): ${key}`);
  const record = {
    id,
    name: 'administrator',
    scopes: [...allScopes],
    secretHash,
    ancestors: [],
    author: undefined,
    person: undefined,
    createdAt: clock.now(),
    expiresAt: undefined,
    limits: undefined,
  };
  const created = await store.insert(record, undefined);
  if (!created) {
    print('Another process has just created the administrator key. Use that key; the key above is not valid.');
  }
  return created;
}
