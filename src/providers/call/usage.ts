import type { Usage } from '../language-model.ts';

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
function sum(counts: Record<string, unknown>, groups: readonly (readonly string[])[]): number | undefined {
  const group = groups.find(([first = '']) => isCount(counts[first]));
  return group?.reduce((total, member) => {
    const count = counts[member];
    return isCount(count) ? total + count : total;
  }, 0);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
