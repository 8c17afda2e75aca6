import type { components } from '../../../generated/types.ts';
import type { EventType } from '../events/event.ts';
import { changeable, fields, hidden, made } from '../../base/fields/fields.ts';
import type { Change, New, None, Thing, Undeclared } from '../../base/fields/fields.ts';
import { integer, json, list, moment, object, same, text, type Kind, type ValueOf } from '../../base/fields/kinds.ts';
import type { HeaderValues } from './custom-headers.ts';
import { presentFilter, type EventFilter } from './event-filter.ts';
import type { Sealed } from '../../base/secrets/secret-box.ts';
import { maskUrl } from './url-credentials.ts';

/** `active`: events are sent. `paused` by an operator or `disabled` by the service: events are held. */
export type IntegrationStatus = 'active' | 'paused' | 'disabled';

/** The types that an integration can subscribe to. Test events are sent to one integration directly. */
export type SubscribableType = Exclude<EventType, 'TEST'>;

/** Why the service disabled an integration: the receiver answered 410, or all attempts failed for days. */
export type DisabledReason = 'gone' | 'failing';

const sealed = same<Sealed>();

/** A header of every delivery to the integration. Every value is encrypted, because it can be a credential. */
export type SealedHeader = ValueOf<typeof header>;
const header = object({ name: text, value: sealed });

const locationIds: Kind<readonly string[], string[], string[], readonly string[]> = {
  ...list(text),
  read: (sent) => (sent.length === 0 ? undefined : [...sent]),
};

const filterJson = json<EventFilter, components['schemas']['EventFilter'], EventFilter>();
const filter: typeof filterJson = {
  ...filterJson,
  fromStored: (stored) => presentFilter(filterJson.fromStored(stored)),
  read: (sent) => (Object.keys(sent).length === 0 ? undefined : sent),
};

/** The stored fields of an integration. */
export const integrationFields = fields({
  id: made(text),
  name: changeable(text),
  /** http or https, without user info and fragment, as the WHATWG URL parser writes it. */
  url: changeable({ ...text, show: maskUrl }),
  eventTypes: changeable(list(same<SubscribableType>())),
  /** The locations whose events it receives; undefined means all. Never empty. */
  locationIds: changeable(locationIds, { optional: true }),
  /** Which events of its types and locations it receives; undefined means all. Never empty. */
  filter: changeable(filter, { optional: true }),
  /** Callers set them by their values; see `headers.ts`. */
  headers: hidden(list(header)),
  /** Key of both signatures. Without it deliveries are not signed. */
  secret: hidden(sealed, { optional: true }),
  /** A rotation in progress, with the next secret. Deliveries are also signed with it. */
  rotation: hidden(object({ id: text, secret: sealed, startedAt: moment }), { optional: true }),
  /** The rotation that was finished last, so that a repeated finish is recognised. */
  finishedRotationId: hidden(text, { optional: true }),
  status: made(same<IntegrationStatus>()),
  /** Set while `status` is `disabled`. */
  disabled: hidden(object({ reason: same<DisabledReason>(), at: moment }), { optional: true }),
  /** No attempt has succeeded since `failingSince`; the integration will be disabled at `disablesAt`. */
  warning: hidden(object({ at: moment, failingSince: moment, disablesAt: moment }), { optional: true }),
  createdAt: made(moment),
  updatedAt: made(moment),
  /**
   * The revision of the last change by an operator. Counts of failures and decisions belong to these settings and are
   * void under another number. Warnings, which the service writes, do not change it.
   */
  settingsRevision: hidden(integer),
});

/** An application that receives events. Deliveries contain its id as the Application ID. */
export interface Integration extends Thing<typeof integrationFields.table> {
  /** Number of writes to the integration. */
  readonly revision: number;
}

export type NewIntegration = Omit<Integration, 'revision' | 'settingsRevision'>;

/** The settings of an integration, without secret and status. */
export type IntegrationContent = New<typeof integrationFields.table> & { readonly headers: HeaderValues };
/** Fields that are left out do not change. */
export type IntegrationChange = Change<typeof integrationFields.table> & {
  readonly headers?: HeaderValues | undefined;
};

type Schemas = components['schemas'];
/** What answers show besides the fields: values that follow from them, and the receiver's condition. */
type Derived =
  | ('headers' | 'signed' | 'secret_rotation' | 'disabled_reason' | 'disabled_at' | 'warning')
  | ('success_rate' | 'last_attempt_at' | 'last_success_at')
  | ('consecutive_failures' | 'last_error' | 'failing_delivery' | 'retrying_until' | 'waiting');
/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInIntegration = None<
  Undeclared<
    typeof integrationFields.table,
    Omit<Schemas['Integration'], Derived>,
    Omit<Schemas['IntegrationCreate'], 'headers' | 'secret' | 'unsigned'>,
    Omit<Schemas['IntegrationUpdate'], Derived>
  >
>;

/** The owner of an encrypted secret or header value. It cannot be decrypted for another owner. */
export function secretRecord(integrationId: string): string {
  return `integrations/${integrationId}/secret`;
}

/** Header names are case-insensitive. */
export function headerRecord(integrationId: string, name: string): string {
  return `integrations/${integrationId}/headers/${name.toLowerCase()}`;
}
