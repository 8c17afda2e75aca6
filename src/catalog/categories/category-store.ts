import type { Collection } from 'mongodb';
import type { Database } from '../../db/client.ts';
import type { CollectionIndexes } from '../../db/indexes.ts';
import { createListByTime } from '../../db/list-by-time.ts';
import { everySample, fetchById, sampleField, sampleIndex, type Sampled } from '../../db/narrow-reads.ts';
import { compareAndSet, insertOnce, read, type StampedDocument } from '../../db/writes.ts';
import type { OutboxEntry } from '../../events/event.ts';
import { outboxIndex, pushEvents, type WithOutbox } from '../../events/outbox.ts';
import type { Document } from '../../fields/fields.ts';
import type { Listing } from '../../lists/listing.ts';
import { archivedIn, type ArchivedSelection } from '../archived.ts';
import { categoryFields, type Category } from './category.ts';

/** Filters of a list of categories. */
export interface CategoryFilter {
  readonly locationId: string | undefined;
  readonly archived: ArchivedSelection;
}

/** Categories in the database. Every method can throw `database-unavailable`. */
export interface CategoryStore {
  /** Stores a new category. False when its id already exists. */
  insert(category: Category): Promise<boolean>;
  find(id: string): Promise<Category | undefined>;
  /** The categories that exist, by id. */
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Category>>;
  /** The newest first. */
  list(filter: CategoryFilter): Listing<Category>;
  /**
   * Writes a changed category and the events that announce it, if the stored category still has this revision.
   * @returns the category as stored; `undefined` if another writer was first
   */
  replace(category: Category, events: readonly OutboxEntry[]): Promise<Category | undefined>;
}

type CategoryDocument = StampedDocument & WithOutbox & Sampled & Document<typeof categoryFields.table>;

const collectionName = 'categories';

export const categoryIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { location_id: 1, created_at: -1, _id: 1 }, name: 'location_id_1_created_at_-1__id_1' },
    sampleIndex('created_at'),
    outboxIndex,
  ],
};

export function createCategoryStore(database: Database): CategoryStore {
  const categories: Collection<CategoryDocument> = database.db.collection(collectionName);
  const listByTime = createListByTime(fromDocument);

  return {
    async insert(category) {
      // A UUID follows `cat_`.
      const sample = sampleField(category.id.slice(4));
      const document = { ...categoryFields.toDocument(category), ...sample, outbox: [] };
      return (await insertOnce(categories, document)).outcome === 'done';
    },
    async find(id) {
      const document = await read(() => categories.findOne({ _id: id }));
      return document === null ? undefined : fromDocument(document);
    },
    findAll: (ids) => fetchById(categories, ids, fromDocument),
    list: ({ locationId, archived }) =>
      listByTime({
        ...{ collection: categories, time: 'created_at', samples: { sample: everySample }, span: {} },
        where: locationId === undefined ? {} : { location_id: locationId },
        rest: archivedIn(archived),
      }),
    async replace(category, events) {
      const { id, revision } = category;
      const change = { ...categoryFields.toUpdate(category), ...pushEvents(events) };
      const result = await compareAndSet(categories, { id, revision, change });
      if (result.outcome !== 'done') return undefined;
      return { ...category, revision: result.revision, waiting: category.waiting + events.length };
    },
  };
}

function fromDocument(document: CategoryDocument): Category {
  return {
    ...categoryFields.fromDocument(document),
    revision: document.revision,
    waiting: document.outbox.length,
  };
}
