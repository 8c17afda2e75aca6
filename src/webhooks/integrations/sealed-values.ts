import { headerRecord, secretRecord, type Integration } from './integration.ts';
import { SecretUnreadableError, type Sealed, type SecretBox } from '../../base/secrets/secret-box.ts';

/** An integration with its values of former keys encrypted again with the current key. */
export function renewSeals(integration: Integration, secrets: SecretBox): Integration {
  const { id, secret, rotation, headers } = integration;
  const renew = (sealed: Sealed): Sealed => secrets.renew(sealed, secretRecord(id));
  return {
    ...integration,
    secret: secret === undefined ? undefined : renew(secret),
    rotation: rotation === undefined ? undefined : { ...rotation, secret: renew(rotation.secret) },
    headers: headers.map(({ name, value }) => ({ name, value: secrets.renew(value, headerRecord(id, name)) })),
  };
}

/** The encrypted values of an integration. */
export function sealedValues({ secret, rotation, headers }: Integration): Sealed[] {
  return [secret, rotation?.secret, ...headers.map(({ value }) => value)].filter((value) => value !== undefined);
}

/**
 * Says in a sentence which values of an integration cannot be decrypted.
 * @returns undefined if all can
 */
export function describeUnreadable(integration: Integration, secrets: SecretBox): string | undefined {
  const { id, secret, rotation, headers } = integration;
  const isUnreadable = (sealed: Sealed | undefined, record: string): boolean => {
    if (sealed === undefined) return false;
    try {
      secrets.open(sealed, record);
      return false;
    } catch (error) {
      if (error instanceof SecretUnreadableError) return true;
      throw error;
    }
  };
  const parts = [
    ...(isUnreadable(secret, secretRecord(id)) ? ['the secret'] : []),
    ...(isUnreadable(rotation?.secret, secretRecord(id)) ? ['the next secret'] : []),
    ...headers.flatMap(({ name, value }) =>
      isUnreadable(value, headerRecord(id, name)) ? [`the header ${name}`] : [],
    ),
  ];
  if (parts.length === 0) return undefined;
  const list = new Intl.ListFormat('en').format(parts);
  return `The service cannot decrypt ${list} of this integration, so it sends nothing. Its key is not in SECRETS_KEY.`;
}
