import type { Collection, Filter } from 'mongodb';
import type { Database } from '../../db/client.ts';
import type { CollectionIndexes } from '../../db/indexes.ts';
import { compareAndSet, insertOnce, read, type StampedDocument, type Unstamped } from '../../db/writes.ts';
import type { OutboxEntry } from '../../events/event.ts';
import { outboxIndex, pushEvents, type WithOutbox } from '../../events/outbox.ts';
import type { Modifier, Product } from './product.ts';

/** Which products are wanted. */
export interface ProductFilter {
  readonly locationId: string | undefined;
  readonly categoryId: string | undefined;
}

/** Products in the database. Every method throws `database-unavailable` when it must. */
export interface ProductStore {
  /** Stores a new product. False when its id exists already. */
  insert(product: Product): Promise<boolean>;
  find(id: string): Promise<Product | undefined>;
  /** Those of the products that exist, by id. */
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Product>>;
  /** The newest first, and how many there are in all. */
  list(filter: ProductFilter, limit: number, offset: number): Promise<{ products: Product[]; total: number }>;
  /**
   * Writes a changed product and the events that announce it, if the stored one still has its revision.
   * @returns the product as stored; `undefined` when someone else was first
   */
  replace(product: Product, events: readonly OutboxEntry[]): Promise<Product | undefined>;
}

interface ProductDocument extends StampedDocument, WithOutbox {
  location_id: string;
  currency: string;
  category_id: string;
  name: string;
  price: number;
  tags: string[];
  modifiers: { id: string; name: string; price: number }[];
  active: boolean;
  created_at: Date;
  updated_at: Date;
}

const collectionName = 'products';

export const productIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [
    { key: { created_at: -1, _id: 1 }, name: 'created_at_-1__id_1' },
    { key: { location_id: 1, created_at: -1, _id: 1 }, name: 'location_id_1_created_at_-1__id_1' },
    { key: { category_id: 1, created_at: -1, _id: 1 }, name: 'category_id_1_created_at_-1__id_1' },
    outboxIndex,
  ],
};

export function createProductStore(database: Database): ProductStore {
  const products: Collection<ProductDocument> = database.db.collection(collectionName);

  return {
    async insert(product) {
      const { id, locationId, currency, createdAt } = product;
      const fixed = { _id: id, location_id: locationId, currency, created_at: createdAt };
      return (await insertOnce(products, { ...fixed, ...toChangeableFields(product), outbox: [] })).outcome === 'done';
    },
    async find(id) {
      const document = await read(() => products.findOne({ _id: id }));
      return document === null ? undefined : fromDocument(document);
    },
    async findAll(ids) {
      const filter = { _id: { $in: [...new Set(ids)] } };
      const found = await read(() => products.find(filter).toArray());
      return new Map(found.map((document) => [document._id, fromDocument(document)]));
    },
    async list({ locationId, categoryId }, limit, offset) {
      const filter: Filter<ProductDocument> = {
        ...(locationId === undefined ? {} : { location_id: locationId }),
        ...(categoryId === undefined ? {} : { category_id: categoryId }),
      };
      const [documents, total] = await Promise.all([
        read(() => products.find(filter).sort({ created_at: -1, _id: 1 }).skip(offset).limit(limit).toArray()),
        read(() => products.countDocuments(filter)),
      ]);
      return { products: documents.map(fromDocument), total };
    },
    async replace(product, events) {
      const { id, revision } = product;
      const change = { $set: toChangeableFields(product), ...pushEvents(events) };
      const result = await compareAndSet(products, { id, revision, change });
      if (result.outcome !== 'done') return undefined;
      return { ...product, revision: result.revision, waiting: product.waiting + events.length };
    },
  };
}

type FixedField = '_id' | 'location_id' | 'currency' | 'created_at' | 'outbox';

function toChangeableFields(product: Product): Omit<Unstamped<ProductDocument>, FixedField> {
  return {
    category_id: product.categoryId,
    name: product.name,
    price: product.price,
    tags: [...product.tags],
    modifiers: copyModifiers(product.modifiers),
    active: product.active,
    updated_at: product.updatedAt,
  };
}

function fromDocument(document: ProductDocument): Product {
  return {
    id: document._id,
    locationId: document.location_id,
    currency: document.currency,
    categoryId: document.category_id,
    name: document.name,
    price: document.price,
    tags: [...document.tags],
    modifiers: copyModifiers(document.modifiers),
    active: document.active,
    createdAt: document.created_at,
    updatedAt: document.updated_at,
    revision: document.revision,
    waiting: document.outbox.length,
  };
}

/** Copies member by member, so that nothing else gets into storage or answers. */
function copyModifiers(modifiers: readonly Modifier[]): ProductDocument['modifiers'] {
  return modifiers.map(({ id, name, price }) => ({ id, name, price }));
}
