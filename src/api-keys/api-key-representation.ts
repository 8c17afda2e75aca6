import type { components } from '../../generated/types.ts';
import type { AuthenticatedKey } from './authentication.ts';

/** The key of a request, as its caller sees it. @param version the version of the service */
export function currentApiKey(
  { keyId, name, scopes }: AuthenticatedKey,
  { expiresAt, isAdministrator }: { readonly expiresAt: Date | undefined; readonly isAdministrator: boolean },
  version: string,
): components['schemas']['CurrentApiKey'] {
  return {
    id: keyId,
    name,
    scopes: [...scopes],
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
    administrator: isAdministrator,
    service_version: version,
  };
}
