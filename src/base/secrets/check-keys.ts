import { SecretKeyError } from './open-secret-box.ts';
import type { KeyUse } from './secret-box.ts';

export interface KeyCheck {
  /** What the stored secrets are encrypted with. */
  readonly counts: readonly { readonly keyId: string; readonly use: KeyUse; readonly values: number }[];
  /** The current key, in words: where it is configured. */
  readonly source: string;
  readonly keyId: string;
  /** Whether a key that decrypts nothing stops the start. */
  readonly isRequired: boolean;
}

/**
 * Compares the keys with what they have to decrypt.
 *
 * @returns lines for the operator
 * @throws SecretKeyError if there are stored secrets, and the keys decrypt none of them
 */
export function checkKeys({ counts, source, keyId, isRequired }: KeyCheck): string[] {
  const sum = (use?: KeyUse): number =>
    counts.reduce((total, each) => total + (use === undefined || each.use === use ? each.values : 0), 0);
  const [total, missing, former] = [sum(), sum('missing'), sum('former')];
  const ids = counts.flatMap((each) => (each.use === 'missing' ? [each.keyId] : [])).slice(0, 5);
  const keys = `key id ${ids.join(', ')}`;
  if (missing > 0 && missing === total && isRequired) {
    throw new SecretKeyError(
      `${source} (key id ${keyId}) decrypts none of the ${total} stored secrets and headers of integrations. They are encrypted with ${keys}.\n` +
        'Set SECRETS_KEY to that key, or append it to SECRETS_KEY after a comma. If the key is lost, SECRETS_KEY_CHECK=off starts the service; then nothing is sent to these integrations until their secrets are replaced.',
    );
  }
  return [
    ...(missing === 0
      ? []
      : [
          `Warning: ${missing} of ${total} stored secrets cannot be decrypted. They are encrypted with ${keys}, which is not in SECRETS_KEY.`,
        ]),
    ...(former === 0
      ? []
      : [
          `${former} stored secrets are encrypted with a former key of SECRETS_KEY. The service encrypts them again with the current key.`,
        ]),
  ];
}
