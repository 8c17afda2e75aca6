import { setTimeout as sleep } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { ProblemError } from '../../base/errors/problem-error.ts';

export interface RefusedKeysPolicy {
  /** Refusals allowed in a window. */
  readonly refusals: number;
  /** Length of the window, in seconds. */
  readonly windowSeconds: number;
}

/** Counts refused keys by client address. */
export interface RefusedKeys {
  /** True while an address has used up its refusals. Costs almost nothing while no address has. */
  isExceeded(caller: { readonly ip?: string | undefined }): boolean;
  count(caller: { readonly ip?: string | undefined }): void;
  /** The delayed problem for such an address: `rate-limited`, with `Retry-After`. */
  problem(caller: { readonly ip?: string | undefined }): Promise<ProblemError>;
}

/** The most addresses with a window. Above it, the address that was refused longest ago starts a new window. */
const maxAddresses = 10_000;
/**
 * Delay of the answer to such an address, in milliseconds. Each of its connections gets at most ten refusals a second,
 * so that other requests do not wait.
 */
const refusalDelayMs = 100;

/** One fixed window for each address, in this process's memory. `undefined` means no limit. */
export function createRefusedKeys(policy: RefusedKeysPolicy | undefined): RefusedKeys | undefined {
  if (policy === undefined) return undefined;
  const { refusals, windowSeconds } = policy;
  const windowMs = windowSeconds * 1_000;
  const windows = new LRUCache<string, { refused: number }>({ max: maxAddresses, ttl: windowMs });
  /** The time from which no address is over its limit, on the monotonic clock. */
  let someUntil = -Infinity;
  return {
    isExceeded(caller) {
      if (performance.now() > someUntil) return false;
      // Express computes the address when it is read, so it is read only if needed.
      return (windows.get(origin(caller.ip))?.refused ?? 0) >= refusals;
    },
    count({ ip }) {
      const address = origin(ip);
      let window = windows.get(address);
      if (window === undefined) windows.set(address, (window = { refused: 0 }));
      window.refused += 1;
      if (window.refused >= refusals) someUntil = performance.now() + windowMs;
    },
    async problem({ ip }) {
      await sleep(refusalDelayMs);
      const seconds = Math.max(1, Math.ceil(windows.getRemainingTTL(origin(ip)) / 1_000));
      return new ProblemError('rate-limited', {
        detail: `More than ${refusals} API keys from this address were refused within ${windowSeconds} seconds.`,
        headers: { 'retry-after': String(seconds) },
      });
    },
  };
}

/** The client that an address identifies. A customer of an IPv6 provider has at least 2^64 addresses. */
function origin(ip = ''): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString();
}
