import type { EventPayloads } from '../generated/events.ts';
import { readSecrets, signBody, signDelivery, toBytes } from './signatures.ts';

export interface TestSignature {
  /** `webhook-id`; by default the `id` of the event, or a new one. */
  readonly id?: string | undefined;
  /** Time of the attempt; now by default. */
  readonly at?: Date | undefined;
}

/** An event whose `id` can be left out. */
type TestEvent = {
  [Type in keyof EventPayloads]: Omit<EventPayloads[Type], 'id'> & { id?: string };
}[keyof EventPayloads];

/** A delivery in the form that a receiver gets. */
export interface SignedDelivery {
  readonly body: string;
  /** With names in lower case. */
  readonly headers: Record<string, string>;
}

/**
 * Creates a delivery as the service sends it, to test your own receiver.
 *
 * @param event an event, or a body as text, which is signed unchanged
 * @param secrets one secret, or the old and the new one as during a rotation
 * @throws TypeError if there is no usable secret
 */
export async function signForTest(
  event: TestEvent | string,
  secrets: string | readonly string[],
  options: TestSignature = {},
): Promise<SignedDelivery> {
  const payload = (typeof event === 'string' ? parse(event) : event) as Record<string, unknown> | undefined;
  const id = options.id ?? String(payload?.['id'] ?? crypto.randomUUID());
  const body = typeof event === 'string' ? event : JSON.stringify({ ...event, id });
  const timestamp = String(Math.floor((options.at ?? new Date()).getTime() / 1_000));
  const bytes = toBytes(body);
  const keys = readSecrets(secrets);
  const [service] = await Promise.all(keys.map((key) => signBody(key, bytes)));
  const standard = await Promise.all(keys.map((key) => signDelivery(key, id, timestamp, bytes)));
  const targetId = payload?.['targetId'];
  const targetUuid = payload?.['targetUuid'];
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Service-WebhookAgent/test',
      'x-service-event-type': String(payload?.['type'] ?? 'TEST'),
      ...(typeof targetId === 'string' ? { 'x-service-event-target-id': targetId } : {}),
      ...(typeof targetUuid === 'string' ? { 'x-service-event-target-uuid': targetUuid } : {}),
      'x-service-application-id': '00000000-0000-4000-8000-000000000000',
      'x-service-signature': service ?? '',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': standard.join(' '),
    },
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
