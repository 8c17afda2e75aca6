import type { Clock } from '../../runtime/clock.ts';
import type { WebhookLimits } from '../timing.ts';

/**
 * Limits the requests in progress. Receivers share the places evenly. A request that takes longer than a second leaves
 * its place to others, so receivers that do not answer hold up nobody until there are very many.
 */
export interface Quota {
  hasRoom(): boolean;
  /** Reserves a place for a request that will begin soon. */
  take(): void;
  /** The request does not begin. */
  giveBack(): void;
  /** The request of a reserved place begins. */
  begin(): { end(): void };
  /** How many requests to one receiver can be in progress. */
  share(): number;
}

const slowMs = 1_000;

export function createQuota(
  { perReceiver, inAll, withSlow }: Pick<WebhookLimits, 'perReceiver' | 'inAll' | 'withSlow'>,
  clock: Clock,
): Quota {
  let reserved = 0;
  let slow = 0;
  /** Requests and when they began, the oldest first. */
  const fast = new Map<object, number>();
  const age = (): void => {
    const before = clock.monotonic() - slowMs;
    for (const [request, begunAt] of fast) {
      if (begunAt > before) return;
      fast.delete(request);
      slow += 1;
    }
  };
  return {
    hasRoom() {
      age();
      return reserved + fast.size < inAll && reserved + fast.size + slow < withSlow;
    },
    take() {
      reserved += 1;
    },
    giveBack() {
      reserved -= 1;
    },
    begin() {
      const request = {};
      reserved -= 1;
      fast.set(request, clock.monotonic());
      return {
        end() {
          if (!fast.delete(request)) slow -= 1;
        },
      };
    },
    // Many slow requests are signs of many receivers that do not answer. Each then gets less.
    share: () => Math.max(1, Math.floor(perReceiver * Math.min(1, (inAll - slow / 4) / inAll))),
  };
}
