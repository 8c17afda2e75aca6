import type { Scope } from '../../generated/operations.ts';

/** Scopes that others include, as the contract's table of scopes says. */
const included: Readonly<Partial<Record<Scope, readonly Scope[]>>> = { 'integrations:manage': ['integrations:read'] };

/** The scopes that a key has: those that were granted, and what they include. */
export function effectiveScopes(granted: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(granted.flatMap((scope) => [...(included[scope] ?? []), scope]));
}
