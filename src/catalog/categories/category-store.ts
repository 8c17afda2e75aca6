import type { Collection, Filter } from 'mongodb';
import type { Database } from '../../db/client.ts';
import type { CollectionIndexes } from '../../db/indexes.ts';
import { compareAndSet, insertOnce, read, type StampedDocument } from '../../db/writes.ts';
import type { OutboxEntry } from '../../events/event.ts';
import { outboxIndex, pushEvents, type WithOutbox } from '../../events/outbox.ts';
import type { Document } from '../../fields/fields.ts';
import { categoryFields, type Category } from './category.ts';

/** Categories in the database. Every method throws `database-unavailable` when it must. */
export interface CategoryStore {
  /** Stores a new category. False when its id exists already. */
  insert(category: Category): Promise<boolean>;
  find(id: string): Promise<Category | undefined>;
  /** The newest first, and how many there are in all. @param locationId only those of this location */
  list(
    locationId: string | undefined,
    limit: number,
    offset: number,
  ): Promise<{ categories: Category[]; total: number }>;
  /**
   * Writes a changed category and the events that announce it, if the stored one still has its revision.
   * @returns the category as stored; `undefined` when someone else was first
   */
  replace(category: Category, events: readonly OutboxEntry[]): Promise<Category | undefined>;
}

type CategoryDocument = StampedDocument & WithOutbox & Document<typeof categoryFields.table>;

const collectionName = 'categories';

export const categoryIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { location_id: 1, created_at: -1, _id: 1 }, name: 'location_id_1_created_at_-1__id_1' },
    outboxIndex,
  ],
};

export function createCategoryStore(database: Database): CategoryStore {
  const categories: Collection<CategoryDocument> = database.db.collection(collectionName);

  return {
    async insert(category) {
      const document = { ...categoryFields.toDocument(category), outbox: [] };
      return (await insertOnce(categories, document)).outcome === 'done';
    },
    async find(id) {
      const document = await read(() => categories.findOne({ _id: id }));
      return document === null ? undefined : fromDocument(document);
    },
    async list(locationId, limit, offset) {
      const filter: Filter<CategoryDocument> = locationId === undefined ? {} : { location_id: locationId };
      const [documents, total] = await Promise.all([
        read(() => categories.find(filter).sort({ created_at: -1, _id: 1 }).skip(offset).limit(limit).toArray()),
        read(() => categories.countDocuments(filter)),
      ]);
      return { categories: documents.map(fromDocument), total };
    },
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
