import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { defined, isObject, membersOf } from '../../base/runtime/objects.ts';
import type { TokenCeiling, Usage } from '../language-model.ts';

/**
 * The tokens that a provider mentions, in an answer or in the events of a stream. The packages report 0 for what was
 * left out, nothing for a stream that broke off, and no lifetimes of caches.
 */
export class MentionedUsage {
  /** By the providers' names. A later event replaces only what it mentions. */
  readonly #counts = new Map<string, number>();
  readonly #plausible: Plausible;

  /** @param plausible gives back usage that is plausible */
  constructor(plausible: Plausible) {
    this.#plausible = plausible;
  }

  /** Has only what was mentioned; undefined if that is nothing, or not plausible. */
  get usage(): Usage | undefined {
    return this.#said && this.#plausible(this.#said);
  }

  get #said(): Usage | undefined {
    if (this.#counts.size === 0) return undefined;
    const find = (names: readonly string[]): number | undefined => {
      const name = names.find((candidate) => this.#counts.has(candidate));
      return name === undefined ? undefined : this.#counts.get(name);
    };
    const sum = (groups: readonly (readonly string[])[]): number | undefined => {
      const group = groups.find(([first = '']) => this.#counts.has(first));
      return group && toCount(group.reduce((total, name) => total + (this.#counts.get(name) ?? 0), 0));
    };
    return this.#withRest({
      inputTokens: this.#counts.get(billedInput) ?? sum(inputNames),
      outputTokens: this.#counts.get(billedOutput) ?? sum(outputNames),
      cachedInputTokens: find(cachedNames),
      cacheWriteInputTokens: find(cacheWriteNames),
      cacheWrite1hInputTokens: find(hourNames),
      reasoningTokens: find(reasoningNames),
    });
  }

  /** @param message an answer, or an event of a stream, as the provider sent it */
  note(message: unknown): void {
    if (!isObject(message)) return;
    for (const place of places) {
      let found: unknown = message;
      for (const member of place) found = isObject(found) ? found[member] : undefined;
      if (isObject(found)) this.#take(found);
    }
    this.#takeBilled(message);
  }

  /**
   * The usage of an answer that the package has read: its numbers, as far as the provider mentioned them. Empty if they
   * are not plausible.
   */
  complete({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
    const said = this.#said ?? {};
    const usage = this.#withRest({
      inputTokens: this.#counts.get(billedInput) ?? firstCount(inputTokens.total, said.inputTokens),
      outputTokens: this.#counts.get(billedOutput) ?? firstCount(outputTokens.total, said.outputTokens),
      cachedInputTokens: firstCount(inputTokens.cacheRead, said.cachedInputTokens),
      cacheWriteInputTokens: firstCount(inputTokens.cacheWrite, said.cacheWriteInputTokens),
      cacheWrite1hInputTokens: said.cacheWrite1hInputTokens,
      reasoningTokens: firstCount(outputTokens.reasoning, said.reasoningTokens),
    });
    return this.#plausible(usage) ?? {};
  }

  /** Of Cohere's tokens, some are not charged for. */
  #takeBilled({ usage, delta }: Readonly<Record<string, unknown>>): void {
    const counts = membersOf(membersOf(usage ?? membersOf(delta)['usage'])['billed_units']);
    const input = toCount(counts['input_tokens']);
    const output = toCount(counts['output_tokens']);
    if (input !== undefined) this.#counts.set(billedInput, input);
    if (output !== undefined) this.#counts.set(billedOutput, output);
  }

  /** @param read with what the provider counts beside the two numbers that are charged for */
  #withRest(read: Undefinable<Usage>): Usage {
    const isBilled = this.#counts.has(billedInput) || this.#counts.has(billedOutput);
    const total = totalNames.flatMap((name) => this.#counts.get(name) ?? [])[0];
    return defined(isBilled ? read : { ...read, ...allTokens(read, total) });
  }

  #take(counts: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(counts)) {
      const count = toCount(value);
      if (count !== undefined) this.#counts.set(name, count);
      else if (isObject(value) && details.has(name)) this.#take(value);
      else if (name === 'cacheDetails' && Array.isArray(value)) this.#counts.set('cacheDetails1h', hourWrites(value));
    }
  }
}

/** Where the formats have their counts. */
const places: readonly (readonly string[])[] = [
  // OpenAI's formats, whole answers of most; Anthropic's `message_delta`
  ['usage'],
  // Cohere
  ['usage', 'tokens'],
  ['delta', 'usage', 'tokens'],
  // Groq
  ['x_groq', 'usage'],
  // Anthropic's `message_start`
  ['message', 'usage'],
  // Responses
  ['response', 'usage'],
  // Google
  ['usageMetadata'],
  // Amazon Bedrock
  ['metadata', 'usage'],
];

/** Under these names are Cohere's `billed_units`. */
const billedInput = 'billed input';
const billedOutput = 'billed output';

/** Objects in which the formats break their counts down. */
const details: ReadonlySet<string> = new Set([
  'prompt_tokens_details',
  'completion_tokens_details',
  'input_tokens_details',
  'output_tokens_details',
  'cache_creation',
]);

// Anthropic and Bedrock count what they read from and write to their caches separately, Google its thoughts and the
// results of its own tools.
const inputNames = [
  ['prompt_tokens'],
  ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  ['promptTokenCount', 'toolUsePromptTokenCount'],
  ['inputTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens'],
];
const outputNames = [
  ['completion_tokens'],
  ['output_tokens'],
  ['candidatesTokenCount', 'thoughtsTokenCount'],
  ['outputTokens'],
  // A stream that broke off while the model was thinking.
  ['thoughtsTokenCount'],
];
const cachedNames = [
  'cached_tokens',
  'cache_read_input_tokens',
  'prompt_cache_hit_tokens',
  'num_cached_tokens',
  'cachedContentTokenCount',
  'cacheReadInputTokens',
];
const cacheWriteNames = ['cache_write_tokens', 'cache_creation_input_tokens', 'cacheWriteInputTokens'];
const totalNames = ['total_tokens', 'totalTokenCount', 'totalTokens'];
const hourNames = ['ephemeral_1h_input_tokens', 'cacheDetails1h'];
const reasoningNames = ['reasoning_tokens', 'thinking_tokens', 'thoughtsTokenCount'];

type Undefinable<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/**
 * Input and output with the tokens that servers count elsewhere. Some count reasoning beside the completion, or the cache
 * beside the input: then the part is more than the whole, or the total is more than the sum, by one or
 * both of them. What else only the total has counts as output, which costs more.
 */
function allTokens(
  {
    inputTokens,
    outputTokens,
    cachedInputTokens = 0,
    cacheWriteInputTokens = 0,
    reasoningTokens = 0,
  }: Undefinable<Usage>,
  total = 0,
): Undefinable<Pick<Usage, 'inputTokens' | 'outputTokens'>> {
  const cached = toCount(cachedInputTokens + cacheWriteInputTokens) ?? 0;
  const input = withPart(inputTokens, cached);
  const output = withPart(outputTokens, reasoningTokens);
  const rest = total - (input ?? 0) - (output ?? 0);
  if (rest <= 0 || (input === undefined && output === undefined)) return { inputTokens: input, outputTokens: output };
  const areBeside = input === inputTokens && output === outputTokens && rest === cached + reasoningTokens;
  if (areBeside && input !== undefined && output !== undefined) {
    return { inputTokens: input + cached, outputTokens: output + reasoningTokens };
  }
  const isOfCache = rest === cached && rest !== reasoningTokens;
  return input === undefined || (isOfCache && output !== undefined)
    ? { inputTokens: (input ?? 0) + rest, outputTokens: output }
    : { inputTokens: input, outputTokens: (output ?? 0) + rest };
}

function withPart(whole: number | undefined, part: number): number | undefined {
  return whole !== undefined && part > whole ? toCount(whole + part) : whole;
}

/** What Amazon Bedrock wrote to its cache for an hour. */
function hourWrites(caches: readonly unknown[]): number {
  const sum = caches.reduce<number>((written, cache) => {
    const more = isObject(cache) && cache['ttl'] === '1h' ? toCount(cache['inputTokens']) : undefined;
    return written + (more ?? 0);
  }, 0);
  return toCount(sum) ?? 0;
}

/** The package's number, unless it may stand for one that was left out. */
function firstCount(read: number | undefined, said: number | undefined): number | undefined {
  const count = toCount(read);
  return count === undefined || count === 0 ? said : count;
}

/** Providers can send wrong numbers. The answer is still valid. Those beyond what is exact stay implausible. */
function toCount(value: unknown): number | undefined {
  if (!Number.isInteger(value) || (value as number) < 0) return undefined;
  return Math.min(value as number, Number.MAX_SAFE_INTEGER);
}

/** Gives back usage that is plausible; undefined for other. */
export type Plausible = (usage: Usage) => Usage | undefined;

/**
 * The tokens that the largest models read, and more than any writes. A call can use as many beyond its ceiling: some
 * servers ignore the limit of output tokens, and tools that a provider runs itself read pages that are in no request.
 */
const mostOfModels = 2_000_000;
/** What was not foreseen in a ceiling is not as much as the ceiling. */
const timesCeiling = 2;

/**
 * Whether a call can have used as much. Each number of tokens is plausible up to 2,000,000, and up to twice the ceiling
 * if that is more: that of the input, or the limit of output tokens that the provider got. Plausible usage above the
 * ceiling counts in full. Other usage is a mistake of the provider, and counts as if the provider had given none.
 */
export function isPlausible(usage: Usage, ceiling: TokenCeiling): boolean {
  const { inputTokens = 0, cachedInputTokens = 0, cacheWriteInputTokens = 0, cacheWrite1hInputTokens = 0 } = usage;
  const { outputTokens = 0, reasoningTokens = 0 } = usage;
  const input = Math.max(inputTokens, cachedInputTokens, cacheWriteInputTokens, cacheWrite1hInputTokens);
  return (
    input <= mostTokens(ceiling.inputTokens) &&
    Math.max(outputTokens, reasoningTokens) <= mostTokens(ceiling.outputTokens)
  );
}

function mostTokens(ceiling = 0): number {
  return Math.max(mostOfModels, timesCeiling * ceiling);
}
