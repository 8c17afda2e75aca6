import { LRUCache } from 'lru-cache';
import { retryLostRaces } from '../../base/editing/lost-races.ts';
import type { EventType } from '../events/event.ts';
import { readPayload } from '../events/serialise.ts';
import { readyFilter, type ReadyFilter } from './event-filter.ts';
import { headerRecord, integrationFields, secretRecord, type DisabledReason, type Integration } from './integration.ts';
import type { Sealed, SecretBox } from '../../base/secrets/secret-box.ts';
import type { IntegrationStore } from './integration-store.ts';

/** Everything that a delivery needs to know about its receiver. It contains secrets: never log it. */
export interface ReceiverSettings {
  readonly integrationId: string;
  readonly settingsRevision: number;
  /** The time of the last change by an operator. */
  readonly changedAt: Date;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly secret: string | undefined;
  /** The next secret, during a rotation. */
  readonly nextSecret: string | undefined;
  readonly isWarned: boolean;
}

/** A decision of the delivery engine. It does not apply if an operator has changed the settings in the meantime. */
export interface Decision {
  readonly integrationId: string;
  readonly settingsRevision: number;
}

/**
 * How the delivery engine reads and updates integrations. Nothing is cached: changes of an operator apply immediately.
 */
export interface IntegrationDirectory {
  /**
   * @returns a function that finds the ids of the integrations that receive an event of one of the types, also of
   * inactive ones
   */
  subscribers(types: ReadonlySet<EventType>): Promise<(event: Announced) => readonly string[]>;
  find(ids: readonly string[]): Promise<Integration[]>;
  /**
   * @throws SecretUnreadableError when a key is missing, because nothing may be sent unsigned or without its headers
   */
  open(integration: Integration): ReceiverSettings;
  /** Ids of all integrations in their order, from after the given one. */
  ids(after: string, limit: number): Promise<string[]>;
  /** The ids for which an integration exists. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Disables an active integration. @returns whether it is disabled by this decision */
  disable(decision: Decision & { readonly reason: DisabledReason; readonly at: Date }): Promise<boolean>;
  /**
   * Warns that an active integration will be disabled. @returns the time of the warning; undefined if the decision does
   * not apply
   */
  warn(
    decision: Decision & { readonly at: Date; readonly failingSince: Date; readonly disablesAt: Date },
  ): Promise<boolean>;
  clearWarning(decision: Decision): Promise<void>;
}

/** An event, as far as its receivers depend on it. */
export interface Announced {
  readonly type: EventType;
  readonly locationId: string | undefined;
  /** The bytes that are sent. */
  readonly body: Uint8Array;
}

/** The same for many integrations: its payload is read only if one of them has a filter, and once. */
function announced({ locationId, body }: Omit<Announced, 'type'>) {
  let read: { readonly payload: unknown } | undefined;
  return {
    locationId,
    payload: (): unknown => (read ??= { payload: readPayload(body) }).payload,
  };
}

/** Decides which events of its types an integration receives: those of its locations that match its filter. */
function receives(
  { locationIds, filter }: Pick<Integration, 'locationIds'> & { readonly filter: ReadyFilter | undefined },
  { locationId, payload }: ReturnType<typeof announced>,
): boolean {
  const isHere = locationIds === undefined || (locationId !== undefined && locationIds.includes(locationId));
  return isHere && (filter === undefined || filter.matches(payload()));
}

/** The events of its types that an integration receives. */
export function receivedBy<Event extends Omit<Announced, 'type'>>(
  { locationIds, filter }: Pick<Integration, 'locationIds' | 'filter'>,
  events: readonly Event[],
): Event[] {
  const receiver = { locationIds, filter: filter && readyFilter(filter) };
  return events.filter((event) => receives(receiver, announced(event)));
}

/** Characters of stored filters that are kept ready: of 10,000 receivers and more. */
const readyCharacters = 2_000_000;

export function createIntegrationDirectory(store: IntegrationStore, secrets: SecretBox): IntegrationDirectory {
  // By what is stored, so that a change applies immediately. Reading 10,000 of them takes 50 ms of CPU.
  const ready = new LRUCache<string, ReadyFilter>({
    maxSize: readyCharacters,
    sizeCalculation: (_, stored) => stored.length,
    memoMethod: (stored) => readyFilter(integrationFields.table.filter.kind.fromStored(stored)),
  });
  /**
   * Changes an active integration if no operator has changed it in the meantime. Other writes of the service do not
   * prevent this.
   */
  const change = async (
    { integrationId, settingsRevision }: Decision,
    edit: (integration: Integration) => Integration | undefined,
  ): Promise<boolean> =>
    retryLostRaces(async () => {
      const integration = await store.find(integrationId);
      if (integration?.settingsRevision !== settingsRevision || integration.status !== 'active') return false;
      const edited = edit(integration);
      if (edited === undefined) return true;
      return (await store.replace(edited, undefined)) === undefined ? undefined : true;
    });

  return {
    async subscribers(types) {
      const wanted = [...types].filter((type) => type !== 'TEST');
      const found = wanted.length === 0 ? [] : await store.subscriptions(wanted);
      const receivers = found.map(({ filter, ...rest }) => ({
        ...rest,
        filter: filter === undefined ? undefined : ready.memo(filter),
      }));
      return ({ type, ...rest }) => {
        const event = announced(rest);
        return receivers
          .filter((each) => each.eventTypes.some((subscribed) => subscribed === type) && receives(each, event))
          .map(({ integrationId }) => integrationId);
      };
    },
    find: (ids) => store.findMany(ids),
    open(integration) {
      const { id, url, headers, secret, rotation, settingsRevision, warning, updatedAt } = integration;
      const openSecret = (sealed: Sealed | undefined): string | undefined =>
        sealed === undefined ? undefined : secrets.open(sealed, secretRecord(id));
      return {
        integrationId: id,
        settingsRevision,
        changedAt: updatedAt,
        url,
        headers: headers.map(({ name, value }) => ({ name, value: secrets.open(value, headerRecord(id, name)) })),
        secret: openSecret(secret),
        nextSecret: openSecret(rotation?.secret),
        isWarned: warning !== undefined,
      };
    },
    ids: (after, limit) => store.ids(after, limit),
    existing: (ids) => store.existing(ids),
    disable: (decision) =>
      change(decision, (integration) => ({
        ...integration,
        status: 'disabled',
        disabled: { reason: decision.reason, at: decision.at },
        warning: undefined,
      })),
    warn: (decision) =>
      change(decision, (integration) => {
        const { at, failingSince, disablesAt } = decision;
        return integration.warning === undefined
          ? { ...integration, warning: { at, failingSince, disablesAt } }
          : undefined;
      }),
    async clearWarning(decision) {
      await change(decision, (integration) =>
        integration.warning === undefined ? undefined : { ...integration, warning: undefined },
      );
    },
  };
}
