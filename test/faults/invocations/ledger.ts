import { mockDetails, mockUsage } from '../../support/mock-vendors.ts';

/** A provider of these programs, by its wire format. */
export interface Format {
  /** The id of the provider. */
  readonly provider: string;
  /** What the paths of its requests have. */
  readonly path: RegExp;
  /** Tokens of an answer by their price. */
  readonly tokens: (isDetailed: boolean) => Partial<Record<keyof typeof prices, number>>;
}

/** What a record says that a call used. */
export interface LoggedUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
  readonly cacheWrite1hInputTokens?: number;
}

/**
 * What a call costs by its tokens, in billionths of a dollar.
 * @param isCeiling whether all of the input counts at the highest price
 */
export function costOf(usage: LoggedUsage, isCeiling: boolean): bigint {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens: cachedTokens = 0 } = usage;
  const { cacheWriteInputTokens: all = 0, cacheWrite1hInputTokens: hour = 0 } = usage;
  const nanos = (count: number, price: number): bigint => BigInt(count) * BigInt(price);
  if (isCeiling) return nanos(inputTokens, prices.cache_write_1h) + nanos(outputTokens, prices.output);
  return (
    nanos(inputTokens - cachedTokens - all, prices.input) +
    nanos(cachedTokens, prices.cached_input) +
    nanos(all - hour, prices.cache_write) +
    nanos(hour, prices.cache_write_1h) +
    nanos(outputTokens, prices.output)
  );
}

/** Of a token, in billionths of a dollar. Each is another one, so that no token can take the place of another. */
export const prices = { input: 1_000, cached_input: 100, cache_write: 1_250, cache_write_1h: 2_000, output: 4_000 };

/** The rate with these prices, for `setPrice`: dollars for a million tokens. */
export const rate = Object.fromEntries(Object.entries(prices).map(([name, nanos]) => [name, String(nanos / 1_000)]));

const { input, output } = mockUsage;
const { cached, written, writtenForAnHour, reasoning } = mockDetails;

const within = (isDetailed: boolean) =>
  isDetailed ? { input: input - cached, cached_input: cached, output } : { input, output };
const beside = (isDetailed: boolean) => ({
  input,
  output,
  ...(isDetailed && {
    cached_input: cached,
    cache_write: written - writtenForAnHour,
    cache_write_1h: writtenForAnHour,
  }),
});

/** The wire formats of the mock. The most particular path comes first. */
export const formats: readonly Format[] = [
  { provider: 'xai', path: /\/responses(\?|$)/, tokens: within },
  { provider: 'anthropic', path: /\/messages(\?|$)/, tokens: beside },
  {
    provider: 'google',
    path: /enerateContent/,
    // Thoughts are charged for as output, beside it.
    tokens: (isDetailed) => ({ ...within(isDetailed), output: isDetailed ? output + reasoning : output }),
  },
  { provider: 'amazon-bedrock', path: /\/converse(-stream)?$/, tokens: beside },
  { provider: 'openai', path: /\/chat\/completions(\?|$)/, tokens: within },
  { provider: 'cohere', path: /\/chat$/, tokens: () => ({ input, output }) },
];

/** What models say at the end of their names that say any number of tokens of output: more than any model can write. */
export const absurd = '-says-9007199254740991';
/** The same for more than the limit, which counts in full. */
export const excessive = '-says-900';

/** Models of the mock that charge nothing. */
const free = /^mock-(4\d\d|503|529)/;

/**
 * What a provider charges at most for a request, in billionths of a dollar: for the whole answer, whatever came of it.
 */
export function billOf({ path, model }: { readonly path: string; readonly model: string }): bigint {
  if (free.test(model)) return 0n;
  const format = formats.find((one) => one.path.test(path));
  if (format === undefined) throw new Error(`No format has the path ${path}.`);
  const tokens = Object.entries(format.tokens(model.endsWith('-detailed')));
  const sum = tokens.reduce((all, [name, count]) => all + count * prices[name as keyof typeof prices], 0);
  return BigInt(model.includes(excessive) && !model.includes(absurd) ? sum + (900 - output) * prices.output : sum);
}
