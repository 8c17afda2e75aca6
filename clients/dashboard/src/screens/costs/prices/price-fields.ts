import type { Schemas } from 'prompt-gateway-client';
import { rateAmount } from '../../../generated/limits.ts';
import { fits } from '../../../shared/limits.ts';

/** What the form of a price edits: dollars for a million tokens, as they are typed. */
export interface PriceFields extends Record<string, unknown> {
  input: string;
  output: string;
  /** Empty: as `input`. */
  cachedInput: string;
  /** Empty: as `input`. */
  cacheWrite: string;
  /** Empty: as `cacheWrite`. */
  cacheWrite1h: string;
}

/** The fields in their order, with their names in the API. */
export const rateNames = {
  input: 'input',
  output: 'output',
  cachedInput: 'cached_input',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
} as const satisfies Record<keyof PriceFields & string, keyof Schemas['PriceRateInput']>;

export type RateField = keyof typeof rateNames;
export const rateFields = Object.keys(rateNames) as RateField[];

/** The rates that the operator has set. */
function ownRates({ rates }: Schemas['ModelPrice']): Schemas['ModelPrice']['rates'] {
  return rates.filter(({ source }) => source === 'operator');
}

/** Whether the form can show what is set: at most one rate, without conditions. */
export function isSimple(price: Schemas['ModelPrice']): boolean {
  const [rate, ...others] = ownRates(price);
  return others.length === 0 && rate?.from === undefined && rate?.above_input_tokens === undefined;
}

/** The fields of a price. What follows from another field is left out. */
export function fieldsOf(price: Schemas['ModelPrice']): PriceFields {
  const [rate] = ownRates(price);
  if (rate === undefined) return { input: '', output: '', cachedInput: '', cacheWrite: '', cacheWrite1h: '' };
  const unless = (value: string, same: string): string => (value === same ? '' : value);
  return {
    input: rate.input,
    output: rate.output,
    cachedInput: unless(rate.cached_input, rate.input),
    cacheWrite: unless(rate.cache_write, rate.input),
    cacheWrite1h: unless(rate.cache_write_1h, rate.cache_write),
  };
}

/** The fields as the API takes them. */
export function bodyOf(fields: PriceFields): Schemas['ModelPriceInput'] {
  const { input, output, ...others } = amountsOf(fields);
  const rest = Object.entries(others).flatMap(([name, amount]) =>
    amount === '' ? [] : [[rateNames[name as RateField], amount]],
  );
  return { rates: [{ input, output, ...Object.fromEntries(rest) }] };
}

/** With a point before the decimals, as the API has it. */
function amountsOf(fields: PriceFields): Record<RateField, string> {
  return Object.fromEntries(rateFields.map((name) => [name, fields[name].trim().replace(',', '.')])) as Record<
    RateField,
    string
  >;
}

/** The field of a place in the request. */
export function fieldAt(place: string): string {
  const name = place.split('.').at(-1);
  return rateFields.find((field) => rateNames[field] === name) ?? place;
}

/** Finds mistakes before the request is sent. */
export function validateFields(fields: PriceFields, mistake: string): Record<string, string> {
  const wrong = Object.entries(amountsOf(fields)).filter(
    ([name, amount]) => !fits(amount, rateAmount) && (amount !== '' || name === 'input' || name === 'output'),
  );
  return Object.fromEntries(wrong.map(([name]) => [name, mistake]));
}
