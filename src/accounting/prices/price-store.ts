import type { Collection } from 'mongodb';
import {
  auditIndex,
  firstAudit,
  handOver,
  pushAudit,
  removeAudited,
  type AuditEntry,
  type Audited,
} from '../../storage/db/audit.ts';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { compareAndSet, insertOnce, read, type StampedDocument } from '../../storage/db/writes.ts';
import type { Document } from '../../base/fields/fields.ts';
import { priceFields, type OwnPrice } from './price.ts';

/** The prices of operators in the database. Every method can throw `database-unavailable`. */
export interface PriceStore {
  /** All, at most {@link mostPrices}. */
  all(): Promise<OwnPrice[]>;
  find(id: string): Promise<OwnPrice | undefined>;
  /**
   * Writes a price in place of the present one, or of none.
   * @returns undefined if another writer was first
   */
  put(
    price: Omit<OwnPrice, 'revision'>,
    present: OwnPrice | undefined,
    entry: AuditEntry,
  ): Promise<OwnPrice | undefined>;
  /** Removes a price. False if another writer was first. */
  remove(present: OwnPrice, entry: AuditEntry): Promise<boolean>;
}

/** Every process keeps all of them in memory. */
export const mostPrices = 1_000;

type PriceDocument = StampedDocument & Audited & Document<typeof priceFields.table>;

const collectionName = 'model_prices';

export const priceIndexes: CollectionIndexes = { collection: collectionName, indexes: [auditIndex] };

export function createPriceStore(database: PagedDatabase): PriceStore {
  const prices: Collection<PriceDocument> = database.db.collection(collectionName);
  return {
    async all() {
      const found = await read(() => prices.find({}, { limit: mostPrices }).toArray());
      return found.filter(({ removed }) => !removed).map(fromDocument);
    },
    async find(id) {
      const document = await read(() => prices.findOne({ _id: id }));
      // Its deletion was interrupted. Its id must be free for a new price.
      if (document?.removed) await handOver(database.db, collectionName, id);
      return document === null || document.removed ? undefined : fromDocument(document);
    },
    async put(price, present, entry) {
      if (present === undefined) {
        const { outcome } = await insertOnce(prices, { ...priceFields.toDocument(price), ...firstAudit(entry) });
        return outcome === 'done' ? { ...price, revision: 1 } : undefined;
      }
      const { id, revision } = present;
      const change = { ...priceFields.toUpdate(price), $push: pushAudit(entry) };
      const written = await compareAndSet(prices, { id, revision, change });
      return written.outcome === 'done' ? { ...price, revision: written.revision } : undefined;
    },
    remove(present, entry) {
      // The revisions of a price that was deleted and set again begin anew.
      const found = { id: present.id, revision: present.revision, where: { set_at: present.setAt } };
      return removeAudited(database.db, prices, found, entry);
    },
  };
}

function fromDocument(document: PriceDocument): OwnPrice {
  return { ...priceFields.fromDocument(document), revision: document.revision };
}
