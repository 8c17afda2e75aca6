import { author } from '../../base/fields/author.ts';
import type { components } from '../../../generated/types.ts';
import { changeable, fields, hidden, made } from '../../base/fields/fields.ts';
import type { Difference, None, SentChange, Shown, Thing } from '../../base/fields/fields.ts';
import { list, moment, text, type Kind } from '../../base/fields/kinds.ts';
import { toInstant } from '../../base/runtime/instants.ts';
import { fromRate, toRate } from '../../base/runtime/money.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { Rate } from './rates.ts';

type Schemas = components['schemas'];

/** Amounts are decimal digits: dollars for a million tokens. */
interface StoredRate {
  from?: Date;
  above_input_tokens?: number;
  input: string;
  cached_input: string;
  cache_write: string;
  cache_write_1h: string;
  output: string;
  call: string;
}

/** A rate. Requests cannot set its `daily` and `call`. */
export const priceRate: Kind<Rate, StoredRate, Omit<Schemas['PriceRate'], 'source'>, Schemas['PriceRateInput']> = {
  toStored: ({ from, aboveInputTokens: above, ...amounts }) => ({
    ...(from !== undefined && { from }),
    ...(above !== undefined && { above_input_tokens: above }),
    ...showAmounts(amounts),
    call: fromRate(amounts.call),
  }),
  fromStored: ({ from, above_input_tokens: above, ...amounts }) => ({
    ...(from !== undefined && { from }),
    ...(above !== undefined && { aboveInputTokens: above }),
    input: toRate(amounts.input),
    cachedInput: toRate(amounts.cached_input),
    cacheWrite: toRate(amounts.cache_write),
    cacheWrite1h: toRate(amounts.cache_write_1h),
    output: toRate(amounts.output),
    call: toRate(amounts.call),
  }),
  show: ({ from, daily, aboveInputTokens: above, ...amounts }) => ({
    ...(from !== undefined && { from: from.toISOString() }),
    ...(daily !== undefined && { daily: { start: timeOf(daily.start), end: timeOf(daily.end) } }),
    ...(above !== undefined && { above_input_tokens: above }),
    ...showAmounts(amounts),
    // Of a call there are no millions.
    ...(amounts.call > 0n && { call: fromRate(amounts.call / 1_000_000n) }),
  }),
  read({ from, above_input_tokens: above, input, output, ...sent }) {
    const { cached_input: cached = input, cache_write: written = input, cache_write_1h: hour = written } = sent;
    return {
      ...defined({ from: toInstant(from), aboveInputTokens: above }),
      input: toRate(input),
      cachedInput: toRate(cached),
      cacheWrite: toRate(written),
      cacheWrite1h: toRate(hour),
      output: toRate(output),
      call: 0n,
    };
  },
};

function showAmounts({
  input,
  cachedInput,
  cacheWrite,
  cacheWrite1h,
  output,
}: Pick<Rate, 'input' | 'cachedInput' | 'cacheWrite' | 'cacheWrite1h' | 'output'>) {
  return {
    input: fromRate(input),
    cached_input: fromRate(cachedInput),
    cache_write: fromRate(cacheWrite),
    cache_write_1h: fromRate(cacheWrite1h),
    output: fromRate(output),
  };
}

/** `16:30:00` */
function timeOf(second: number): string {
  return new Date(second * 1_000).toISOString().slice(11, 19);
}

/** The rates of a price. */
export const rateList = list(priceRate);

/** The stored fields of a price that an operator has set for a model. */
export const priceFields = fields({
  /** `<provider>/<model>` */
  id: hidden(text),
  provider: made(text),
  model: made(text),
  /** In ascending order of date and number of input tokens. */
  rates: changeable(rateList),
  updatedAt: made(moment, { storedAs: 'set_at' }),
  /** The API key. */
  author: made(author),
});

export interface OwnPrice extends Thing<typeof priceFields.table> {
  /** Number of changes, from 1. It begins anew if the price was deleted. */
  readonly revision: number;
}

/** What answers show besides the fields of an own price. */
type Derived = 'source' | 'table_model' | 'table_match' | 'currency';
/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInPrice = None<
  | Difference<Omit<Schemas['ModelPrice'], Derived>, Shown<typeof priceFields.table>>
  | Difference<Omit<Schemas['ModelPriceInput'], Derived>, SentChange<typeof priceFields.table>>
>;

/** The id of a price. */
export function priceId({ provider, model }: Pick<OwnPrice, 'provider' | 'model'>): string {
  return `${provider}/${model}`;
}
