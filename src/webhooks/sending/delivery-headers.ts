import { looksLikeCredential, mask } from '../integrations/custom-headers.ts';
import { targetUuidOf } from '../events/target.ts';
import { signatureHeaders, type SigningSecrets } from './signatures.ts';

/** The data for the headers of an attempt. */
export interface DeliveryContent {
  readonly integrationId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly targetId: string;
  readonly traceparent?: string | undefined;
}

export interface HeaderContext {
  /** The integration's own headers. */
  readonly custom: readonly { readonly name: string; readonly value: string }[];
  readonly secrets: SigningSecrets;
  /** The version of this service, for `User-Agent`. */
  readonly version: string;
}

/** Names and values alternate. */
type Headers = readonly string[];

/**
 * The headers that depend on the integration and on this release. Custom headers come first. The rules for their names
 * ensure that they do not replace others.
 */
export function settingsHeaders(
  { eventId: id, body }: DeliveryContent & { readonly body: Uint8Array },
  { custom, secrets, version }: HeaderContext,
  at: Date,
): Headers {
  return [
    ...custom.flatMap(({ name, value }) => [name, value]),
    ...['User-Agent', `Service-WebhookAgent/${version}`],
    ...signatureHeaders({ id, timestamp: toSeconds(at), body }, secrets).flat(),
  ];
}

/**
 * All headers of one attempt except Host, Connection and Content-Length.
 * @param settings what `settingsHeaders` returned, or what is kept of it
 */
export function deliveryHeaders(settings: Headers, content: DeliveryContent, at: Date): string[] {
  const { integrationId, eventId, eventType, targetId, traceparent } = content;
  const targetUuid = targetUuidOf(targetId);
  // A custom header of the integration takes precedence.
  const hasOwnTrace = settings.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'traceparent');
  return [
    ...settings,
    ...['Content-Type', 'application/json'],
    ...['X-Service-Event-Type', eventType],
    ...(targetUuid === null ? [] : ['X-Service-Event-Target-UUID', targetUuid]),
    ...['X-Service-Event-Target-ID', targetId],
    ...['X-Service-Application-ID', integrationId],
    ...(traceparent === undefined || hasOwnTrace ? [] : ['traceparent', traceparent]),
    ...['webhook-id', eventId],
    ...['webhook-timestamp', String(toSeconds(at))],
  ];
}

/** What is kept of `settingsHeaders` with the record of an attempt: custom values are masked where they are when shown. */
export function keptHeaders(settings: Headers): string[] {
  return settings.map((value, index) => {
    const name = settings[index - 1] ?? '';
    return index % 2 === 1 && !isOfService(name) && looksLikeCredential(name, value) ? mask : value;
  });
}

function isOfService(name: string): boolean {
  return /^(?:user-agent|webhook-signature|x-service-signature)$/i.test(name);
}

function toSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}
