import type { components } from '../../generated/types.ts';
import type { EventType } from '../events/event.ts';
import { changeable, fields, hidden, made } from '../fields/fields.ts';
import type { Change, New, None, Thing, Undeclared } from '../fields/fields.ts';
import { integer, list, moment, object, same, text, type Kind, type ValueOf } from '../fields/kinds.ts';
import type { HeaderValues } from './custom-headers.ts';
import type { Sealed } from '../secrets/secret-box.ts';
import { maskUrl } from './url-credentials.ts';

/** `active`: events are sent. `paused` by an operator or `disabled` by the service: events are held. */
export type IntegrationStatus = 'active' | 'paused' | 'disabled';

/** What an integration can subscribe to. Test events reach an integration by being sent to it. */
export type SubscribableType = Exclude<EventType, 'TEST'>;

/** Why the service disabled an integration: the receiver answered 410, or nothing succeeded for days. */
export type DisabledReason = 'gone' | 'failing';

const sealed = same<Sealed>();

/** A header that every delivery to the integration carries. Its value is sealed whatever it is: it may be a credential. */
export type SealedHeader = ValueOf<typeof header>;
const header = object({ name: text, value: sealed });

const locationIds: Kind<readonly string[], string[], string[], readonly string[]> = {
  ...list(text),
  read: (sent) => (sent.length === 0 ? undefined : [...sent]),
};

/** What is kept of an integration. */
export const integrationFields = fields({
  id: made(text),
  name: changeable(text),
  /** http or https, without user info and fragment, as the WHATWG URL parser writes it. */
  url: changeable({ ...text, show: maskUrl }),
  eventTypes: changeable(list(same<SubscribableType>())),
  /** Those whose events it receives; all when it names none. Never empty. */
  locationIds: changeable(locationIds, { optional: true }),
  /** Callers set them, by their values; see `headers.ts`. */
  headers: hidden(list(header)),
  /** Key of both signatures. Deliveries are not signed without one. */
  secret: hidden(sealed, { optional: true }),
  /** A rotation that has begun: the secret that is going to follow. Deliveries are signed with it, too. */
  rotation: hidden(object({ id: text, secret: sealed, startedAt: moment }), { optional: true }),
  /** The rotation that was finished last, so that finishing it again is recognised. */
  finishedRotationId: hidden(text, { optional: true }),
  status: made(same<IntegrationStatus>(), { storedAs: 'state' }),
  /** Set while `status` is `disabled`. */
  disabled: hidden(object({ reason: same<DisabledReason>(), at: moment }), { optional: true }),
  /** No attempt has succeeded since `failingSince`; the integration will be disabled at `disablesAt`. */
  warning: hidden(object({ at: moment, failingSince: moment, disablesAt: moment }), { optional: true }),
  createdAt: made(moment),
  updatedAt: made(moment),
  /**
   * The revision that an operator made last. Failures are counted, and decisions made, for these settings: under
   * another number they are void. Warnings, which the service writes, leave it alone.
   */
  settingsRevision: hidden(integer),
});

/** An application that receives events. Its id is the Application ID of its deliveries. */
export interface Integration extends Thing<typeof integrationFields.table> {
  /** Counts the writes to the integration. */
  readonly revision: number;
}

export type NewIntegration = Omit<Integration, 'revision' | 'settingsRevision'>;

/** What an operator decides about an integration, secret and status apart. */
export type IntegrationContent = New<typeof integrationFields.table> & { readonly headers: HeaderValues };
/** What is left out stays as it is. */
export type IntegrationChange = Change<typeof integrationFields.table> & {
  readonly headers?: HeaderValues | undefined;
};

type Schemas = components['schemas'];
/** What answers show beside the fields: what follows from them, and how the receiver is doing. */
type Derived =
  | ('headers' | 'has_secret' | 'secret_rotation' | 'disabled_reason' | 'disabled_at' | 'warning')
  | ('consecutive_failures' | 'last_error' | 'retrying_until' | 'waiting');
/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInIntegration = None<
  Undeclared<
    typeof integrationFields.table,
    Omit<Schemas['Integration'], Derived>,
    Omit<Schemas['IntegrationCreate'], 'headers' | 'secret' | 'generate_secret'>,
    Omit<Schemas['IntegrationUpdate'], Derived>
  >
>;

/** What a sealed secret or header value belongs to: it cannot be opened as anything else's. */
export function secretRecord(integrationId: string): string {
  return `integrations/${integrationId}/secret`;
}

/** Header names are the same whatever their case. */
export function headerRecord(integrationId: string, name: string): string {
  return `integrations/${integrationId}/headers/${name.toLowerCase()}`;
}
