import type { components } from '../../../generated/types.ts';
import type { Principal } from '../../http/operation.ts';
import { toLimits } from './limits.ts';

/** The key of a request, as its caller sees it. @param version the version of the service */
export function currentApiKey(
  { keyId, name, scopes, reach, tags }: Principal,
  { expiresAt, isAdministrator }: { readonly expiresAt: Date | undefined; readonly isAdministrator: boolean },
  version: string,
): components['schemas']['CurrentApiKey'] {
  const limits = toLimits(reach, tags);
  return {
    id: keyId,
    name,
    scopes: [...scopes],
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
    ...(limits && { limits }),
    administrator: isAdministrator,
    service_version: version,
  };
}
