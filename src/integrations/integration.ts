import type { EventType } from '../events/event.ts';
import type { Sealed } from './secrets.ts';

/** `active`: events are sent. `paused` by an operator or `disabled` by the service: events are held. */
export type IntegrationStatus = 'active' | 'paused' | 'disabled';

/** What an integration can subscribe to. Test events reach an integration by being sent to it. */
export type SubscribableType = Exclude<EventType, 'TEST'>;

/** Why the service disabled an integration: the receiver answered 410, or nothing succeeded for days. */
export type DisabledReason = 'gone' | 'failing';

/** A header that every delivery to the integration carries. Its value is sealed whatever it is: it may be a credential. */
export interface SealedHeader {
  readonly name: string;
  readonly value: Sealed;
}

/** A secret that is being given to the receiver. Deliveries are signed with it, too, until it takes over. */
export interface SecretRotation {
  readonly id: string;
  readonly secret: Sealed;
  readonly startedAt: Date;
}

/** An application that receives events. Its id is the Application ID of its deliveries. */
export interface Integration {
  readonly id: string;
  /** Counts the writes to the integration. */
  readonly revision: number;
  /**
   * The revision that an operator made last. Failures are counted, and decisions made, for these settings: under
   * another number they are void. Warnings, which the service writes, leave it alone.
   */
  readonly settingsRevision: number;
  readonly name: string;
  /** http or https, without user info and fragment, as the WHATWG URL parser writes it. */
  readonly url: string;
  readonly eventTypes: readonly SubscribableType[];
  readonly headers: readonly SealedHeader[];
  /** Key of both signatures. Deliveries are not signed without one. */
  readonly secret: Sealed | undefined;
  /** A rotation that has begun: the secret that is going to follow. */
  readonly rotation: SecretRotation | undefined;
  /** The rotation that was finished last, so that finishing it again is recognised. */
  readonly finishedRotationId: string | undefined;
  readonly status: IntegrationStatus;
  /** Set while `status` is `disabled`. */
  readonly disabled: { readonly reason: DisabledReason; readonly at: Date } | undefined;
  /** Nothing succeeded since `failingSince`; the integration is going to be disabled at `disablesAt`. */
  readonly warning: { readonly at: Date; readonly failingSince: Date; readonly disablesAt: Date } | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type NewIntegration = Omit<Integration, 'revision' | 'settingsRevision'>;

/** What a sealed secret or header value belongs to: it cannot be opened as anything else's. */
export function secretRecord(integrationId: string): string {
  return `integrations/${integrationId}/secret`;
}

/** Header names are the same whatever their case. */
export function headerRecord(integrationId: string, name: string): string {
  return `integrations/${integrationId}/headers/${name.toLowerCase()}`;
}
