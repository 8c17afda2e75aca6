import { readHeader, type DeliveryHeaders } from './delivery-headers.ts';
import type { WebhookEvent } from './events.ts';
import { isSame, readSecrets, signBody, signDelivery, toBytes } from './signatures.ts';
import { WebhookVerificationError } from './verification-error.ts';

export interface UnwrapOptions {
  /**
   * The maximum difference between the time of the attempt and now, in seconds; 300 by default. An older delivery is
   * refused, because an attacker may have recorded it and sent it again. `Infinity` switches this off. It is required
   * for deliveries that have only `X-Service-Signature`.
   */
  readonly tolerance?: number | undefined;
  /** The current time in milliseconds since 1970; `Date.now` by default. */
  readonly now?: (() => number) | undefined;
}

const defaultTolerance = 300;

/**
 * Verifies a delivery and returns its event.
 *
 * `webhook-signature` decides: one of its signatures must match one of the secrets, for `webhook-id`,
 * `webhook-timestamp` and the body, and the time must be within the tolerance. `X-Service-Signature` must match too, if
 * it is sent. During a secret rotation, it need not match: then `webhook-signature` contains two signatures, and
 * `X-Service-Signature` uses only the old secret.
 *
 * A delivery with only `X-Service-Signature` is refused, because this does not sign the time: an attacker who recorded
 * an old delivery could omit the other headers and send it again. With `tolerance: Infinity` it is accepted. In that
 * case, compare the `id` of each event with those that you have processed.
 *
 * @param rawBody the received bytes or text of the body, before it is parsed
 * @param secrets the secret of the integration, unchanged or in the `whsec_` notation; several during a rotation
 * @throws WebhookVerificationError if the delivery is refused
 * @throws TypeError if there is no usable secret, or the body was already parsed
 */
export async function unwrap(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: DeliveryHeaders,
  secrets: string | readonly string[],
  { tolerance = defaultTolerance, now = Date.now }: UnwrapOptions = {},
): Promise<WebhookEvent> {
  const keys = readSecrets(secrets);
  const body = toBytes(rawBody);
  const delivery = {
    id: readHeader(headers, 'webhook-id'),
    timestamp: readHeader(headers, 'webhook-timestamp'),
    standard: readHeader(headers, 'webhook-signature')?.split(' '),
    service: readHeader(headers, 'x-service-signature'),
  };
  const { id, standard, service } = delivery;
  if (standard !== undefined) {
    const time = await verifyStandard({ ...delivery, standard }, body, keys);
    if (service !== undefined && standard.length < 2 && !(await isSignedBody(service, body, keys))) {
      throw new WebhookVerificationError('disagreement', 'X-Service-Signature does not fit webhook-signature.');
    }
    requireTolerance(time, now() / 1_000, tolerance);
  } else if (service !== undefined) {
    if (!(await isSignedBody(service, body, keys))) throw wrongSignature('X-Service-Signature');
    if (tolerance !== Infinity) {
      throw new WebhookVerificationError(
        'no-signed-time',
        'X-Service-Signature alone does not sign the time. Pass { tolerance: Infinity } to accept a delivery of any time.',
      );
    }
  } else {
    throw new WebhookVerificationError('unsigned', 'There is neither webhook-signature nor X-Service-Signature.');
  }
  return readEvent(body, id);
}

interface StandardDelivery {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly standard: readonly string[];
}

/** @returns the signed time, in seconds since 1970 */
async function verifyStandard(
  { id, timestamp, standard }: StandardDelivery,
  body: Uint8Array,
  keys: readonly Uint8Array[],
): Promise<number> {
  if (id === undefined || id === '' || timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError('malformed-headers', 'webhook-id or webhook-timestamp is missing or malformed.');
  }
  const expected = await Promise.all(keys.map((key) => signDelivery(key, id, timestamp, body)));
  if (!hasCommon(standard, expected)) throw wrongSignature('webhook-signature');
  return Number(timestamp);
}

async function isSignedBody(signature: string, body: Uint8Array, keys: readonly Uint8Array[]): Promise<boolean> {
  return hasCommon([signature], await Promise.all(keys.map((key) => signBody(key, body))));
}

/** Compares all of them, so that the time does not show which one matches. */
function hasCommon(received: readonly string[], expected: readonly string[]): boolean {
  const fitting = expected.flatMap((own) => received.filter((other) => isSame(other, own)));
  return fitting.length > 0;
}

function wrongSignature(header: string): WebhookVerificationError {
  return new WebhookVerificationError(
    'wrong-signature',
    `${header} was made with another secret, or for another body, id or time.`,
  );
}

function requireTolerance(time: number, now: number, tolerance: number): void {
  const seconds = now - time;
  if (Math.abs(seconds) <= tolerance) return;
  const difference = `${Math.round(Math.abs(seconds))} s ${seconds > 0 ? 'ago' : 'ahead'}`;
  throw new WebhookVerificationError(
    'outside-tolerance',
    `The attempt was made ${difference}, the tolerance is ${tolerance} s. Check the clock if this happens often.`,
  );
}

function readEvent(body: Uint8Array, headerId: string | undefined): WebhookEvent {
  const payload = parse(body);
  const id = payload?.['id'];
  if (typeof payload?.['type'] !== 'string' || typeof id !== 'string') {
    throw new WebhookVerificationError('malformed-payload', 'The body is not an event.');
  }
  if (headerId !== undefined && headerId !== id) {
    throw new WebhookVerificationError('disagreement', 'webhook-id is not the id of the event.');
  }
  // The service validates each event before it signs it.
  return payload as unknown as WebhookEvent;
}

function parse(body: Uint8Array): Record<string, unknown> | undefined {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
