import type { Collection } from 'mongodb';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { compareAndSet, insertOnce, read, writeIdempotently, type StampedDocument } from '../../storage/db/writes.ts';
import type { EventType } from '../events/event.ts';
import type { Listing } from '../../base/lists/listing.ts';
import type { EventPosition } from '../events/event-store.ts';
import type { Replay } from './replay.ts';

/** The progress of a replay. */
export interface ReplayProgress {
  readonly cursor: EventPosition | undefined;
  readonly deliveries: number;
  /** Set when it is done. */
  readonly finishedAt: Date | undefined;
}

export interface ReplayStore {
  /** False if a replay with this id already exists. */
  insert(replay: Replay): Promise<boolean>;
  find(id: string): Promise<Replay | undefined>;
  /** Newest first. @param status only those that have it */
  list(integrationId: string, status: Replay['status'] | undefined): Listing<Replay>;
  /** Running replays of one integration, the earliest first. */
  runningOf(integrationId: string, limit: number): Promise<Replay[]>;
  /** Integrations that have running replays. */
  integrationsWithRunning(limit: number): Promise<string[]>;
  /** Records the progress of a replay, unless another process has done so. */
  advance(replay: Replay, progress: ReplayProgress, expiresAt: Date | undefined): Promise<boolean>;
  removeAllOf(integrationId: string): Promise<void>;
}

interface ReplayDocument extends StampedDocument {
  integration_id: string;
  delivery_id?: string;
  since?: Date;
  until?: Date;
  types?: EventType[];
  only?: 'failed';
  cursor_created_at?: Date;
  cursor_id?: string;
  status: Replay['status'];
  deliveries: number;
  created_at: Date;
  finished_at?: Date;
  expires_at?: Date;
}

const collectionName = 'replays';

export const replayIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { status: 1, integration_id: 1, created_at: 1 }, name: 'status_1_integration_id_1_created_at_1' },
    { key: { integration_id: 1, created_at: -1, _id: 1 }, name: 'integration_id_1_created_at_-1__id_1' },
    expiryIndex,
  ],
};

export function createReplayStore(database: PagedDatabase): ReplayStore {
  const replays: Collection<ReplayDocument> = database.db.collection(collectionName);
  const listByTime = database.pages.listsOf(fromDocument);
  return {
    async insert({ id, integrationId, source, status, deliveries, createdAt }) {
      const inserted = await insertOnce(replays, {
        _id: id,
        integration_id: integrationId,
        ...(source.kind === 'delivery'
          ? { delivery_id: source.deliveryId }
          : {
              since: source.since,
              until: source.until,
              types: [...source.types],
              ...(source.only === undefined ? {} : { only: source.only }),
            }),
        status,
        deliveries,
        created_at: createdAt,
      });
      return inserted.outcome === 'done';
    },
    async find(id) {
      const document = await read(() => replays.findOne({ _id: id }));
      return document === null ? undefined : fromDocument(document);
    },
    list: (integrationId, status) =>
      listByTime({
        collection: replays,
        where: { integration_id: integrationId },
        time: 'created_at',
        ...(status !== undefined && { rest: { status } }),
      }),
    async runningOf(integrationId, limit) {
      const filter = { status: 'running', integration_id: integrationId } as const;
      const found = await read(() => replays.find(filter).sort({ created_at: 1 }).limit(limit).toArray());
      return found.map(fromDocument);
    },
    async integrationsWithRunning(limit) {
      const options = { projection: { integration_id: 1 }, limit };
      const found = await read(() => replays.find({ status: 'running' }, options).toArray());
      return [...new Set(found.map(({ integration_id }) => integration_id))];
    },
    async advance({ id, revision }, { cursor, deliveries, finishedAt }, expiresAt) {
      const result = await compareAndSet(replays, {
        id,
        revision,
        change: {
          $set: {
            deliveries,
            ...(cursor === undefined ? {} : { cursor_created_at: cursor.createdAt, cursor_id: cursor.id }),
            ...(finishedAt === undefined ? {} : { status: 'done', finished_at: finishedAt }),
            ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
          },
        },
      });
      return result.outcome === 'done';
    },
    async removeAllOf(integrationId) {
      await writeIdempotently(() => replays.deleteMany({ integration_id: integrationId }));
    },
  };
}

function fromDocument(document: ReplayDocument): Replay {
  const { delivery_id, since, until, types, only, cursor_created_at, cursor_id } = document;
  return {
    id: document._id,
    integrationId: document.integration_id,
    source:
      delivery_id === undefined
        ? {
            kind: 'span',
            since: since ?? new Date(0),
            until: until ?? new Date(0),
            types: types ?? [],
            only,
            cursor:
              cursor_created_at === undefined || cursor_id === undefined
                ? undefined
                : { createdAt: cursor_created_at, id: cursor_id },
          }
        : { kind: 'delivery', deliveryId: delivery_id },
    status: document.status,
    deliveries: document.deliveries,
    revision: document.revision,
    createdAt: document.created_at,
    finishedAt: document.finished_at,
  };
}
