import { fromStep } from '../../base/runtime/json-pointer.ts';

/** What an ID token, or the answer of the userinfo endpoint, contains. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * The groups that a claim has. `absent` if there is no such claim; `left-out` if the issuer says that there are too many
 * groups to name them, and `not-understood` if the claim is neither a text nor a list of texts. Neither is the same as none.
 */
export type Groups = readonly string[] | 'absent' | 'left-out' | 'not-understood';

/**
 * @param claim the exact name of a claim, or a JSON pointer (RFC 6901)
 * @param isKnown whether a group has a role
 */
export function readGroups(claims: Claims, claim: string, isKnown: (group: string) => boolean): Groups {
  const steps = claim.startsWith('/') ? claim.slice(1).split('/').map(fromStep) : [claim];
  let value: unknown = claims;
  for (const step of steps) {
    if (typeof value !== 'object' && value !== undefined) return 'not-understood';
    value = memberOf(value, step);
  }
  // Groups in one text could be separated by anything, and names of groups can contain that.
  if (typeof value === 'string') {
    const isOne = isKnown(value) || !value.split(/[\s,;|"'[\]]+/).some(isKnown);
    return isOne ? [value] : 'not-understood';
  }
  if (Array.isArray(value) && value.every((group) => typeof group === 'string')) return value;
  if (value !== undefined && value !== null) return 'not-understood';
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
