import { randomBytes } from 'node:crypto';

/** How a secret of Standard Webhooks begins. The base64 of the key follows. */
const standardPrefix = 'whsec_';

/** Creates a secret: 43 characters of base64url, 256 random bits. */
export function generateSecret(): string {
  const secret = randomBytes(32).toString('base64url');
  return secret.startsWith(standardPrefix) ? generateSecret() : secret;
}

/** The key that a secret means: the bytes after `whsec_`, or else its own. */
export function signingKeyOf(secret: string): Buffer {
  return secret.startsWith(standardPrefix)
    ? Buffer.from(secret.slice(standardPrefix.length), 'base64')
    : Buffer.from(secret, 'latin1');
}

/** The same key for libraries for Standard Webhooks. */
export function toStandardSecret(secret: string): string {
  return standardPrefix + signingKeyOf(secret).toString('base64');
}
