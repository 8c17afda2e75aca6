/** Lets a bounded number of holders in at a time, the others in the order they came. */
export interface Semaphore {
  /**
   * Waits for a place. Every place taken is given back by `release`, exactly once.
   *
   * @throws The reason of `signal` when that is aborted first; no place is held then.
   */
  acquire(signal: AbortSignal): Promise<void>;
  release(): void;
}

/** @param places How many hold a place at once; at least 1. */
export function createSemaphore(places: number): Semaphore {
  let free = places;
  // A Set keeps insertion order and gives up an aborted waiter in constant time.
  const waiting = new Set<() => void>();

  return {
    async acquire(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return;
      }
      await new Promise<void>((resolve, reject) => {
        const enter = (): void => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = (): void => {
          waiting.delete(enter);
          reject(signal.reason as Error);
        };
        waiting.add(enter);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
    release() {
      const [next] = waiting;
      if (next === undefined) {
        free += 1;
        return;
      }
      // The place passes on without becoming free, so that a newcomer cannot overtake.
      waiting.delete(next);
      next();
    },
  };
}
