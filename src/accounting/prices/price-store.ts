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
import { fromRate, toRate } from '../../base/runtime/money.ts';
import type { Rate } from './rates.ts';

/** The prices that an operator has set for a model. */
export interface OwnPrice {
  readonly provider: string;
  readonly model: string;
  /** In ascending order of date and number of input tokens. */
  readonly rates: readonly Rate[];
  readonly setAt: Date;
  /** The API key. */
  readonly setBy: { readonly id: string; readonly name: string };
}

export interface StoredPrice extends OwnPrice {
  readonly revision: number;
}

/** The prices of operators in the database. Every method can throw `database-unavailable`. */
export interface PriceStore {
  /** All, at most {@link mostPrices}. */
  all(): Promise<StoredPrice[]>;
  find(provider: string, model: string): Promise<StoredPrice | undefined>;
  /**
   * Writes a price in place of the present one, or of none.
   * @returns undefined if another writer was first
   */
  put(price: OwnPrice, present: StoredPrice | undefined, entry: AuditEntry): Promise<StoredPrice | undefined>;
  /** Removes a price. False if another writer was first. */
  remove(present: StoredPrice, entry: AuditEntry): Promise<boolean>;
}

/** Every process keeps all of them in memory. */
export const mostPrices = 1_000;

/** The id is `<provider>/<model>`. Amounts are decimal digits: dollars for a million tokens. */
interface PriceDocument extends StampedDocument, Audited {
  provider: string;
  model: string;
  rates: RateDocument[];
  set_at: Date;
  set_by: { id: string; name: string };
}

export interface RateDocument {
  from?: Date;
  above_input_tokens?: number;
  input: string;
  cached_input: string;
  cache_write: string;
  cache_write_1h: string;
  output: string;
  call: string;
}

const collectionName = 'model_prices';

export const priceIndexes: CollectionIndexes = { collection: collectionName, indexes: [auditIndex] };

export function createPriceStore(database: PagedDatabase): PriceStore {
  const prices: Collection<PriceDocument> = database.db.collection(collectionName);
  return {
    async all() {
      const found = await read(() => prices.find({}, { limit: mostPrices }).toArray());
      return found.filter(({ removed }) => !removed).map(fromDocument);
    },
    async find(provider, model) {
      const id = idOf({ provider, model });
      const document = await read(() => prices.findOne({ _id: id }));
      // Its deletion was interrupted. Its id must be free for a new price.
      if (document?.removed) await handOver(database.db, collectionName, id);
      return document === null || document.removed ? undefined : fromDocument(document);
    },
    async put(price, present, entry) {
      const { _id, ...content } = toDocument(price);
      if (present === undefined) {
        const { outcome } = await insertOnce(prices, { _id, ...content, ...firstAudit(entry) });
        return outcome === 'done' ? { ...price, revision: 1 } : undefined;
      }
      const { revision } = present;
      const change = { $set: content, $push: pushAudit(entry) };
      const written = await compareAndSet(prices, { id: _id, revision, change });
      return written.outcome === 'done' ? { ...price, revision: written.revision } : undefined;
    },
    remove(present, entry) {
      // The revisions of a price that was deleted and set again begin anew.
      const found = { id: idOf(present), revision: present.revision, where: { set_at: present.setAt } };
      return removeAudited(database.db, prices, found, entry);
    },
  };
}

function idOf({ provider, model }: Pick<OwnPrice, 'provider' | 'model'>): string {
  return `${provider}/${model}`;
}

function toDocument({ provider, model, rates, setAt, setBy }: OwnPrice): Omit<PriceDocument, 'revision' | 'writes'> {
  return {
    _id: idOf({ provider, model }),
    provider,
    model,
    rates: toRateDocuments(rates),
    set_at: setAt,
    set_by: { id: setBy.id, name: setBy.name },
  };
}

/** Rates with amounts as decimal digits. */
export function toRateDocuments(rates: readonly Rate[]): RateDocument[] {
  return rates.map(({ from, aboveInputTokens, ...amounts }) => ({
    ...(from !== undefined && { from }),
    ...(aboveInputTokens !== undefined && { above_input_tokens: aboveInputTokens }),
    input: fromRate(amounts.input),
    cached_input: fromRate(amounts.cachedInput),
    cache_write: fromRate(amounts.cacheWrite),
    cache_write_1h: fromRate(amounts.cacheWrite1h),
    output: fromRate(amounts.output),
    call: fromRate(amounts.call),
  }));
}

function fromDocument({ provider, model, rates, set_at, set_by, revision }: PriceDocument): StoredPrice {
  return {
    provider,
    model,
    rates: rates.map(({ from, above_input_tokens: above, ...amounts }) => ({
      ...(from !== undefined && { from }),
      ...(above !== undefined && { aboveInputTokens: above }),
      input: toRate(amounts.input),
      cachedInput: toRate(amounts.cached_input),
      cacheWrite: toRate(amounts.cache_write),
      cacheWrite1h: toRate(amounts.cache_write_1h),
      output: toRate(amounts.output),
      call: toRate(amounts.call),
    })),
    setAt: set_at,
    setBy: { id: set_by.id, name: set_by.name },
    revision,
  };
}
