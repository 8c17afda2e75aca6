import type { Scope } from '../../../generated/operations.ts';

/** Scopes that others include, as in the contract's table of scopes. */
const included: Readonly<Partial<Record<Scope, readonly Scope[]>>> = { 'integrations:manage': ['integrations:read'] };

/** The scopes of a key: the granted ones and those that they include. */
export function effectiveScopes(granted: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(granted.flatMap((scope) => [...(included[scope] ?? []), scope]));
}
