/**
 * Why a delivery was refused:
 * - `unsigned`: it has no signature. The integration has no secret, or another sender sent it.
 * - `malformed-headers`: `webhook-id` or `webhook-timestamp` is missing or malformed.
 * - `wrong-signature`: the signature belongs to another body, id, time or secret.
 * - `disagreement`: the two signatures, or the ids in the header and in the body, do not match.
 * - `no-signed-time`: it has only `X-Service-Signature`, which does not sign the time.
 * - `outside-tolerance`: the signature is valid, but the time of the attempt is too far from now.
 * - `malformed-payload`: the signature is valid, but the body is not an event.
 */
export type VerificationFailure =
  | 'unsigned'
  | 'malformed-headers'
  | 'wrong-signature'
  | 'disagreement'
  | 'no-signed-time'
  | 'outside-tolerance'
  | 'malformed-payload';

/** A delivery was refused. The message says why, without secrets and without the body. */
export class WebhookVerificationError extends Error {
  readonly code: VerificationFailure;

  constructor(code: VerificationFailure, message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.code = code;
  }
}
