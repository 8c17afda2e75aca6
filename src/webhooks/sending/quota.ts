import type { Clock } from '../../base/runtime/clock.ts';
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
  /**
   * A request could not be sent, because this machine has no free file descriptor. Fewer requests are in progress from
   * then on, and with each that ends one more.
   * @returns whether it is the first one in a second
   */
  shrink(): boolean;
  /** How many requests to one receiver can be in progress. */
  share(): number;
}

const slowMs = 1_000;
const shrinkMs = 1_000;
/** Milliseconds for which nothing begins after a request that could not be sent. */
const pauseMs = 100;

export function createQuota(
  { perReceiver, inAll, withSlow }: Pick<WebhookLimits, 'perReceiver' | 'inAll' | 'withSlow'>,
  clock: Clock,
): Quota {
  let reserved = 0;
  let slow = 0;
  /** The most requests in progress, with those to receivers that take longer. */
  let most = withSlow;
  /** On the monotonic clock. */
  let pausedUntil = -Infinity;
  let shrunkAt = -Infinity;
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
      const active = reserved + fast.size;
      return active < inAll && active + slow < most && clock.monotonic() >= pausedUntil;
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
          most = Math.min(most + 1, withSlow);
        },
      };
    },
    shrink() {
      const now = clock.monotonic();
      pausedUntil = now + pauseMs;
      if (now - shrunkAt < shrinkMs) return false;
      shrunkAt = now;
      most = Math.max(1, Math.floor((reserved + fast.size + slow) / 2));
      return true;
    },
    // Many slow requests are signs of many receivers that do not answer. Each then gets less.
    share: () => Math.max(1, Math.floor(perReceiver * Math.min(1, (inAll - slow / 4) / inAll))),
  };
}
