import table from '../../../generated/prices.json' with { type: 'json' };
import { toRate } from '../../base/runtime/money.ts';
import type { Rate } from './rates.ts';

/** The prices of hosted models, made by `npm run generate`. */
export interface PriceTable {
  /** Of `@pydantic/genai-prices`. */
  readonly version: string;
  readonly providers: Readonly<
    Record<string, { readonly fallbacks: readonly string[]; readonly models: readonly TableModel[] }>
  >;
}

interface TableModel {
  readonly id: string;
  readonly match: TableMatch;
  /** Absent if the price is unknown. */
  readonly rates?: readonly TableRate[];
  /** The most tokens of an answer; absent if it is unknown. */
  readonly mostOutput?: number;
}

/** Which names of models are meant. */
export type TableMatch =
  | { readonly or: readonly TableMatch[] }
  | { readonly and: readonly TableMatch[] }
  | { readonly [way in keyof typeof ways]?: string };

/** Amounts are dollars for a million tokens, as decimal digits. Those left out are as `input`. */
export interface TableRate {
  /** A date. */
  readonly from?: string;
  readonly daily?: NonNullable<Rate['daily']>;
  readonly aboveInputTokens?: number;
  readonly input: string;
  readonly output: string;
  readonly cachedInput?: string;
  readonly cacheWrite?: string;
  readonly cacheWrite1h?: string;
  /** Dollars for a thousand calls. */
  readonly thousandCalls?: string;
}

/** The prices of a model in the table. */
export interface TablePrice {
  readonly rates: readonly Rate[];
  /** `prefix` if the table has the model's family, and not this name. */
  readonly match: 'exact' | 'prefix';
  /** The id of the model in the table. */
  readonly model: string;
  /** The most tokens of an answer; undefined if it is unknown. */
  readonly mostOutputTokens: number | undefined;
}

const { version, providers }: PriceTable = table as unknown as PriceTable;

/** The version of the table. */
export const tableVersion = version;

const free: Rate = { input: 0n, cachedInput: 0n, cacheWrite: 0n, cacheWrite1h: 0n, output: 0n, call: 0n };

/**
 * Names of models that charge for more than tokens, or for tokens of other kinds: searches, images, speech. Some of
 * them are in the table with the price of their text only.
 */
const otherKinds =
  /(^|[^a-z])(audio|image|live|omni|online|realtime|research|search|sonar|sonic|transcribe|tts)([^a-z]|$)/;

/** The prices of a model; undefined if the table does not know them. Models of compatible servers are never in it. */
export function findTablePrice(provider: string, model: string): TablePrice | undefined {
  if (provider === 'echo') return { rates: [free], match: 'exact', model, mostOutputTokens: undefined };
  const found = findModel(provider, model.toLowerCase());
  if (found?.rates === undefined || otherKinds.test(model.toLowerCase()) || otherKinds.test(found.id)) return undefined;
  // A deployment of Azure has any name that its operator gave it.
  const isExact = provider !== 'azure' && (found.id === model || isNamed(found.match, model.toLowerCase()));
  return {
    rates: found.rates.map(toRates),
    match: isExact ? 'exact' : 'prefix',
    model: found.id,
    mostOutputTokens: found.mostOutput,
  };
}

function findModel(provider: string, model: string): TableModel | undefined {
  const known = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (known === undefined) return undefined;
  // A provider can also offer models of others.
  for (const id of [provider, ...known.fallbacks]) {
    const found = providers[id]?.models.find(({ match }) => matches(match, model));
    if (found !== undefined) return found;
  }
  return undefined;
}

const ways = {
  equals: (model: string, text: string) => model === text,
  starts_with: (model: string, text: string) => model.startsWith(text),
  ends_with: (model: string, text: string) => model.endsWith(text),
  contains: (model: string, text: string) => model.includes(text),
  regex: (model: string, text: string) => new RegExp(text).test(model),
} as const;

function matches(match: TableMatch, model: string): boolean {
  if ('or' in match) return match.or.some((one) => matches(one, model));
  if ('and' in match) return match.and.every((one) => matches(one, model));
  return Object.entries(match).every(([way, text]) => {
    const test = Object.hasOwn(ways, way) ? ways[way as keyof typeof ways] : undefined;
    return test?.(model, way === 'regex' ? text : text.toLowerCase()) === true;
  });
}

function isNamed(match: TableMatch, model: string): boolean {
  if ('or' in match) return match.or.some((one) => isNamed(one, model));
  return 'equals' in match && matches(match, model);
}

function toRates(rate: TableRate): Rate {
  const { from, daily, aboveInputTokens, cachedInput, cacheWrite, cacheWrite1h, thousandCalls } = rate;
  const input = toRate(rate.input);
  const written = cacheWrite === undefined ? input : toRate(cacheWrite);
  // Where writing to the cache costs more than the input, an hour there costs twice the input.
  const hour = written > input ? 2n * input : written;
  return {
    ...(from !== undefined && { from: new Date(from) }),
    ...(daily !== undefined && { daily }),
    ...(aboveInputTokens !== undefined && { aboveInputTokens }),
    input,
    cachedInput: cachedInput === undefined ? input : toRate(cachedInput),
    cacheWrite: written,
    cacheWrite1h: cacheWrite1h === undefined ? hour : toRate(cacheWrite1h),
    output: toRate(rate.output),
    // Dollars for a million calls would be a thousand times as many.
    call: thousandCalls === undefined ? 0n : toRate(thousandCalls) * 1_000n,
  };
}
