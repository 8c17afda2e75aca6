import type { Scope } from '../../../generated/operations.ts';
import type { components } from '../../../generated/types.ts';
import {
  changeable,
  fields,
  hidden,
  made,
  type Change,
  type Difference,
  type None,
  type Shown,
  type Thing,
} from '../../base/fields/fields.ts';
import { json, list, moment, same, text } from '../../base/fields/kinds.ts';
import { author } from '../../base/fields/author.ts';
import type { ApiKeyLimits } from './limits.ts';

interface KeyPerson {
  readonly id: string;
  readonly isAdministrator: boolean;
}

export const apiKeyFields = fields({
  id: made(text),
  name: changeable(text),
  scopes: made(list(same<Scope>())),
  /** SHA-256 of the secret part, in hex. The secret itself is not stored. */
  secretHash: hidden(text),
  /**
   * The chain of keys that led to this one: the key that created it is last, the key that created that one is before
   * it, and so on. Empty if it is unknown.
   */
  ancestors: hidden(list(text), { initially: [] }),
  /** Who created it. Absent for the first key. */
  author: made(author, { optional: true }),
  /** The person at the beginning of the chain, and whether it was an administrator then. */
  person: hidden(same<KeyPerson>(), { optional: true }),
  createdAt: made(moment),
  expiresAt: made(moment, { optional: true }),
  lastUsedAt: made(moment, { optional: true }),
  revokedAt: made(moment, { optional: true }),
  /** Its own. Those of the keys in its chain hold as well. */
  limits: changeable(json<ApiKeyLimits>(), { optional: true }),
});

/** A stored API key. */
export interface StoredApiKey extends Thing<typeof apiKeyFields.table> {
  readonly revision: number;
}

/** What can be changed of a key. */
export type ApiKeyChange = Change<typeof apiKeyFields.table>;

/** A revoked key has the status `revoked` even if it has also expired. */
export type ApiKeyStatus = 'active' | 'expired' | 'revoked';

export type NewApiKey = Omit<StoredApiKey, 'revision' | 'lastUsedAt' | 'revokedAt'>;

/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInApiKey = None<
  Difference<Omit<components['schemas']['ApiKey'], 'prefix' | 'status'>, Shown<typeof apiKeyFields.table>>
>;
