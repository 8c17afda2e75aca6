import type { Basis } from '../../storage/db/basis.ts';
import type { Scope } from '../../../generated/operations.ts';
import type { SecretBox } from '../../base/secrets/secret-box.ts';
import { createIssuer, type IssuerOptions } from './issuer.ts';
import { createOidc, type OidcOptions } from './oidc.ts';
import { oidcPages, type OidcPagesOptions } from './oidc-operations.ts';
import { createPeople } from './people.ts';
import { peopleOperations } from './people-operations.ts';
import { createPersonStore, type PersonStore } from './person-store.ts';
import { createRoles } from './roles.ts';

/** The operator's identity provider, and what it may say. */
export interface OidcSettings
  extends
    Pick<IssuerOptions, 'issuer' | 'clientId' | 'clientSecret' | 'scopes' | 'name'>,
    Pick<OidcOptions, 'rolesClaim' | 'defaultRole'> {
  /** By group. */
  readonly roles: Readonly<Record<string, NonNullable<OidcOptions['defaultRole']>>>;
}

export interface PeopleFeatureOptions {
  readonly secrets: SecretBox;
  readonly allScopes: readonly Scope[];
  readonly isReadOnly: boolean;
}

export function createPeopleFeature(basis: Basis, { secrets, allScopes, isReadOnly }: PeopleFeatureOptions) {
  const full = createPersonStore(basis.database);
  const store: PersonStore = isReadOnly ? { ...full, endSession: () => Promise.resolve() } : full;
  const roles = createRoles(allScopes);
  const people = createPeople({ ...basis, store, roles, secrets });
  return { people, store, operations: peopleOperations(people, roles, allScopes) };
}

export interface OidcFeatureOptions extends Omit<OidcPagesOptions, 'oidc'>, Pick<OidcOptions, 'people' | 'secrets'> {
  readonly settings: OidcSettings;
  /** Reaches the issuer. */
  readonly fetch: typeof globalThis.fetch;
  readonly store: PersonStore;
}

export function createOidcFeature({ clock }: Basis, options: OidcFeatureOptions) {
  const { settings, fetch, publicUrl } = options;
  const issuer = createIssuer({ ...settings, fetch, clock });
  const oidc = createOidc({
    ...options,
    ...settings,
    rolesOfGroups: new Map(Object.entries(settings.roles)),
    issuer,
    redirectUri: `${publicUrl}/oidc/callback`,
    clock,
  });
  return { issuer, pages: oidcPages({ ...options, oidc }) };
}
