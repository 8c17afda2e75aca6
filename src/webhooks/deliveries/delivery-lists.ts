import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { Source } from '../../storage/db/pages.ts';
import type { EventType } from '../events/event.ts';
import type { DeliveryStatus, Outcome } from './delivery.ts';
import type { DeliveryDocument } from './delivery-documents.ts';

/** Which deliveries a list has. */
export interface DeliveryFilter {
  /** Only those of one integration. */
  readonly integrationId?: string | undefined;
  /** Only those of these integrations, or of all others. */
  readonly integrations?: { readonly among: readonly string[] } | { readonly except: readonly string[] } | undefined;
  /** Only those of events of these locations, and of test events. */
  readonly locations?: ReadonlySet<string> | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** Only those whose last attempt failed, or only those without any that ended. */
  readonly hasFailed?: boolean | undefined;
  readonly eventType?: EventType | undefined;
  /** Only those of events about this. */
  readonly targetId?: string | undefined;
  /** Only those of this event. No index has it, so the target of the event must be given, too. */
  readonly eventId?: string | undefined;
  /** Outcome of the last attempt that ended. */
  readonly lastOutcome?: Outcome | undefined;
  /** `createdAt` from, inclusive. */
  readonly since?: Date | undefined;
  /** `createdAt` up to, exclusive. */
  readonly until?: Date | undefined;
}

const pending = 'pending' satisfies DeliveryStatus;
const delivered = 'delivered' satisfies DeliveryStatus;
const succeeded = '2xx' satisfies Outcome;
// In the alphabet, the other statuses come after `delivered`, and the outcomes of failures after `2xx`.
const failed = { last_outcome: { $gt: succeeded } };
const retrying = { status: pending, ...failed };

/**
 * The indexes of lists. On a server that fetches whatever matches, every
 * index costs more at each insertion and helps less, so it has few: deliveries of most types are found soon among all,
 * and so are those with a status among the deliveries of an integration.
 */
export const listIndexes: Required<Omit<CollectionIndexes, 'collection'>> = {
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { integration_id: 1, created_at: -1, _id: 1 }, name: 'integration_id_1_created_at_-1__id_1' },
    { key: { target_id: 1, created_at: -1, _id: 1 }, name: 'target_id_1_created_at_-1__id_1' },
    {
      key: { status: 1, created_at: -1, _id: 1 },
      name: 'undelivered_status_1_created_at_-1__id_1',
      partialFilterExpression: { status: { $gt: delivered } },
    },
    {
      key: { last_outcome: 1, created_at: -1, _id: 1 },
      name: 'failed_last_outcome_1_created_at_-1__id_1',
      partialFilterExpression: failed,
    },
  ],
  // The last field of some of them only makes the key another one, because not every server takes two indexes with the
  // same key.
  inOrder: [
    { key: { event_type: 1, created_at: -1, _id: 1 }, name: 'event_type_1_created_at_-1__id_1' },
    {
      key: { created_at: -1, _id: 1, status: 1 },
      name: 'delivered_created_at_-1__id_1_status_1',
      partialFilterExpression: { status: delivered },
    },
    {
      key: { created_at: -1, _id: 1, last_outcome: 1 },
      name: 'retrying_created_at_-1__id_1_last_outcome_1',
      partialFilterExpression: retrying,
    },
    {
      key: { integration_id: 1, event_type: 1, created_at: -1, _id: 1 },
      name: 'integration_id_1_event_type_1_created_at_-1__id_1',
    },
    {
      key: { integration_id: 1, status: 1, created_at: -1, _id: 1 },
      name: 'integration_id_1_status_1_created_at_-1__id_1',
    },
    {
      key: { integration_id: 1, last_outcome: 1, created_at: -1, _id: 1 },
      name: 'failed_integration_id_1_last_outcome_1_created_at_-1__id_1',
      partialFilterExpression: failed,
    },
    {
      key: { integration_id: 1, created_at: -1, _id: 1, last_outcome: 1 },
      name: 'retrying_integration_id_1_created_at_-1__id_1_last_outcome_1',
      partialFilterExpression: retrying,
    },
  ],
};

/** Fields of `indexes`, those first that have the fewest deliveries. */
const selective = ['target_id', 'integration_id', 'last_outcome', 'status'];

/** The deliveries of a list. */
export function deliverySource(
  collection: Source<DeliveryDocument>['collection'],
  filter: DeliveryFilter,
): Source<DeliveryDocument> {
  const { integrationId, integrations, status, hasFailed, eventType, targetId, lastOutcome, since, until } = filter;
  const { eventId, locations } = filter;
  const equal: Record<string, unknown> = {
    ...(targetId === undefined ? {} : { target_id: targetId }),
    ...(integrationId === undefined ? {} : { integration_id: integrationId }),
    ...(lastOutcome === undefined ? {} : { last_outcome: lastOutcome }),
    ...(status === undefined ? {} : { status }),
    ...(eventType === undefined ? {} : { event_type: eventType }),
    ...(eventId === undefined ? {} : { event_id: eventId }),
  };
  // The partial indexes have nothing that was delivered.
  const indexed = selective.find((name) => name in equal && ![succeeded, delivered].includes(equal[name] as string));
  const { [indexed ?? '']: value, ...further } = equal;
  const others =
    integrations === undefined || integrationId !== undefined
      ? []
      : 'among' in integrations
        ? [{ integration_id: { $in: [...integrations.among] } }]
        : [{ integration_id: { $nin: [...integrations.except] } }];
  const there = locations === undefined ? [] : [{ $or: [{ location_id: { $in: [...locations] } }, { test: true }] }];
  const attempted = hasFailed === undefined ? [] : [hasFailed ? failed : { last_outcome: { $exists: false } }];
  // Several conditions on one field must not replace each other.
  const conditions = [...(Object.keys(further).length > 0 ? [further] : []), ...others, ...there, ...attempted];
  return {
    collection,
    where: indexed === undefined ? {} : { [indexed]: value },
    time: 'created_at',
    span: { since, until },
    rest: conditions.length > 1 ? { $and: conditions } : conditions[0],
  };
}
