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
import { productFields, type Product } from './product.ts';

export interface ProductFilter {
  /** Undefined for all. */
  readonly locationIds: readonly string[] | undefined;
  readonly categoryId: string | undefined;
  readonly archived: ArchivedSelection;
  /** Changed at this time or later. */
  readonly updatedSince: Date | undefined;
}

/** Products in the database. Every method can throw `database-unavailable`. */
export interface ProductStore {
  /** Stores a new product. False when its id already exists. */
  insert(product: Product, entry: AuditEntry): Promise<boolean>;
  find(id: string): Promise<Product | undefined>;
  /** The products that exist, by id. */
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Product>>;
  /** The newest first, or the last changed one if the filter is by that. */
  list(filter: ProductFilter): Listing<Product>;
  /**
   * Writes a changed product and the events that announce it, if the stored product still has this revision.
   * @returns the product as stored; `undefined` if another writer was first
   */
  replace(product: Product, events: readonly OutboxEntry[], entry: AuditEntry): Promise<Product | undefined>;
}

type ProductDocument = ResourceDocument<typeof productFields.table> & WithOutbox;

const collectionName = 'products';

export const productIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { location_id: 1, created_at: -1, _id: 1 }, name: 'location_id_1_created_at_-1__id_1' },
    { key: { category_id: 1, created_at: -1, _id: 1 }, name: 'category_id_1_created_at_-1__id_1' },
    { key: { updated_at: -1, _id: 1 }, name: 'updated_at_-1__id_1' },
    { key: { location_id: 1, updated_at: -1, _id: 1 }, name: 'location_id_1_updated_at_-1__id_1' },
    { key: { category_id: 1, updated_at: -1, _id: 1 }, name: 'category_id_1_updated_at_-1__id_1' },
    outboxIndex,
    auditIndex,
  ],
};

export function createProductStore(database: PagedDatabase): ProductStore {
  const products = database.db.collection<ProductDocument>(collectionName);
  const resources = createResourceStore(database, collectionName, productFields);
  const listByTime = database.pages.listsOf(fromDocument);

  return {
    insert: (product, entry) => resources.insert(product, entry, { outbox: [] }),
    ...gatherReadsById(database.db, collectionName, fromDocument),
    list({ locationIds, categoryId, archived, updatedSince }) {
      const { where, rest } = atLocations(locationIds);
      const further = { ...rest, ...archivedIn(archived) };
      // One index is enough, because a category belongs to one location.
      return listByTime({
        collection: products,
        ...listOrder(updatedSince),
        ...(categoryId === undefined
          ? { where, rest: further }
          : { where: { category_id: categoryId }, rest: { ...where, ...further } }),
      });
    },
    async replace(product, events, entry) {
      const stored = await resources.replace(product, entry, { $push: pushEvents(events) });
      return stored && { ...stored, waiting: product.waiting + events.length };
    },
  };
}

function fromDocument(document: ProductDocument): Product {
  return {
    ...productFields.fromDocument(document),
    revision: document.revision,
    waiting: document.outbox.length,
  };
}
