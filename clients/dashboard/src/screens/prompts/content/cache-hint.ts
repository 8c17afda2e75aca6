import type { Schemas } from 'prompt-gateway-client';

/** A hint for the provider's own cache. */
export type CacheHint = Schemas['CacheHint'];

/** The hint in the text of a content, as the API names it. */
export function hintLines(hint: CacheHint | undefined): string[] {
  return hint === undefined ? [] : [`[cache_control: ${hint.ttl ?? hint.type}]`];
}
