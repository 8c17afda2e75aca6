import type { Scope } from '../../../generated/operations.ts';
import type { components } from '../../../generated/types.ts';

export type Role = components['schemas']['Role'];

const viewer: readonly Scope[] = [
  ...(['prompts:read', 'datasets:read', 'invocations:read', 'prices:read', 'budgets:read', 'metrics:read'] as const),
  ...(['orders:read', 'catalog:read', 'integrations:read', 'events:read'] as const),
];
const editor: readonly Scope[] = [
  ...viewer,
  ...(['prompts:write', 'prompts:invoke', 'providers:invoke', 'datasets:write'] as const),
];

/** The scopes of each role but that of administrators, who have all. Each includes the scopes that its scopes contain. */
const limited: Readonly<Record<Exclude<Role, 'administrator'>, readonly Scope[]>> = {
  viewer,
  editor,
  releaser: [...editor, 'prompts:release'],
  operator: [
    ...viewer,
    ...(['budgets:write', 'prices:write', 'integrations:manage', 'catalog:write', 'orders:write'] as const),
    ...(['keys:manage', 'audit:read'] as const),
  ],
};

/** The names of all roles, those with the fewest scopes first. */
export const roleNames: readonly Role[] = [...(Object.keys(limited) as (keyof typeof limited)[]), 'administrator'];

/** The roles as sets of scopes. */
export interface Roles {
  /** The scopes of all of these roles together. */
  scopesOf(roles: readonly Role[]): ReadonlySet<Scope>;
}

/** @param allScopes the scopes of administrators */
export function createRoles(allScopes: readonly Scope[]): Roles {
  return {
    scopesOf: (roles) =>
      new Set(
        roles.flatMap((role) =>
          role === 'administrator' ? allScopes : ((limited[role] as readonly Scope[] | undefined) ?? []),
        ),
      ),
  };
}
