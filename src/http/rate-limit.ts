import { LRUCache } from 'lru-cache';
import { ProblemError } from '../base/errors/problem-error.ts';
import type { KeyRate } from '../base/limits/reach.ts';

export interface RateLimitPolicy {
  /** Requests allowed in a window. */
  readonly requests: number;
  /** Length of the window, in seconds. */
  readonly windowSeconds: number;
}

/** Counts a request of a key. */
export interface RateLimiter {
  /**
   * @param rates limits of the key itself and of the keys that led to it
   * @returns the `RateLimit` and `RateLimit-Policy` fields (draft-ietf-httpapi-ratelimit-headers-08)
   * @throws {ProblemError} rate-limited, with `Retry-After`
   */
  count(principalId: string, rates?: readonly KeyRate[]): Record<string, string>;
}

/** What a key has used of a limit. */
interface Use extends RateLimitPolicy {
  /** Of the limit, in the header fields. */
  readonly name: 'default' | 'key';
  /** Whose window it is. */
  readonly id: string;
  /** Negative if the request is one too many. */
  readonly left: number;
  /** Until the window ends. */
  readonly seconds: number;
}

/** The most keys with a window. Above it, the least recently used key starts a new window. */
const maxKeys = 100_000;
/** The window of the limits of keys, in seconds. */
const ownWindowSeconds = 60;

/**
 * Fixed windows for each key, in this process's memory: one for the limit of the service, if it has one (`policy`), and
 * one for the key's own. A window is an entry of a cache that expires with it, on the cache's monotonic clock.
 */
export function createRateLimiter(policy: RateLimitPolicy | undefined): RateLimiter {
  const countCommon = policy && createWindows('default', policy.windowSeconds);
  const countOwn = createWindows('key', ownWindowSeconds);
  return {
    count(principalId, rates = []) {
      const uses = policy && countCommon ? [countCommon(principalId, policy.requests)] : [];
      if (rates.length > 0) uses.push(tightest(rates.map((rate) => countOwn(rate.keyId, rate.requestsPerMinute))));
      if (uses.length === 0) return {};
      const fields = {
        ratelimit: uses.map(toLeft).join(', '),
        'ratelimit-policy': uses.map(toPolicy).join(', '),
      };
      const exceeded = uses.findLast(({ left }) => left < 0);
      if (exceeded === undefined) return fields;
      const { requests, windowSeconds, seconds } = exceeded;
      const subject = exceeded.id === principalId ? 'This key' : 'A key that led to this one, with all keys below it,';
      throw new ProblemError('rate-limited', {
        detail: `${subject} may send ${requests} requests in ${windowSeconds} seconds.`,
        headers: { ...fields, 'retry-after': String(seconds) },
      });
    },
  };
}

/** Counts the requests of keys in windows of one length. */
function createWindows(name: Use['name'], windowSeconds: number): (id: string, requests: number) => Use {
  const windows = new LRUCache<string, { used: number }>({
    // `max` would reserve the memory of all of them at once.
    maxSize: maxKeys,
    sizeCalculation: () => 1,
    ttl: windowSeconds * 1_000,
  });
  return (id, requests) => {
    let window = windows.get(id);
    if (window === undefined) windows.set(id, (window = { used: 0 }));
    window.used += 1;
    const seconds = Math.max(1, Math.ceil(windows.getRemainingTTL(id) / 1_000));
    return { name, id, requests, windowSeconds, left: requests - window.used, seconds };
  };
}

/** Of the limits in a chain of keys, the one that is used up first. */
function tightest(uses: readonly Use[]): Use {
  return uses.reduce((least, use) => (use.left < least.left ? use : least));
}

function toLeft({ name, left, seconds }: Use): string {
  return `"${name}";r=${Math.max(0, left)};t=${seconds}`;
}

function toPolicy({ name, requests, windowSeconds }: Use): string {
  return `"${name}";q=${requests};w=${windowSeconds}`;
}
