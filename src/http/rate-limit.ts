import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
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
  count(keyId: string): Promise<Record<string, string>>;
}

/** One fixed window for each key, in this process's memory. `undefined` means no limit and no fields. */
export function createRateLimiter(policy: RateLimitPolicy | undefined): RateLimiter {
  if (policy === undefined) return { count: () => Promise.resolve({}) };
  const limiter = new RateLimiterMemory({ points: policy.requests, duration: policy.windowSeconds });
  const policyField = `"default";q=${policy.requests};w=${policy.windowSeconds}`;
  const fields = (state: RateLimiterRes): Record<string, string> => ({
    ratelimit: `"default";r=${state.remainingPoints};t=${seconds(state)}`,
    'ratelimit-policy': policyField,
  });
  return {
    async count(keyId) {
      try {
        return fields(await limiter.consume(keyId));
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        throw new ProblemError('rate-limited', {
          detail: `This key may send ${policy.requests} requests in ${policy.windowSeconds} seconds.`,
          headers: { ...fields(refusal), 'retry-after': String(seconds(refusal)) },
        });
      }
    },
  };
}

function seconds(state: RateLimiterRes): number {
  return Math.max(1, Math.ceil(state.msBeforeNext / 1000));
}
