import type { components } from '../../../generated/types.ts';
import type { AuthenticatedPrincipal } from '../../http/operation.ts';
import { toLimits } from './limits.ts';

/** The key or the person of a request, as its caller sees it. @param version the version of the service */
export function currentApiKey(
  { kind, id, name, roles, scopes, reach, tags, sessionEndsAt }: AuthenticatedPrincipal,
  { expiresAt, isAdministrator }: { readonly expiresAt: Date | undefined; readonly isAdministrator: boolean },
  version: string,
): components['schemas']['CurrentApiKey'] {
  const limits = toLimits(reach, tags);
  const end = kind === 'person' ? sessionEndsAt : expiresAt;
  return {
    type: kind,
    id,
    name,
    ...(roles !== undefined && { roles: [...roles] }),
    scopes: [...scopes],
    ...(end === undefined ? {} : { expires_at: end.toISOString() }),
    ...(limits && { limits }),
    administrator: isAdministrator,
    service_version: version,
  };
}
