import { signatureHeaders, type SigningSecrets } from './signatures.ts';

/** What the headers of an attempt are made of. */
export interface DeliveryContent {
  readonly eventId: string;
  readonly eventType: string;
  readonly targetUuid: string | undefined;
  readonly traceparent?: string | undefined;
  readonly body: Uint8Array;
}

export interface HeaderContext {
  readonly integrationId: string;
  /** The integration's own headers. */
  readonly custom: readonly { readonly name: string; readonly value: string }[];
  readonly secrets: SigningSecrets;
  /** Of this service, for `User-Agent`. */
  readonly version: string;
}

/**
 * All headers of one attempt but Host and Content-Length, names and values alternating. Custom ones come first; the rules for
 * their names keep them from taking another's.
 */
export function deliveryHeaders(message: DeliveryContent, context: HeaderContext, at: Date): string[] {
  const { eventId, eventType, targetUuid, traceparent, body } = message;
  // One that an integration brings along goes before.
  const hasOwnTrace = context.custom.some(({ name }) => name.toLowerCase() === 'traceparent');
  const timestamp = Math.floor(at.getTime() / 1_000);
  return [
    ...context.custom.flatMap(({ name, value }) => [name, value]),
    ...['Content-Type', 'application/json'],
    ...['User-Agent', `Service-WebhookAgent/${context.version}`],
    ...['X-Service-Event-Type', eventType],
    ...(targetUuid === undefined ? [] : ['X-Service-Event-Target-UUID', targetUuid]),
    ...['X-Service-Application-ID', context.integrationId],
    ...(traceparent === undefined || hasOwnTrace ? [] : ['traceparent', traceparent]),
    ...signatureHeaders({ id: eventId, timestamp, body }, context.secrets).flat(),
  ];
}
