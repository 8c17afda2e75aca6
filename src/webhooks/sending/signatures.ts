import { createHmac } from 'node:crypto';

/** What is signed. */
export interface SignedMessage {
  /** Id of the event: the same on every try. */
  readonly id: string;
  /** Of this try, in whole seconds since the epoch. */
  readonly timestamp: number;
  /** Exactly the bytes that are sent. */
  readonly body: Uint8Array;
}

/**
 * The headers that let a receiver tell who sent a message. `X-Service-Signature` is the lower-case hex HMAC-SHA-256 of
 * the body. The others follow https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md:
 * id and time are signed too, so that an old message cannot be sent again as a new one.
 *
 * @returns names with their values
 * @param secrets the one in force first; while it is rotated, its successor after it. A secret's bytes are the key of
 *   both signatures. Empty: the message is not signed.
 */
export function signatureHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): [name: string, value: string][] {
  const [inForce] = secrets;
  const identity: [string, string][] = [
    ['webhook-id', id],
    ['webhook-timestamp', String(timestamp)],
  ];
  if (inForce === undefined) return identity;
  const prefix = `${id}.${timestamp}.`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(prefix).update(body).digest('base64')}`,
  );
  return [
    ...identity,
    ['webhook-signature', signatures.join(' ')],
    ['X-Service-Signature', createHmac('sha256', inForce).update(body).digest('hex')],
  ];
}
