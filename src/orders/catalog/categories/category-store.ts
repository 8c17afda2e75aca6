import { auditIndex, type AuditEntry } from '../../../storage/db/audit.ts';
import type { CollectionIndexes } from '../../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../../storage/db/pages.ts';
import { gatherReadsById } from '../../../storage/db/raw-reads.ts';
import { createResourceStore, type ResourceDocument } from '../../../storage/db/resource-store.ts';
import type { OutboxEntry } from '../../../webhooks/events/event.ts';
import { outboxIndex, pushEvents, type WithOutbox } from '../../../webhooks/events/outbox.ts';
import type { Listing } from '../../../base/lists/listing.ts';
import { atLocations } from '../at-locations.ts';
import { listOrder } from '../list-order.ts';
import { archivedIn, type ArchivedSelection } from '../archived.ts';
import { categoryFields, type Category } from './category.ts';

export interface CategoryFilter {
  /** Undefined for all. */
  readonly locationIds: readonly string[] | undefined;
  readonly archived: ArchivedSelection;
  /** Changed at this time or later. */
  readonly updatedSince: Date | undefined;
}

/** Categories in the database. Every method can throw `database-unavailable`. */
export interface CategoryStore {
  /** Stores a new category. False when its id already exists. */
  insert(category: Category, entry: AuditEntry): Promise<boolean>;
  find(id: string): Promise<Category | undefined>;
  /** The categories that exist, by id. */
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Category>>;
  /** The newest first, or the last changed one if the filter is by that. */
  list(filter: CategoryFilter): Listing<Category>;
  /**
   * Writes a changed category and the events that announce it, if the stored category still has this revision.
   * @returns the category as stored; `undefined` if another writer was first
   */
  replace(category: Category, events: readonly OutboxEntry[], entry: AuditEntry): Promise<Category | undefined>;
}

type CategoryDocument = ResourceDocument<typeof categoryFields.table> & WithOutbox;

const collectionName = 'categories';

export const categoryIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { location_id: 1, created_at: -1, _id: 1 }, name: 'location_id_1_created_at_-1__id_1' },
    { key: { updated_at: -1, _id: 1 }, name: 'updated_at_-1__id_1' },
    { key: { location_id: 1, updated_at: -1, _id: 1 }, name: 'location_id_1_updated_at_-1__id_1' },
    outboxIndex,
    auditIndex,
  ],
};

export function createCategoryStore(database: PagedDatabase): CategoryStore {
  const categories = database.db.collection<CategoryDocument>(collectionName);
  const resources = createResourceStore(database, collectionName, categoryFields);
  const listByTime = database.pages.listsOf(fromDocument);

  return {
    insert: (category, entry) => resources.insert(category, entry, { outbox: [] }),
    ...gatherReadsById(database.db, collectionName, fromDocument),
    list({ locationIds, archived, updatedSince }) {
      const { where, rest } = atLocations(locationIds);
      return listByTime({
        collection: categories,
        ...listOrder(updatedSince),
        rest: { ...rest, ...archivedIn(archived) },
        where,
      });
    },
    async replace(category, events, entry) {
      const stored = await resources.replace(category, entry, { $push: pushEvents(events) });
      return stored && { ...stored, waiting: category.waiting + events.length };
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
