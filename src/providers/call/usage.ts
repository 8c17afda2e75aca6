import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import { isObject } from '../../runtime/objects.ts';
import type { FinishReason, Usage } from '../language-model.ts';

/**
 * The tokens that the events of a stream mention. The packages report usage only at the end of a stream, but a stream
 * that broke off has none, and was charged for.
 */
export class UsageSoFar {
  #input: number | undefined;
  #output: number | undefined;

  /** Undefined until an event mentions tokens. */
  get usage(): Usage | undefined {
    if (this.#input === undefined && this.#output === undefined) return undefined;
    return { inputTokens: this.#input ?? 0, outputTokens: this.#output ?? 0 };
  }

  /** @param event as the provider sent it */
  note(event: unknown): void {
    if (!isObject(event)) return;
    for (const place of places) {
      let found: unknown = event;
      for (const member of place) found = isObject(found) ? found[member] : undefined;
      if (!isObject(found)) continue;
      this.#input = sum(found, inputMembers) ?? this.#input;
      this.#output = sum(found, outputMembers) ?? this.#output;
    }
  }
}

/** Where the formats have their counts. */
const places: readonly (readonly string[])[] = [
  // OpenAI's chat format; Anthropic's `message_delta`
  ['usage'],
  // Groq
  ['x_groq', 'usage'],
  // Anthropic's `message_start`
  ['message', 'usage'],
  // Responses
  ['response', 'usage'],
  ['usageMetadata'],
  // Amazon Bedrock
  ['metadata', 'usage'],
  // Cohere
  ['delta', 'usage', 'tokens'],
];

// Anthropic counts what it reads from and writes to its cache separately, Google its thoughts.
const inputMembers = [
  ['prompt_tokens'],
  ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  ['promptTokenCount'],
  ['inputTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens'],
];
const outputMembers = [
  ['completion_tokens'],
  ['output_tokens'],
  ['candidatesTokenCount', 'thoughtsTokenCount'],
  ['outputTokens'],
];

/** The sum of the first group of members whose first member is there. */
function sum(counts: Readonly<Record<string, unknown>>, groups: readonly (readonly string[])[]): number | undefined {
  const group = groups.find(([first = '']) => isCount(counts[first]));
  return group?.reduce((total, member) => {
    const count = counts[member];
    return isCount(count) ? total + count : total;
  }, 0);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The usage of an answer, with the counts that the provider sent. */
export function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): Usage {
  const cached = toCount(inputTokens.cacheRead);
  const reasoning = toCount(outputTokens.reasoning);
  // The packages report 0 for counts that the provider left out.
  const sent = cached === 0 || reasoning === 0 ? JSON.stringify(raw ?? {}) : '';
  const saysCached = cached !== 0 || cachedCount.test(sent);
  const saysReasoning = reasoning !== 0 || reasoningCount.test(sent);
  return {
    inputTokens: toCount(inputTokens.total) ?? 0,
    outputTokens: toCount(outputTokens.total) ?? 0,
    ...(cached !== undefined && saysCached && { cachedInputTokens: cached }),
    ...(reasoning !== undefined && saysReasoning && { reasoningTokens: reasoning }),
  };
}

const cachedCount = /"\w*cache(?!_?(?:creation|write))\w*":\d/i;
const reasoningCount = /"\w*(?:reasoning|thought|thinking)\w*":\d/i;

/** Providers can leave out a number or send a wrong one. The answer is still valid. */
function toCount(tokens: number | undefined): number | undefined {
  return isCount(tokens) ? tokens : undefined;
}

/** A stream that ended without the provider's own end is `interrupted`; it is for the caller to refuse it. */
export function toFinishReason({ unified }: LanguageModelV4FinishReason): FinishReason {
  return unified === 'interrupted' ? 'other' : unified;
}
