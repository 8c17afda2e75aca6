import type { components } from '../../../generated/types.ts';
import type { AuthenticatedPrincipal } from '../../http/operation.ts';
import { toLimits } from './limits.ts';

/** The key of a request, as its caller sees it. @param version the version of the service */
export function currentApiKey(
  { id, name, scopes, reach, tags }: AuthenticatedPrincipal,
  { expiresAt, isAdministrator }: { readonly expiresAt: Date | undefined; readonly isAdministrator: boolean },
  version: string,
): components['schemas']['CurrentApiKey'] {
  const limits = toLimits(reach, tags);
  return {
    id,
    name,
    scopes: [...scopes],
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
    ...(limits && { limits }),
    administrator: isAdministrator,
    service_version: version,
  };
}
