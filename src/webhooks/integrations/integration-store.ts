import type { Filter } from 'mongodb';
import { auditIndex, type AuditEntry } from '../../storage/db/audit.ts';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { createResourceStore, type ResourceDocument } from '../../storage/db/resource-store.ts';
import { read } from '../../storage/db/writes.ts';
import type { Listing } from '../../base/lists/listing.ts';
import { integrationFields } from './integration.ts';
import type { Integration, IntegrationStatus, NewIntegration, SubscribableType } from './integration.ts';

/** The integrations of an event type. */
export interface Subscription {
  readonly integrationId: string;
  readonly eventTypes: readonly SubscribableType[];
  /** Only events of these locations; undefined means all locations. */
  readonly locationIds: readonly string[] | undefined;
  /** Only events that match it, as it is stored; undefined means all. See `integrationFields`. */
  readonly filter: string | undefined;
}

export interface IntegrationStore {
  /** False if an integration with this id already exists. */
  insert(integration: NewIntegration, entry: AuditEntry): Promise<boolean>;
  find(id: string): Promise<Integration | undefined>;
  findMany(ids: readonly string[]): Promise<Integration[]>;
  /**
   * Newest first.
   * @param status only those that have it
   * @param locations only those that are for none but these
   */
  list(status: IntegrationStatus | undefined, locations: ReadonlySet<string> | undefined): Listing<Integration>;
  /**
   * Writes the integration if the stored one still has its revision. A change by an operator resets the counts of
   * failures.
   * @param entry the record of an operator's change; undefined for one by the service
   * @returns the written integration; undefined if another writer was first
   */
  replace(integration: Integration, entry: AuditEntry | undefined): Promise<Integration | undefined>;
  /** Deletes it if it still has this revision. False if it was changed in the meantime; true if it no longer exists. */
  remove(integration: Integration, entry: AuditEntry): Promise<boolean>;
  /** Integrations that subscribe to any of the types. Inactive ones are included, because their events are held. */
  subscriptions(types: readonly SubscribableType[]): Promise<Subscription[]>;
  /** Ids of all integrations in their order, from after the given one. */
  ids(after: string, limit: number): Promise<string[]>;
  /** Ids of all integrations that are for none but these locations. */
  idsWithin(locations: ReadonlySet<string>): Promise<string[]>;
  /** Ids of all integrations that are not active. */
  inactiveIds(): Promise<string[]>;
  /** The ids for which an integration exists. */
  existing(ids: readonly string[]): Promise<Set<string>>;
}

type IntegrationDocument = ResourceDocument<typeof integrationFields.table>;

const collectionName = 'integrations';

export const integrationIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { status: 1, created_at: -1, _id: 1 }, name: 'status_1_created_at_-1__id_1' },
    { key: { event_types: 1 }, name: 'event_types_1' },
    auditIndex,
  ],
};

export function createIntegrationStore(database: PagedDatabase): IntegrationStore {
  const integrations = database.db.collection<IntegrationDocument>(collectionName);
  const resources = createResourceStore(database, collectionName, integrationFields);
  const listByTime = database.pages.listsOf(fromDocument);
  const idsOf = async (filter: Filter<IntegrationDocument>, limit: number): Promise<string[]> => {
    const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit } as const;
    return (await read(() => integrations.find(filter, options).toArray())).map(({ _id }) => _id);
  };

  return {
    find: resources.find,
    insert: (integration, entry) => resources.insert({ ...integration, settingsRevision: 1 }, entry),
    async findMany(ids) {
      const documents = await read(() => integrations.find({ _id: { $in: [...ids] } }).toArray());
      return documents.map(fromDocument);
    },
    list: (status, locations) =>
      listByTime({
        collection: integrations,
        time: 'created_at',
        where: status === undefined ? {} : { status },
        ...(locations !== undefined && { rest: within(locations) }),
      }),
    replace(integration, entry) {
      const settingsRevision = entry === undefined ? integration.settingsRevision : integration.revision + 1;
      return resources.replace({ ...integration, settingsRevision }, entry);
    },
    remove: (integration, entry) => resources.remove(integration, entry),
    async subscriptions(types) {
      const filter = { event_types: { $in: [...types] } };
      const found = await read(() =>
        integrations.find(filter, { projection: { event_types: 1, location_ids: 1, filter: 1 } }).toArray(),
      );
      return found.map(({ _id, event_types, location_ids, filter: stored }) => ({
        integrationId: _id,
        eventTypes: event_types,
        locationIds: location_ids,
        filter: stored,
      }));
    },
    ids: (after, limit) => idsOf({ _id: { $gt: after } }, limit),
    async idsWithin(locations) {
      const found = await read(() => integrations.find(within(locations), { projection: { _id: 1 } }).toArray());
      return found.map(({ _id }) => _id);
    },
    async inactiveIds() {
      const idsWith = (status: IntegrationStatus) =>
        read(() => integrations.find({ status }, { projection: { _id: 1 } }).toArray());
      return (await Promise.all([idsWith('paused'), idsWith('disabled')])).flat().map(({ _id }) => _id);
    },
    existing: (ids) => database.pages.existing(integrations, ids),
  };
}

/** One without `location_ids` is for all locations. */
function within(locations: ReadonlySet<string>): Filter<IntegrationDocument> {
  return { location_ids: { $exists: true, $not: { $elemMatch: { $nin: [...locations] } } } };
}

function fromDocument(document: IntegrationDocument): Integration {
  return { ...integrationFields.fromDocument(document), revision: document.revision };
}
