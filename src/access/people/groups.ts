import { fromStep } from '../../base/runtime/json-pointer.ts';

/** What an ID token, or the answer of the userinfo endpoint, contains. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * The groups that a claim has. `absent` if there is no such claim; `left-out` if the issuer says that there are too many
 * groups to name them, which is not the same as none.
 */
export type Groups = readonly string[] | 'absent' | 'left-out';

/** @param claim the exact name of a claim, or a JSON pointer (RFC 6901) */
export function readGroups(claims: Claims, claim: string): Groups {
  const steps = claim.startsWith('/') ? claim.slice(1).split('/').map(fromStep) : [claim];
  const value = steps.reduce<unknown>(memberOf, claims);
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.filter((group) => typeof group === 'string');
  // Entra ID: https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference (groups overage)
  const [name = ''] = steps;
  const isLeftOut =
    memberOf(memberOf(claims, '_claim_names'), name) !== undefined ||
    (name === 'groups' && memberOf(claims, 'hasgroups') !== undefined);
  return isLeftOut ? 'left-out' : 'absent';
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
