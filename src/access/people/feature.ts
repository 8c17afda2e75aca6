import type { Basis } from '../../storage/db/basis.ts';
import type { Scope } from '../../../generated/operations.ts';
import type { SecretBox } from '../../base/secrets/secret-box.ts';
import { createIssuer, type Issuer, type IssuerOptions } from './issuer.ts';
import { createOidc, type OidcOptions } from './oidc.ts';
import { oidcPages, type OidcPagesOptions } from './oidc-operations.ts';
import { createPeople } from './people.ts';
import { peopleOperations } from './people-operations.ts';
import { createPersonStore } from './person-store.ts';
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
  /** Undefined without an identity provider. */
  readonly settings: OidcSettings | undefined;
  /** Reaches the issuer. */
  readonly fetch: typeof globalThis.fetch;
}

export function createPeopleFeature(basis: Basis, options: PeopleFeatureOptions) {
  const { secrets, allScopes, settings, fetch } = options;
  const store = createPersonStore(basis.database);
  const roles = createRoles(allScopes);
  const people = createPeople({ ...basis, store, roles, secrets, issuer: settings?.issuer });
  const issuer = settings && createIssuer({ ...settings, fetch, clock: basis.clock });
  return { people, store, issuer, operations: peopleOperations(people, roles, allScopes) };
}

export interface OidcFeatureOptions extends Omit<OidcPagesOptions, 'oidc'>, Pick<OidcOptions, 'secrets'> {
  readonly settings: OidcSettings;
  readonly feature: Pick<ReturnType<typeof createPeopleFeature>, 'people' | 'store'>;
  readonly issuer: Issuer;
}

/** The sign-in itself, which makes sessions. */
export function createOidcFeature({ clock }: Basis, options: OidcFeatureOptions) {
  const { settings, feature, issuer, publicUrl, secrets } = options;
  const oidc = createOidc({
    ...settings,
    ...feature,
    ...{ issuer, secrets, clock },
    rolesOfGroups: new Map(Object.entries(settings.roles)),
    redirectUri: `${publicUrl}/oidc/callback`,
  });
  return oidcPages({ ...options, oidc });
}
