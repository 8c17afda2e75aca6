import { CrowdedError } from './fair-queue.ts';

/** Memory that was given to one holder. */
export interface Share {
  /** In bytes. */
  readonly size: number;
  /**
   * Waits for more, before all who have nothing yet. If all holders wait for more, the first gets it above the limit,
   * because nobody would ever give anything back.
   *
   * @throws {CrowdedError} if it takes too long
   * @throws The reason of `signal` when that is aborted.
   */
  grow(bytes: number, signal: AbortSignal): Promise<void>;
  /** Gives everything back. Calling it again does nothing. */
  release(): void;
}

/** Memory for which requests wait. The key that has the least is next; many requests of one key do not delay others. */
export interface MemoryQueue {
  /**
   * @param bytes more than there is counts as all
   * @throws {CrowdedError} immediately, if too many already wait, or if it takes too long
   * @throws The reason of `signal` when that is aborted.
   */
  enter(key: string, bytes: number, signal: AbortSignal): Promise<Share>;
  /**
   * Gives memory at once or not at all. A key that has some gets no more than it leaves free for the others, so that
   * two or three keys together cannot have all.
   *
   * @throws {CrowdedError}
   */
  enterAtOnce(key: string, bytes: number): Share;
  /** Counts memory that is already used, even above the limit. */
  hold(key: string, bytes: number): Share;
  /** Bytes that are held. */
  readonly held: number;
  /** Number of requests that wait. */
  readonly waiting: number;
}

export interface MemoryQueueOptions {
  /** Bytes for all keys. */
  readonly capacity: number;
  /** The most bytes of one key, unless it holds nothing else. */
  readonly perKey: number;
  readonly maxWaiting: number;
  readonly maxWaitingPerKey: number;
  /** The longest time that a request waits, in milliseconds. */
  readonly waitLimitMs: number;
  /**
   * How long other requests may overtake one that has no room, in milliseconds. After that they may still have a quarter
   * of the memory, so that a large request neither delays small ones of other keys nor waits for them for ever.
   */
  readonly patienceMs: number;
}

interface Waiting {
  readonly key: string;
  readonly bytes: number;
  readonly since: number;
  /** @param overtakes whether it comes before one that has waited for long */
  readonly enter: (overtakes: boolean) => void;
}

export function createMemoryQueue(options: MemoryQueueOptions): MemoryQueue {
  const { capacity, perKey, maxWaiting, maxWaitingPerKey, waitLimitMs, patienceMs } = options;
  const heldByKey = new Map<string, number>();
  /** The waiting requests of each key in their order. The key that was served longest ago is first. */
  const waitingByKey = new Map<string, Set<Waiting>>();
  const growing = new Set<Waiting>();
  let free = capacity;
  /** Bytes that requests may still have that overtake one that has waited for long. */
  let freeToOvertake = capacity / 4;
  let holders = 0;
  let waiting = 0;

  const heldBy = (key: string): number => heldByKey.get(key) ?? 0;
  const take = (key: string, bytes: number): void => {
    free -= bytes;
    const held = heldBy(key) + bytes;
    if (held > 0) heldByKey.set(key, held);
    else heldByKey.delete(key);
  };
  const mayHave = ({ key, bytes }: Pick<Waiting, 'key' | 'bytes'>): boolean =>
    heldBy(key) === 0 || heldBy(key) + bytes <= perKey;

  const letIn = (): void => {
    for (const next of growing) {
      if (next.bytes > free && growing.size < holders) return;
      next.enter(false);
    }
    while (letNextIn());
  };

  const letNextIn = (): boolean => {
    const heads = [...waitingByKey.values()]
      .flatMap(([head]) => head ?? [])
      .filter(mayHave)
      .sort((one, other) => heldBy(one.key) - heldBy(other.key));
    const now = performance.now();
    let overtakes = false;
    for (const head of heads) {
      if (head.bytes <= (overtakes ? Math.min(free, freeToOvertake) : free)) {
        head.enter(overtakes);
        return true;
      }
      overtakes ||= now - head.since > patienceMs;
    }
    return false;
  };

  /**
   * @param join adds the request to those that wait; returns what takes it out again
   * @returns whether it has overtaken one that has waited for long
   */
  const wait = (
    entrant: Pick<Waiting, 'key' | 'bytes'>,
    signal: AbortSignal,
    join: (waiting: Waiting) => () => void,
    onEnter: () => void = () => undefined,
  ): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        forget();
        waiting -= 1;
      };
      const fail = (error: unknown): void => {
        end();
        reject(error as Error);
        letIn();
      };
      const leave = (): void => {
        fail(signal.reason);
      };
      const timer = setTimeout(() => {
        fail(new CrowdedError(mayHave(entrant) ? 'all' : 'key'));
      }, waitLimitMs);
      signal.addEventListener('abort', leave, { once: true });
      waiting += 1;
      const forget = join({
        ...entrant,
        since: performance.now(),
        enter(overtakes) {
          end();
          // Immediately, so that the memory is never free in between.
          take(entrant.key, entrant.bytes);
          if (overtakes) freeToOvertake -= entrant.bytes;
          onEnter();
          resolve(overtakes);
        },
      });
      // Not before the caller waits.
      queueMicrotask(letIn);
    });

  const joinKey = (entrant: Waiting): (() => void) => {
    const { key } = entrant;
    waitingByKey.set(key, (waitingByKey.get(key) ?? new Set()).add(entrant));
    return () => {
      const ofKey = waitingByKey.get(key);
      if (ofKey?.delete(entrant) !== true) return;
      // The key moves to the end of the order.
      waitingByKey.delete(key);
      if (ofKey.size > 0) waitingByKey.set(key, ofKey);
    };
  };

  const shareOf = (key: string, bytes: number, hasOvertaken: boolean): Share => {
    let size = bytes;
    let isHeld = true;
    const giveBack = (returned: number): void => {
      size -= returned;
      take(key, -returned);
      letIn();
    };
    return {
      get size() {
        return size;
      },
      async grow(bytes, signal) {
        signal.throwIfAborted();
        const more = Math.min(bytes, capacity - size);
        const entrant = { key, bytes: more };
        if (more <= free && growing.size === 0) take(key, more);
        else {
          await wait(entrant, signal, (own) => {
            growing.add(own);
            return () => growing.delete(own);
          });
        }
        size += more;
        // It was released meanwhile.
        if (!isHeld) giveBack(more);
      },
      release() {
        if (!isHeld) return;
        isHeld = false;
        holders -= 1;
        if (hasOvertaken) freeToOvertake += bytes;
        giveBack(size);
      },
    };
  };

  const hold = (key: string, bytes: number): Share => {
    take(key, bytes);
    holders += 1;
    return shareOf(key, bytes, false);
  };

  return {
    get held() {
      return capacity - free;
    },
    get waiting() {
      return waiting;
    },
    hold,
    enterAtOnce(key, bytes) {
      const size = Math.min(bytes, capacity);
      if (size > free) throw new CrowdedError('all');
      const held = heldBy(key);
      if (held > 0 && held + size > Math.min(perKey, free - size)) throw new CrowdedError('key');
      return hold(key, size);
    },
    async enter(key, bytes, signal) {
      signal.throwIfAborted();
      const entrant = { key, bytes: Math.min(bytes, capacity) };
      const onEnter = (): void => {
        holders += 1;
      };
      let hasOvertaken = false;
      if (waiting === 0 && mayHave(entrant) && entrant.bytes <= free) {
        take(key, entrant.bytes);
        onEnter();
      } else {
        if ((waitingByKey.get(key)?.size ?? 0) >= maxWaitingPerKey) throw new CrowdedError('key');
        if (waiting >= maxWaiting) throw new CrowdedError('all');
        hasOvertaken = await wait(entrant, signal, joinKey, onEnter);
      }
      return shareOf(key, entrant.bytes, hasOvertaken);
    },
  };
}
