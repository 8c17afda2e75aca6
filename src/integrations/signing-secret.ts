import { randomBytes } from 'node:crypto';

/** Makes a secret: 43 characters of base64url, 256 random bits. */
export function generateSecret(): string {
  const secret = randomBytes(32).toString('base64url');
  return isSecret(secret) ? secret : generateSecret();
}

/**
 * Whether a text can be a secret: 24 to 64 printable ASCII characters, whose bytes are the key. Not what begins with
 * `whsec_`: a library for Standard Webhooks would take the rest for base64, and make another key of it.
 */
export function isSecret(text: string): boolean {
  return /^[ -~]{24,64}$/.test(text) && !text.startsWith('whsec_');
}

/** The same key as libraries for Standard Webhooks take it: they decode the base64 after `whsec_`. */
export function toStandardSecret(secret: string): string {
  return `whsec_${Buffer.from(secret, 'latin1').toString('base64')}`;
}
