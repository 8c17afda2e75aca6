/** A request for a place. */
export interface Entrant {
  /** The key that the place counts for, such as an API key's id. */
  readonly key: string;
  /** Comes after everything that is not. False when left out. */
  readonly background?: boolean;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Gives places to a limited number of entrants. The others wait, and many entrants of one key do not make another key
 * wait longer.
 */
export interface FairQueue {
  /**
   * Waits for a place. Of those that wait, a key that holds the fewest places is next, keys that hold equally many take
   * turns, and the entrants of one key come in the order in which they asked.
   *
   * @returns gives the place back; calling it again does nothing
   * @throws {QueueFullError} at once, when too many wait already
   * @throws The reason of `signal` when that is aborted first; no place is held then.
   */
  enter(entrant: Entrant): Promise<() => void>;
  /** How many wait. */
  readonly waiting: number;
}

export interface FairQueueOptions {
  /** How many hold a place at once; at least 1. */
  readonly places: number;
  /**
   * Of these, the ones that only keys that hold fewer than so many may take: one key that holds on to its places cannot
   * have them all. 0 when left out.
   */
  readonly reserved?: number;
  /** How many places background work may hold at once; all when left out. */
  readonly background?: number;
  /** How many wait at most; any number when left out. */
  readonly maxWaiting?: number;
  /** How many of one key wait at most; any number when left out. */
  readonly maxWaitingPerKey?: number;
}

/** Too many wait for a place already. */
export class QueueFullError extends Error {
  /** Whether too many of this key wait, or too many in total. */
  readonly crowd: 'key' | 'all';

  constructor(crowd: QueueFullError['crowd']) {
    super(`Too many wait already: ${crowd}`);
    this.name = 'QueueFullError';
    this.crowd = crowd;
  }
}

/** Those of one class who wait, by key: the key whose turn was longest ago first. Sets keep their order. */
type Waiting = Map<string, Set<() => void>>;

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { places, reserved = 0, background: maxBackground = places } = options;
  const { maxWaiting = Infinity, maxWaitingPerKey = Infinity } = options;
  const held = new Map<string, number>();
  const foreground: Waiting = new Map();
  const background: Waiting = new Map();
  let free = places;
  let inBackground = 0;
  let waiting = 0;

  const heldBy = (key: string): number => held.get(key) ?? 0;
  const waitingOf = (key: string): number => (foreground.get(key)?.size ?? 0) + (background.get(key)?.size ?? 0);
  const mayEnter = (key: string, isBackground: boolean): boolean =>
    (free > reserved || (free > 0 && heldBy(key) < reserved)) && (!isBackground || inBackground < maxBackground);

  const take = (key: string, isBackground: boolean): (() => void) => {
    free -= 1;
    if (isBackground) inBackground += 1;
    held.set(key, heldBy(key) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      free += 1;
      if (isBackground) inBackground -= 1;
      if (heldBy(key) === 1) held.delete(key);
      else held.set(key, heldBy(key) - 1);
      while (letNextIn(foreground, false) || letNextIn(background, true));
    };
  };

  const letNextIn = (crowd: Waiting, isBackground: boolean): boolean => {
    let next: string | undefined;
    for (const key of crowd.keys()) {
      if (mayEnter(key, isBackground) && (next === undefined || heldBy(key) < heldBy(next))) next = key;
    }
    const [enter] = (next === undefined ? undefined : crowd.get(next)) ?? [];
    if (next === undefined || enter === undefined) return false;
    const rest = forget(crowd, next, enter);
    if (rest !== undefined) {
      // To the end of the turns.
      crowd.delete(next);
      crowd.set(next, rest);
    }
    enter();
    return true;
  };

  /** @returns those of the key who still wait */
  const forget = (crowd: Waiting, key: string, enter: () => void): Set<() => void> | undefined => {
    const ofKey = crowd.get(key);
    if (ofKey?.delete(enter) === true) waiting -= 1;
    if (ofKey?.size !== 0) return ofKey;
    crowd.delete(key);
    return undefined;
  };

  return {
    get waiting() {
      return waiting;
    },
    async enter({ key, background: isBackground = false, signal }) {
      signal?.throwIfAborted();
      // All waiting entrants had to wait when a place was last released, so nobody is overtaken.
      if (mayEnter(key, isBackground)) return take(key, isBackground);
      if (waitingOf(key) >= maxWaitingPerKey) throw new QueueFullError('key');
      if (waiting >= maxWaiting) throw new QueueFullError('all');
      return new Promise((resolve, reject) => {
        const crowd = isBackground ? background : foreground;
        const enter = (): void => {
          signal?.removeEventListener('abort', leave);
          // At once, so that the place is never free in between.
          resolve(take(key, isBackground));
        };
        const leave = (): void => {
          forget(crowd, key, enter);
          reject(signal?.reason as Error);
        };
        const ofKey = crowd.get(key) ?? new Set();
        crowd.set(key, ofKey.add(enter));
        waiting += 1;
        signal?.addEventListener('abort', leave, { once: true });
      });
    },
  };
}
