import { LRUCache } from 'lru-cache';
import { withoutCacheHints } from '../../models/cache-hints.ts';
import type { GenerateResult } from '../../models/language-model.ts';
import { digestOf } from '../../base/runtime/json-size.ts';
import type { Target } from './plan.ts';

export interface CachedAnswer {
  readonly result: GenerateResult;
  /** Since the provider gave it. */
  readonly ageMs: number;
}

/** Answers of providers in this process's memory. The least recently used are removed first. */
export interface ResponseCache {
  /** @param maxAgeMs an older answer is not returned, but stays for callers that accept it; with 0 none is returned */
  get(key: string, maxAgeMs: number): CachedAnswer | undefined;
  set(key: string, result: GenerateResult): void;
}

type CachedTarget = Omit<Target, 'provider'> & { readonly provider: Pick<Target['provider'], 'id'> };

/** Bytes of an entry besides its JSON text: key, objects, list nodes. A high estimate, so that the limit holds. */
const overheadBytes = 600;

/**
 * @param maxBytes limit of the cache, estimated with two bytes for each UTF-16 code unit; 0 for no cache
 * @param now monotonic clock in milliseconds
 */
export function createResponseCache(maxBytes: number, now: () => number): ResponseCache {
  if (maxBytes <= 0) return { get: () => undefined, set: () => undefined };
  const answers = new LRUCache<string, { result: GenerateResult; at: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ result }) => lengthOf(result) * 2 + overheadBytes,
  });
  return {
    get(key, maxAgeMs) {
      if (maxAgeMs <= 0) return undefined;
      const found = answers.get(key);
      if (found === undefined) return undefined;
      const ageMs = now() - found.at;
      return ageMs <= maxAgeMs ? { result: found.result, ageMs } : undefined;
    },
    set(key, result) {
      answers.set(key, { result, at: now() });
    },
  };
}

/** The characters of an answer. An object whose JSON is the text itself is counted twice. */
function lengthOf({ content, object }: GenerateResult): number {
  return content.reduce(
    (sum, part) => sum + (part.type === 'text' ? part.text.length : JSON.stringify(part).length),
    object?.json.text.length ?? 0,
  );
}

/** The key of an answer: SHA-256 of the provider, the whole request without hints for the provider's cache, and what the answer is checked against. */
export function cacheKey({ provider, request, answerFormat }: CachedTarget): string {
  return digestOf([provider.id, withoutCacheHints(request), answerFormat ?? null], 'base64url');
}
