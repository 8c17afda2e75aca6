import type { Collection, Filter } from 'mongodb';
import type { Database } from '../db/client.ts';
import type { CollectionIndexes } from '../db/indexes.ts';
import { compareAndSet, insertOnce, read, writeIdempotently, type StampedDocument } from '../db/writes.ts';
import type {
  DisabledReason,
  Integration,
  IntegrationStatus,
  NewIntegration,
  SealedHeader,
  SubscribableType,
} from './integration.ts';
import type { Sealed } from './secrets.ts';

/** Where an event type goes. */
export interface Subscription {
  readonly integrationId: string;
  readonly eventTypes: readonly SubscribableType[];
}

/** Who writes: an operator, whose settings start with a clean slate, or the service itself. */
export type Author = 'operator' | 'service';

export interface IntegrationStore {
  /** False when an integration with this id exists already. */
  insert(integration: NewIntegration): Promise<boolean>;
  find(id: string): Promise<Integration | undefined>;
  findMany(ids: readonly string[]): Promise<Integration[]>;
  /** Newest first. */
  list(limit: number, offset: number): Promise<{ integrations: Integration[]; total: number }>;
  /** Writes the integration over the revision it was read at. @returns it as written; undefined when a race was lost */
  replace(integration: Integration, author: Author): Promise<Integration | undefined>;
  /** Deletes it if it still has this revision. False when it was changed meanwhile; true when it is gone. */
  remove(integration: Pick<Integration, 'id' | 'revision'>): Promise<boolean>;
  /** Integrations that subscribe to any of the types, whatever their status: events for those that are not active are held. */
  subscriptions(types: readonly SubscribableType[]): Promise<Subscription[]>;
  /** Ids of all integrations in their order, from after the given one. */
  ids(after: string, limit: number): Promise<string[]>;
  /** Ids of active integrations in their order, from after the given one. */
  activeIds(after: string, limit: number): Promise<string[]>;
  /** Those of the ids that exist. */
  existing(ids: readonly string[]): Promise<Set<string>>;
}

interface IntegrationDocument extends StampedDocument {
  settings_revision: number;
  name: string;
  url: string;
  event_types: SubscribableType[];
  headers: { name: string; value: string }[];
  secret?: string;
  rotation?: { id: string; secret: string; started_at: Date };
  finished_rotation_id?: string;
  /** Its status. The name is kept because documents have it. */
  state: IntegrationStatus;
  disabled?: { reason: DisabledReason; at: Date };
  warning?: { at: Date; failing_since: Date; disables_at: Date };
  created_at: Date;
  updated_at: Date;
}

const collectionName = 'integrations';
const optionalFields = ['secret', 'rotation', 'finished_rotation_id', 'disabled', 'warning'] as const;

export const integrationIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { event_types: 1 }, name: 'event_types_1' },
  ],
};

export function createIntegrationStore(database: Database): IntegrationStore {
  const integrations: Collection<IntegrationDocument> = database.db.collection(collectionName);
  const find = async (id: string): Promise<Integration | undefined> => {
    const document = await read(() => integrations.findOne({ _id: id }));
    return document === null ? undefined : fromDocument(document);
  };

  const idsOf = async (filter: Filter<IntegrationDocument>, limit: number): Promise<string[]> => {
    const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit } as const;
    return (await read(() => integrations.find(filter, options).toArray())).map(({ _id }) => _id);
  };

  return {
    find,
    async insert(integration) {
      const inserted = await insertOnce(integrations, {
        _id: integration.id,
        settings_revision: 1,
        created_at: integration.createdAt,
        ...toChangeableFields(integration),
      });
      return inserted.outcome === 'done';
    },
    async findMany(ids) {
      const documents = await read(() => integrations.find({ _id: { $in: [...ids] } }).toArray());
      return documents.map(fromDocument);
    },
    async list(limit, offset) {
      const [documents, total] = await Promise.all([
        read(() => integrations.find({}).sort({ created_at: -1, _id: 1 }).skip(offset).limit(limit).toArray()),
        read(() => integrations.countDocuments({})),
      ]);
      return { integrations: documents.map(fromDocument), total };
    },
    async replace(integration, author) {
      const { id, revision } = integration;
      const settingsRevision = author === 'operator' ? revision + 1 : integration.settingsRevision;
      const fields = toChangeableFields(integration);
      const absent = optionalFields.filter((name) => fields[name] === undefined);
      const written = await compareAndSet(integrations, {
        id,
        revision,
        change: {
          $set: { ...fields, settings_revision: settingsRevision },
          ...(absent.length === 0 ? {} : { $unset: Object.fromEntries(absent.map((name) => [name, ''])) }),
        },
      });
      return written.outcome === 'done' ? { ...integration, settingsRevision, revision: written.revision } : undefined;
    },
    async remove({ id, revision }) {
      await writeIdempotently(() => integrations.deleteOne({ _id: id, revision }));
      return (await find(id)) === undefined;
    },
    async subscriptions(types) {
      const filter = { event_types: { $in: [...types] } };
      const found = await read(() => integrations.find(filter, { projection: { event_types: 1 } }).toArray());
      return found.map(({ _id, event_types }) => ({ integrationId: _id, eventTypes: event_types }));
    },
    ids: (after, limit) => idsOf({ _id: { $gt: after } }, limit),
    activeIds: (after, limit) => idsOf({ _id: { $gt: after }, state: 'active' }, limit),
    async existing(ids) {
      const filter = { _id: { $in: [...ids] } };
      const found = await read(() => integrations.find(filter, { projection: { _id: 1 } }).toArray());
      return new Set(found.map(({ _id }) => _id));
    },
  };
}

type ChangeableFields = Pick<
  IntegrationDocument,
  'name' | 'url' | 'event_types' | 'headers' | 'state' | 'updated_at' | (typeof optionalFields)[number]
>;

function toChangeableFields(integration: NewIntegration): ChangeableFields {
  const { secret, rotation, finishedRotationId, disabled, warning } = integration;
  return {
    name: integration.name,
    url: integration.url,
    event_types: [...integration.eventTypes],
    headers: integration.headers.map(({ name, value }) => ({ name, value })),
    ...(secret === undefined ? {} : { secret }),
    ...(rotation === undefined
      ? {}
      : { rotation: { id: rotation.id, secret: rotation.secret, started_at: rotation.startedAt } }),
    ...(finishedRotationId === undefined ? {} : { finished_rotation_id: finishedRotationId }),
    state: integration.status,
    ...(disabled === undefined ? {} : { disabled: { reason: disabled.reason, at: disabled.at } }),
    ...(warning === undefined
      ? {}
      : {
          warning: { at: warning.at, failing_since: warning.failingSince, disables_at: warning.disablesAt },
        }),
    updated_at: integration.updatedAt,
  };
}

function fromDocument(document: IntegrationDocument): Integration {
  const { rotation, disabled, warning } = document;
  return {
    id: document._id,
    revision: document.revision,
    settingsRevision: document.settings_revision,
    name: document.name,
    url: document.url,
    eventTypes: document.event_types,
    headers: document.headers.map(({ name, value }): SealedHeader => ({ name, value: value as Sealed })),
    secret: document.secret as Sealed | undefined,
    rotation:
      rotation === undefined
        ? undefined
        : { id: rotation.id, secret: rotation.secret as Sealed, startedAt: rotation.started_at },
    finishedRotationId: document.finished_rotation_id,
    status: document.state,
    disabled: disabled === undefined ? undefined : { reason: disabled.reason, at: disabled.at },
    warning:
      warning === undefined
        ? undefined
        : { at: warning.at, failingSince: warning.failing_since, disablesAt: warning.disables_at },
    createdAt: document.created_at,
    updatedAt: document.updated_at,
  };
}
