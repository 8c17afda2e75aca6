import { LRUCache } from 'lru-cache';
import { isOutage } from '../base/errors/outage.ts';
import type { Clock } from '../base/runtime/clock.ts';

/** The cached result for an id, or the look-up in progress. */
export interface LookUp<Found> {
  readonly found: Promise<Found | undefined>;
  /** When it must be looked up again: measured from the start of the database read, on the monotonic clock. */
  readonly until: number;
}

/** What was looked up in the last seconds, by id. Requests share a look-up while it is in progress and while it is valid. */
export interface LookUps<Found> {
  get(id: string): LookUp<Found>;
  forget(id: string): void;
}

/** A change in the database applies in all processes within this time, in milliseconds. */
export const lookUpMs = 5_000;

export function createLookUps<Found>(
  find: (id: string) => Promise<Found | undefined>,
  clock: Pick<Clock, 'monotonic'>,
): LookUps<Found> {
  // `max` would reserve the memory of all of them at once.
  const lookUps = new LRUCache<string, LookUp<Found>>({ maxSize: 10_000, sizeCalculation: () => 1 });
  return {
    get(id) {
      const known = lookUps.get(id);
      if (known !== undefined && clock.monotonic() < known.until) return known;
      const fresh: LookUp<Found> = { found: find(id), until: clock.monotonic() + lookUpMs };
      lookUps.set(id, fresh);
      fresh.found.catch(() => {
        if (lookUps.peek(id) === fresh) lookUps.delete(id);
      });
      return fresh;
    },
    forget(id) {
      lookUps.delete(id);
    },
  };
}

/** Milliseconds until a look-up that failed is repeated. */
const retryMs = 1_000;

/**
 * Looks something up again and again, each time when what is known of it is too old.
 *
 * @param onEnd called once, with what a look-up throws, such as `unauthenticated`. Outages are passed over.
 * @returns stops this
 */
export function watchLookUps(
  clock: Pick<Clock, 'monotonic'>,
  onEnd: (error: unknown) => void,
  lookUp: () => Promise<{ readonly until: number }>,
): () => void {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const check = async (): Promise<void> => {
    const { until } = await lookUp().catch((error: unknown) => {
      if (!isStopped && !isOutage(error)) {
        isStopped = true;
        onEnd(error);
      }
      return { until: clock.monotonic() + retryMs };
    });
    if (!isStopped) timer = setTimeout(() => void check(), Math.max(1, until - clock.monotonic())).unref();
  };
  void check();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
