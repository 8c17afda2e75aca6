import { randomBytes } from 'node:crypto';

/** Creates a secret: 43 characters of base64url, 256 random bits. */
export function generateSecret(): string {
  const secret = randomBytes(32).toString('base64url');
  return isSecret(secret) ? secret : generateSecret();
}

/**
 * Whether a text can be a secret: 24 to 64 printable ASCII characters, whose bytes are the key. A text that begins with
 * `whsec_` cannot: a library for Standard Webhooks would decode the rest as base64 and use another key.
 */
export function isSecret(text: string): boolean {
  return /^[ -~]{24,64}$/.test(text) && !text.startsWith('whsec_');
}

/** The same key for libraries for Standard Webhooks, which decode the base64 after `whsec_`. */
export function toStandardSecret(secret: string): string {
  return `whsec_${Buffer.from(secret, 'latin1').toString('base64')}`;
}
