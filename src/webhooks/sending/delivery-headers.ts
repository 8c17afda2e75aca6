import { targetUuidOf } from '../events/target.ts';
import { signatureHeaders, type SigningSecrets } from './signatures.ts';

/** The data for the headers of an attempt. */
export interface DeliveryContent {
  readonly eventId: string;
  readonly eventType: string;
  readonly targetId: string;
  readonly traceparent?: string | undefined;
  readonly body: Uint8Array;
}

export interface HeaderContext {
  readonly integrationId: string;
  /** The integration's own headers. */
  readonly custom: readonly { readonly name: string; readonly value: string }[];
  readonly secrets: SigningSecrets;
  /** The version of this service, for `User-Agent`. */
  readonly version: string;
}

/**
 * All headers of one attempt except Host and Content-Length; names and values alternate. Custom headers come first. The
 * rules for their names ensure that they do not replace others.
 */
export function deliveryHeaders(message: DeliveryContent, context: HeaderContext, at: Date): string[] {
  const { eventId, eventType, targetId, traceparent, body } = message;
  const targetUuid = targetUuidOf(targetId);
  // A custom header of the integration takes precedence.
  const hasOwnTrace = context.custom.some(({ name }) => name.toLowerCase() === 'traceparent');
  const timestamp = Math.floor(at.getTime() / 1_000);
  return [
    ...context.custom.flatMap(({ name, value }) => [name, value]),
    ...['Content-Type', 'application/json'],
    ...['User-Agent', `Service-WebhookAgent/${context.version}`],
    ...['X-Service-Event-Type', eventType],
    ...(targetUuid === null ? [] : ['X-Service-Event-Target-UUID', targetUuid]),
    ...['X-Service-Event-Target-ID', targetId],
    ...['X-Service-Application-ID', context.integrationId],
    ...(traceparent === undefined || hasOwnTrace ? [] : ['traceparent', traceparent]),
    ...signatureHeaders({ id: eventId, timestamp, body }, context.secrets).flat(),
  ];
}
