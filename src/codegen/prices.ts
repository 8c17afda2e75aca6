/**
 * The prices of hosted models, as `@pydantic/genai-prices` has them, in the form that the service computes with. The
 * package holds every provider and takes 20 MB and 140 ms, so the service gets a file with those that it can call, and
 * an update of the package shows in version control which prices change.
 */
import { findProvider, type ModelInfo, type ModelPrice, type Provider } from '@pydantic/genai-prices';
import packageJson from '../../package.json' with { type: 'json' };
import { vendors } from '../models/vendors/index.ts';
import type { PriceTable, TableMatch, TableRate } from '../accounting/prices/price-table.ts';

/** The package's ids of vendors that it names differently. */
const otherIds: Readonly<Record<string, string>> = { 'amazon-bedrock': 'aws', xai: 'x-ai' };

/** The service's ids of its vendors, and those of the package, which does not know all of them. */
export const priceIds = vendors
  .map(({ id }) => [id, otherIds[id] ?? id] as const)
  .filter(([, named]) => findProvider({ providerId: named })?.id === named);

/** Prices that the table has, of tokens and calls. */
const used: ReadonlySet<string> = new Set([
  'input_mtok',
  'output_mtok',
  'cache_read_mtok',
  'cache_write_mtok',
  'cache_write_5m_mtok',
  'cache_write_1h_mtok',
  'requests_kcount',
]);
/** Fees for what no request of the service contains: tools that the provider runs, audio and video. */
const neverDue: ReadonlySet<string> = new Set([
  'web_searches_kcount',
  'storage_searches_kcount',
  'input_audio_mtok',
  'cache_audio_read_mtok',
  'input_video_mtok',
]);

/**
 * The most tokens of an answer, by the id of the model, as the makers say in their documentation. The package has only
 * the context window, which is many times as large with most of these, and out of date with some. The first that matches counts. `npm run program -- test:prices`
 * compares them with LiteLLM's.
 */
const outputLimits: readonly (readonly [model: RegExp, tokens: number])[] = [
  [/(^|[./])gpt-4\.1/, 32_768],
  [/(^|[./:])gpt-4o(?!:extended)/, 16_384],
  [/(^|[./])gpt-5-pro/, 272_000],
  [/(^|[./])gpt-[56]([.-]|$)/, 128_000],
  [/(^|[./])o[134](-|$)/, 100_000],
  [/claude-(opus|sonnet|haiku)-4-5/, 64_000],
  [/claude-(opus|sonnet|haiku|fable)-(4-[6-9]|5)/, 128_000],
  [/gemini-(2\.5|3)/, 65_536],
  [/nova-(micro|lite|pro|premier)-v1/, 10_000],
  [/^command-a$/, 8_000],
  [/^command-r/, 4_096],
  [/deepseek-v4/, 393_216],
  [/deepseek-reasoner/, 65_536],
  [/deepseek-v3\.2/, 163_840],
];

/** The table as JSON, with a model on each line. */
export function renderPrices(): string {
  const own = priceIds.map(([id, named]) => [id, providerOf(named)] as const);
  const others = new Set(own.flatMap(([, { fallback_model_providers: ids = [] }]) => ids).map(idOf));
  for (const [id] of own) others.delete(id);
  const all = [...own, ...[...others].map((id) => [id, providerOf(id)] as const)];
  const providers = Object.fromEntries(
    all.map(([id, { models, fallback_model_providers: ids = [] }]): [string, PriceTable['providers'][string]] => [
      id,
      { fallbacks: ids.map(idOf), models: models.map(modelOf) },
    ]),
  );
  const table: PriceTable = { version: packageJson.devDependencies['@pydantic/genai-prices'], providers };
  const lines = Object.entries(table.providers).map(([id, { fallbacks, models }]) => {
    const listed = models.map((model) => `        ${JSON.stringify(model)}`).join(',\n');
    return `    ${JSON.stringify(id)}: {\n      "fallbacks": ${JSON.stringify(fallbacks)},\n      "models": [\n${listed}\n      ]\n    }`;
  });
  return `{\n  "version": ${JSON.stringify(table.version)},\n  "providers": {\n${lines.join(',\n')}\n  }\n}\n`;
}

function providerOf(id: string): Provider {
  const provider = findProvider({ providerId: id });
  if (provider?.id !== id) throw new Error(`The table of prices has no provider ${id}.`);
  return provider;
}

/** The service's id of a provider of the package. */
function idOf(named: string): string {
  return priceIds.find(([, theirs]) => theirs === named)?.[0] ?? named;
}

function modelOf(model: ModelInfo): PriceTable['providers'][string]['models'][number] {
  const { id, match, prices, context_window: window = Infinity } = model;
  const rates = (Array.isArray(prices) ? prices : [{ prices }]).map((one) => ratesOf(one, id.includes('embed')));
  // Models that write no text, those with other fees, and those whose price the package does not know.
  const isKnown = rates.every((list) => list !== undefined);
  const [, mostOutput = window] = outputLimits.find(([pattern]) => pattern.test(id)) ?? [];
  return {
    id,
    match: match as TableMatch,
    ...(isKnown && { rates: rates.flat(), ...(mostOutput < Infinity && { mostOutput }) }),
  };
}

type Conditional = Extract<ModelInfo['prices'], readonly unknown[]>[number];
type Price = Exclude<ModelPrice[string], undefined>;

/**
 * A rate for each number of input tokens from which prices change, the smallest first.
 * @param isEmbedding whether the model makes vectors, which cost nothing by themselves; it gets texts only
 */
function ratesOf({ prices, constraint }: Conditional, isEmbedding: boolean): TableRate[] | undefined {
  const {
    input_mtok: input,
    output_mtok: output = isEmbedding ? 0 : undefined,
    cache_read_mtok: cached,
    requests_kcount: calls,
  } = prices;
  const { cache_write_mtok, cache_write_5m_mtok: written = cache_write_mtok, cache_write_1h_mtok: hour } = prices;
  if (input === undefined || output === undefined) return undefined;
  if (
    Object.keys(prices).some(
      (name) => !used.has(name) && !neverDue.has(name) && !(isEmbedding && name === 'input_image_mtok'),
    )
  )
    return undefined;
  const condition = constraint && conditionOf(constraint);
  const tiers = Object.values(prices).flatMap((price) => (typeof price === 'object' ? price.tiers : []));
  const thresholds = [...new Set(tiers.map(({ start }) => start))].sort((one, other) => one - other);
  return [undefined, ...thresholds].map((above) => {
    const member = (name: string, price: Price | undefined): object =>
      price === undefined ? {} : { [name]: digitsOf(priceAbove(price, above)) };
    return {
      ...condition,
      ...(above !== undefined && { aboveInputTokens: above }),
      input: digitsOf(priceAbove(input, above)),
      output: digitsOf(priceAbove(output, above)),
      ...member('cachedInput', cached),
      ...member('cacheWrite', written),
      ...member('cacheWrite1h', hour),
      ...member('thousandCalls', calls),
    };
  });
}

/** The price of calls with more input tokens than this. */
function priceAbove(price: Price, above = -1): number {
  if (typeof price === 'number') return price;
  return price.tiers.reduce((last, tier) => (tier.start <= above ? tier.price : last), price.base);
}

/** With nine decimals, which is exact but for periodic fractions. */
function digitsOf(price: number): string {
  return price.toFixed(9).replace(/\.?0+$/, '');
}

function conditionOf(constraint: NonNullable<Conditional['constraint']>): Pick<TableRate, 'from' | 'daily'> {
  return constraint.type === 'start_date'
    ? { from: constraint.start_date }
    : { daily: { start: secondOf(constraint.start_time), end: secondOf(constraint.end_time) } };
}

/** Seconds from midnight UTC, of a time such as `16:30:00Z`. */
function secondOf(time: string): number {
  const at = new Date(`1970-01-02T${time}`).getTime() / 1_000;
  if (Number.isNaN(at)) throw new Error(`The table of prices has a time that cannot be read: ${time}.`);
  return at % 86_400;
}
