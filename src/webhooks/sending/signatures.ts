import { createHmac, createSecretKey, type Hmac } from 'node:crypto';
import { signingKeyOf } from '../integrations/signing-secret.ts';

/** A message to sign. */
export interface SignedMessage {
  /** Id of the event: the same on every attempt. */
  readonly id: string;
  /** Time of this attempt, in whole seconds since the epoch. */
  readonly timestamp: number;
  /** The exact bytes that are sent. */
  readonly body: Uint8Array;
}

/** The secrets of an integration. Both signatures have the same key: see `signingKeyOf`. */
export interface SigningSecrets {
  /** The current secret. Only it is used for `X-Service-Signature`. */
  readonly secret: string | undefined;
  /** During a rotation, the next secret. */
  readonly nextSecret: string | undefined;
}

/**
 * The headers with which a receiver verifies the sender of a message. `X-Service-Signature` is the lower-case hex
 * HMAC-SHA-256 of the body. The others follow
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md: id and time are also
 * signed, so that an old message cannot be sent again as a new one.
 *
 * @returns names with their values, without `webhook-id` and `webhook-timestamp`; none without a secret
 */
export function signatureHeaders(
  { id, timestamp, body }: SignedMessage,
  { secret, nextSecret }: SigningSecrets,
): [name: string, value: string][] {
  const headers: [string, string][] = [];
  const signatures = [secret, nextSecret].flatMap((key) =>
    key === undefined ? [] : [`v1,${hmac(key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`],
  );
  if (signatures.length > 0) headers.push(['webhook-signature', signatures.join(' ')]);
  if (secret !== undefined) headers.push(['X-Service-Signature', hmac(secret).update(body).digest('hex')]);
  return headers;
}

function hmac(secret: string): Hmac {
  // With the bytes themselves, it takes three times as long.
  return createHmac('sha256', createSecretKey(signingKeyOf(secret)));
}
