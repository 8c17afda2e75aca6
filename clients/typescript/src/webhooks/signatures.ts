const encoder = new TextEncoder();

/**
 * The keys of signatures. A secret is used as its bytes in UTF-8. In the notation of Standard Webhooks, it is `whsec_`
 * followed by the base64 of the bytes.
 *
 * @throws TypeError if there is no secret, or one of them is empty or malformed. The message does not contain secrets.
 */
export function readSecrets(secrets: string | readonly string[]): Uint8Array[] {
  const keys = [secrets].flat().map(readSecret);
  if (keys.length === 0) throw new TypeError('Verification needs at least one secret.');
  return keys;
}

function readSecret(secret: unknown): Uint8Array {
  if (typeof secret !== 'string') throw new TypeError(`A secret is ${typeof secret} instead of a string.`);
  const bytes = secret.startsWith('whsec_') ? decodeBase64(secret.slice('whsec_'.length)) : encoder.encode(secret);
  if (bytes === undefined) throw new TypeError('A secret begins with whsec_ but does not go on with base64.');
  if (bytes.length === 0) throw new TypeError('A secret is empty.');
  return bytes;
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** The received bytes of a body. @throws TypeError if the body was parsed */
export function toBytes(rawBody: unknown): Uint8Array {
  if (typeof rawBody === 'string') return encoder.encode(rawBody);
  if (rawBody instanceof Uint8Array) return rawBody;
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody);
  throw new TypeError(
    'The raw body must be the received bytes or text. The signature of a parsed body cannot be verified.',
  );
}

/** The signature of `X-Service-Signature`: the lower-case hexadecimal HMAC-SHA-256 of the body. */
export async function signBody(key: Uint8Array, body: Uint8Array): Promise<string> {
  return Array.from(await hmac(key, [body]), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * One signature of `webhook-signature`.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export async function signDelivery(key: Uint8Array, id: string, timestamp: string, body: Uint8Array): Promise<string> {
  const digest = await hmac(key, [encoder.encode(`${id}.${timestamp}.`), body]);
  return `v1,${btoa(String.fromCharCode(...digest))}`;
}

async function hmac(key: Uint8Array, parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', join([key]), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, join(parts)));
}

/** @returns the concatenated parts, in memory that is not shared */
export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Compares in a time that depends only on the lengths. */
export function isSame(received: string, expected: string): boolean {
  let difference = received.length ^ expected.length;
  for (let index = 0; index < expected.length; index += 1) {
    difference |= received.charCodeAt(index) ^ expected.charCodeAt(index);
  }
  return difference === 0;
}
