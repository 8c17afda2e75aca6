import { LRUCache } from 'lru-cache';
import { ProblemError } from '../errors/problem-error.ts';

export interface RateLimitPolicy {
  /** Requests allowed in a window. */
  readonly requests: number;
  /** Length of the window, in seconds. */
  readonly windowSeconds: number;
}

/** Counts a request of a key. */
export interface RateLimiter {
  /**
   * @returns the `RateLimit` and `RateLimit-Policy` fields (draft-ietf-httpapi-ratelimit-headers-08)
   * @throws {ProblemError} rate-limited, with `Retry-After`
   */
  count(keyId: string): Record<string, string>;
}

/** The most keys with a window. Above it, the least recently used key starts a new window. */
const maxKeys = 100_000;

/**
 * One fixed window for each key, in this process's memory. `undefined` means no limit and no fields. A window is an
 * entry of the cache that expires with it, on the cache's monotonic clock.
 */
export function createRateLimiter(policy: RateLimitPolicy | undefined): RateLimiter {
  if (policy === undefined) return { count: () => ({}) };
  const { requests, windowSeconds } = policy;
  const windows = new LRUCache<string, { used: number }>({ max: maxKeys, ttl: windowSeconds * 1_000 });
  return {
    count(keyId) {
      let window = windows.get(keyId);
      if (window === undefined) windows.set(keyId, (window = { used: 0 }));
      window.used += 1;
      const seconds = Math.max(1, Math.ceil(windows.getRemainingTTL(keyId) / 1_000));
      const fields = {
        ratelimit: `"default";r=${Math.max(0, requests - window.used)};t=${seconds}`,
        'ratelimit-policy': `"default";q=${requests};w=${windowSeconds}`,
      };
      if (window.used <= requests) return fields;
      throw new ProblemError('rate-limited', {
        detail: `This key may send ${requests} requests in ${windowSeconds} seconds.`,
        headers: { ...fields, 'retry-after': String(seconds) },
      });
    },
  };
}
