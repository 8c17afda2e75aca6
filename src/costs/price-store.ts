import type { Collection } from 'mongodb';
import type { CollectionIndexes } from '../db/indexes.ts';
import type { PagedDatabase } from '../db/pages.ts';
import { compareAndSet, insertOnce, read, writeIdempotently, type StampedDocument } from '../db/writes.ts';
import { fromRate, toRate } from './money.ts';
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
  put(price: OwnPrice, present: StoredPrice | undefined): Promise<StoredPrice | undefined>;
  /** Removes a price that has not changed. */
  remove(present: StoredPrice): Promise<void>;
}

/** Every process keeps all of them in memory. */
export const mostPrices = 1_000;

/** The id is `<provider>/<model>`. Amounts are decimal digits: dollars for a million tokens. */
interface PriceDocument extends StampedDocument {
  provider: string;
  model: string;
  rates: RateDocument[];
  set_at: Date;
  set_by: { id: string; name: string };
}

interface RateDocument {
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

export const priceIndexes: CollectionIndexes = { collection: collectionName, indexes: [] };

export function createPriceStore(database: PagedDatabase): PriceStore {
  const prices: Collection<PriceDocument> = database.db.collection(collectionName);
  return {
    async all() {
      return (await read(() => prices.find({}, { limit: mostPrices }).toArray())).map(fromDocument);
    },
    async find(provider, model) {
      const document = await read(() => prices.findOne({ _id: idOf({ provider, model }) }));
      return document === null ? undefined : fromDocument(document);
    },
    async put(price, present) {
      const { _id, ...content } = toDocument(price);
      if (present === undefined) {
        const { outcome } = await insertOnce(prices, { _id, ...content });
        return outcome === 'done' ? { ...price, revision: 1 } : undefined;
      }
      const { revision } = present;
      const written = await compareAndSet(prices, { id: _id, revision, change: { $set: content } });
      return written.outcome === 'done' ? { ...price, revision: written.revision } : undefined;
    },
    async remove(present) {
      const { revision, setAt } = present;
      await writeIdempotently(() => prices.deleteOne({ _id: idOf(present), revision, set_at: setAt }));
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
    rates: rates.map(({ from, aboveInputTokens, ...amounts }) => ({
      ...(from !== undefined && { from }),
      ...(aboveInputTokens !== undefined && { above_input_tokens: aboveInputTokens }),
      input: fromRate(amounts.input),
      cached_input: fromRate(amounts.cachedInput),
      cache_write: fromRate(amounts.cacheWrite),
      cache_write_1h: fromRate(amounts.cacheWrite1h),
      output: fromRate(amounts.output),
      call: fromRate(amounts.call),
    })),
    set_at: setAt,
    set_by: { id: setBy.id, name: setBy.name },
  };
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
