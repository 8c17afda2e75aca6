import { LRUCache } from 'lru-cache';
import { ProblemError } from '../errors/problem-error.ts';

/**
 * Counts the bytes that this process has stored for requests in the last day: answers for Idempotency-Keys and results
 * of test runs.
 */
export interface KeptBytes {
  /**
   * Call this before the work whose result is stored, because the result must then be stored.
   * @throws {ProblemError} too-much-kept if the family's share is used up, overloaded if that of all keys is
   */
  check(family: string): void;
  add(family: string, bytes: number): void;
}

export interface KeptBytesOptions {
  readonly perKey: number;
  readonly perProcess: number;
  /** A clock in milliseconds that never goes back. */
  readonly monotonic: () => number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The most keys that are counted. Above it, the least recently used key starts again from 0. */
const maxKeys = 10_000;

/** Bytes by the hour in which they were stored. */
type ByHour = Map<number, number>;

export function createKeptBytes({ perKey, perProcess, monotonic }: KeptBytesOptions): KeptBytes {
  const keys = new LRUCache<string, ByHour>({ maxSize: maxKeys, sizeCalculation: () => 1 });
  const all: ByHour = new Map();

  /** @returns seconds until there is room; 0 if there is room now */
  const secondsUntilRoom = (hours: ByHour, limit: number): number => {
    const now = monotonic();
    let sum = 0;
    for (const [hour, bytes] of hours) {
      if ((hour + 1) * hourMs + dayMs <= now) hours.delete(hour);
      else sum += bytes;
    }
    for (const [hour, bytes] of hours) {
      if (sum < limit) return 0;
      sum -= bytes;
      if (sum < limit) return Math.ceil(((hour + 1) * hourMs + dayMs - now) / 1_000);
    }
    return 0;
  };
  return {
    check(family) {
      const ofKey = secondsUntilRoom(keys.get(family) ?? new Map(), perKey);
      if (ofKey > 0) {
        throw new ProblemError('too-much-kept', {
          detail:
            'The answers for Idempotency-Keys and the results of test runs of this caller have reached the daily limit.',
          headers: { 'Retry-After': String(Math.min(ofKey, 86_400)) },
        });
      }
      const ofAll = secondsUntilRoom(all, perProcess);
      if (ofAll > 0) {
        throw new ProblemError('overloaded', {
          detail: 'The answers for Idempotency-Keys and the results of test runs have reached the daily limit.',
          headers: { 'Retry-After': String(Math.min(ofAll, 86_400)) },
        });
      }
    },
    add(family, bytes) {
      const hour = Math.floor(monotonic() / hourMs);
      const ofKey = keys.get(family) ?? new Map<number, number>();
      keys.set(family, ofKey);
      for (const hours of [ofKey, all]) hours.set(hour, (hours.get(hour) ?? 0) + bytes);
    },
  };
}
