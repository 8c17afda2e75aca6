import { authorOf } from '../../base/limits/principal.ts';
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { auditEntry, type AuditedKind, type Author } from '../../access/audit/author.ts';
import type { components } from '../../../generated/types.ts';
import { createEditQueue } from '../../base/editing/edit-queue.ts';
import { changeTime } from '../../base/editing/edits.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { listingOf, type Listing } from '../../base/lists/listing.ts';
import type { GenerateRequest, PricedRequest, Usage } from '../../models/language-model.ts';
import { listedModels, type ProviderRegistry } from '../../models/provider.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { mostOfCall, showMoney, type CallCost, type NanoDollars } from '../../base/runtime/money.ts';
import { priceId, rateList, type OwnPrice } from './price.ts';
import type { PriceStore } from './price-store.ts';
import { findTablePrice, type TablePrice } from './price-table.ts';
import { ceilingOf, costOf, type Rate } from './rates.ts';

export type PriceSource = 'operator' | 'table' | 'none';

/** What a model costs, and who says so. */
export interface EffectivePrice {
  readonly provider: string;
  readonly model: string;
  /** `operator` if it has rates of the operator. */
  readonly source: PriceSource;
  /** Of those whose conditions hold, the last one counts. Those of the operator come last. */
  readonly rates: readonly (Rate & { readonly source: Exclude<PriceSource, 'none'> })[];
  /** Undefined if no rate comes from the table. */
  readonly table: Pick<TablePrice, 'match' | 'model'> | undefined;
  /** Undefined if the operator has set no price. */
  readonly own: OwnPrice | undefined;
  /** The most tokens of an answer, by the table; undefined if it is unknown. */
  readonly mostOutputTokens: number | undefined;
}

/** The contract's representation of a cost; `null` if it is unknown. */
export function showCost(cost: CallCost | undefined): components['schemas']['CallCost'] {
  if (cost === undefined) return null;
  const { amount, match, basis } = cost;
  return {
    ...showMoney(amount),
    ...(match === 'prefix' && { price_match: match }),
    ...(basis === 'ceiling' && { basis }),
  };
}

/** The price of a call that begins. It stays the same until the call has ended, whatever changes. */
export interface Quote {
  /** @returns undefined if the provider did not give the numbers of tokens, or if they contradict each other */
  costOf(usage: Usage): CallCost | undefined;
  /** The most that the call costs with so many tokens. @returns undefined if no rate may apply */
  ceilingOf(most: { readonly inputTokens: number; readonly outputTokens: number }): CallCost | undefined;
  /** The most tokens that the model writes; undefined if it is unknown. */
  readonly mostOutputTokens: number | undefined;
}

/** The prices of models: the operator's own, and those of the table. */
export interface Prices {
  /**
   * The price of a call. It is found in memory, without waiting.
   * @param at when the call begins
   * @returns undefined if it is unknown, which does not mean that the call is free
   */
  quote(provider: string, request: PricedRequest, at: Date): Quote | undefined;
  /** @throws {ProblemError} price-not-found if there is no such provider */
  get(provider: string, model: string): Promise<EffectivePrice>;
  /** Those of the models of all configured providers, and all that the operator has set. */
  list(filter: { readonly provider?: string; readonly source?: PriceSource }): Promise<Listing<EffectivePrice>>;
  /**
   * Sets the operator's price of a model, in place of the one before.
   * @throws {ProblemError} price-not-found, too-many-prices, edit-conflict, and what the choice of the rates throws
   */
  set(
    provider: string,
    model: string,
    choose: ChooseRates,
    author: Author,
  ): Promise<EffectivePrice & { isNew: boolean }>;
  /** @throws {ProblemError} price-not-found, edit-conflict, and what the precondition throws */
  remove(provider: string, model: string, precondition: PricePrecondition, author: Author): Promise<void>;
  /** Reads what other processes have set. @throws {ProblemError} database-unavailable */
  refresh(): Promise<void>;
}

/** Checks whether a price is as the caller expects, and says what the operator's rates shall be. */
export type ChooseRates = (present: EffectivePrice) => readonly Rate[];
/** Checks whether a price is as the caller expects. @throws {ProblemError} precondition-failed */
export type PricePrecondition = (present: EffectivePrice) => void;

export interface PricesOptions {
  readonly store: PriceStore;
  readonly providers: Pick<ProviderRegistry, 'list' | 'get'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** How often each process reads the prices that others have set, in milliseconds. */
export const refreshEveryMs = 4_000;

/** Every process keeps all of them in memory. */
const mostPrices = 1_000;

const audited: AuditedKind<Pick<OwnPrice, 'id' | 'rates'>> = {
  type: 'price',
  show: ({ rates }) => ({ rates: rateList.show(rates) }),
  currency: () => 'USD',
};

export function createPrices({ store, providers, clock }: PricesOptions): Prices {
  const editQueue = createEditQueue();
  let own: ReadonlyMap<string, OwnPrice> | undefined;
  // Bounded, because callers can name any model.
  const fromTable = new LRUCache<string, { readonly price: TablePrice | undefined }>({ max: 1_000 });
  const effective = new LRUCache<string, EffectivePrice>({ max: 1_000 });

  const tablePrice = (provider: string, model: string): TablePrice | undefined => {
    const key = priceId({ provider, model });
    const known = fromTable.get(key) ?? { price: findTablePrice(provider, model) };
    fromTable.set(key, known);
    return known.price;
  };

  const priceWith = (provider: string, model: string, set: OwnPrice | undefined): EffectivePrice => {
    const table = tablePrice(provider, model);
    const all = [
      ...(table?.rates.map((rate) => ({ ...rate, source: 'table' as const })) ?? []),
      ...(set?.rates.map((rate) => ({ ...rate, source: 'operator' as const })) ?? []),
    ];
    // What precedes a rate without conditions never counts.
    const rates = all.slice(Math.max(0, all.findLastIndex(isUnconditional)));
    return {
      provider,
      model,
      source: set !== undefined ? 'operator' : table !== undefined ? 'table' : 'none',
      rates,
      table: rates.some(({ source }) => source === 'table') ? table : undefined,
      own: set,
      // The operator may have given the name of a model to another one.
      mostOutputTokens: set === undefined || table?.match === 'exact' ? table?.mostOutputTokens : undefined,
    };
  };

  const requireProvider = (id: string): void => {
    if (providers.get(id) === undefined) {
      throw new ProblemError('price-not-found', { detail: `There is no provider "${id}".` });
    }
  };

  const refresh = async (): Promise<void> => {
    own = new Map((await store.all(mostPrices)).map((price) => [price.id, price]));
    effective.clear();
  };

  return {
    refresh,
    quote(provider, { model, providerOptions }, at) {
      // Without the operator's prices nothing is known for sure.
      if (own === undefined || hasOtherPrice(providerOptions)) return undefined;
      const key = priceId({ provider, model });
      const price = effective.get(key) ?? priceWith(provider, model, own.get(key));
      effective.set(key, price);
      return quoteOf(price, at);
    },
    async get(provider, model) {
      requireProvider(provider);
      return priceWith(provider, model, await store.find(priceId({ provider, model })));
    },
    async list({ provider, source }) {
      const stored = new Map((await store.all(mostPrices)).map((price) => [price.id, price]));
      const offered = providers
        .list()
        .filter(({ configured }) => configured)
        .flatMap((one) => listedModels(one).map((model) => ({ provider: one.id, model })));
      const named = new Map([...offered, ...stored.values()].map((one) => [priceId(one), one]));
      const prices = [...named].map(([key, one]) => priceWith(one.provider, one.model, stored.get(key)));
      const placed = prices
        .filter((one) => (provider ?? one.provider) === one.provider && (source ?? one.source) === one.source)
        .map((one) => ({ ...one, place: placeOf(one) }));
      return listingOf(
        placed.sort((one, other) => (one.place < other.place ? -1 : 1)),
        ({ place }) => ({ at: 0, id: place }),
      );
    },
    async set(provider, model, choose, author) {
      requireProvider(provider);
      const id = priceId({ provider, model });
      return await editQueue.contend(id, async () => {
        const present = await store.find(id);
        const effectivePrice = priceWith(provider, model, present);
        const rates = inOrder(choose(effectivePrice));
        if (isDeepStrictEqual(rates, present?.rates ?? [])) return { ...effectivePrice, isNew: false };
        if (present === undefined && (await store.all(mostPrices)).length >= mostPrices) throw tooMany();
        const updatedAt = present === undefined ? clock.now() : changeTime(present.updatedAt, clock.now());
        const next = { id, provider, model, rates, updatedAt, author: authorOf(author.principal) };
        const change = { at: updatedAt, after: next, ...(present && { before: present }) };
        const written = await store.put(next, present, auditEntry(author, audited, change));
        if (written === undefined) return undefined;
        await refresh();
        return { ...priceWith(provider, model, written), isNew: present === undefined };
      });
    },
    async remove(provider, model, precondition, author) {
      requireProvider(provider);
      const id = priceId({ provider, model });
      await editQueue.contend(id, async () => {
        const found = await store.find(id);
        if (found === undefined) {
          throw new ProblemError('price-not-found', {
            detail: `No price of your own is set for the model "${model}" of the provider "${provider}".`,
          });
        }
        precondition(priceWith(provider, model, found));
        const entry = auditEntry(author, audited, { at: clock.now(), before: found });
        return (await store.remove(found, entry)) || undefined;
      });
      await refresh();
    },
  };
}

function quoteOf({ rates, table, mostOutputTokens }: EffectivePrice, at: Date): Quote | undefined {
  if (rates.length === 0) return undefined;
  const priced = (
    found: { readonly amount: NanoDollars; readonly rate: EffectivePrice['rates'][number] } | undefined,
    basis: CallCost['basis'],
  ): CallCost | undefined =>
    found && {
      amount: found.amount < mostOfCall ? found.amount : mostOfCall,
      match: found.rate.source === 'operator' ? 'exact' : (table?.match ?? 'exact'),
      basis,
    };
  return {
    costOf: (usage) => priced(costOf(rates, usage, at), 'usage'),
    ceilingOf: (most) => priced(ceilingOf(rates, most, at), 'ceiling'),
    mostOutputTokens,
  };
}

/** The place in the list, for a cursor: 64 letters, digits and dashes at most, in the order of the names. */
function placeOf(price: Pick<OwnPrice, 'provider' | 'model'>): string {
  const key = priceId(price);
  return `${key.slice(0, 48).replaceAll(/[^\w-]/g, '-')}--${hash('sha256', key).slice(0, 14)}`;
}

function isUnconditional({ from, daily, aboveInputTokens }: Rate): boolean {
  return from === undefined && daily === undefined && aboveInputTokens === undefined;
}

/** Options by which providers charge more or less than their usual price. */
const usualTiers: readonly unknown[] = [undefined, 'auto', 'default', 'on_demand', 'standard', 'standard_only'];

/** Whether an option of the provider changes the price of a call. */
export function hasOtherPrice(options: GenerateRequest['providerOptions']): boolean {
  if (options === undefined) return false;
  const { serviceTier, service_tier: tier = serviceTier, speed } = options;
  return !usualTiers.includes(tier) || (speed !== undefined && speed !== 'standard');
}

/** The rates by date, and by the number of input tokens. */
function inOrder(rates: readonly Rate[]): Rate[] {
  const since = ({ from }: Rate): number => from?.getTime() ?? Number.MIN_SAFE_INTEGER;
  const above = ({ aboveInputTokens }: Rate): number => aboveInputTokens ?? 0;
  return rates.toSorted((one, other) => since(one) - since(other) || above(one) - above(other));
}

function tooMany(): ProblemError {
  return new ProblemError('too-many-prices', { detail: `You have already set the prices of ${mostPrices} models.` });
}
