/** A request for a place. */
export interface Entrant {
  /** The key that the place counts for, such as an API key's id. */
  readonly key: string;
  /** Whether it comes after all other entrants. False if left out. */
  readonly background?: boolean;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** Gives places to a limited number of entrants. The others wait. Many entrants of one key do not delay other keys. */
export interface FairQueue {
  /**
   * Waits for a place. The key with the fewest places is next. Keys with equally many take turns, and entrants of one
   * key are served in their order.
   *
   * @returns a function that gives the place back; calling it again does nothing
   * @throws {CrowdedError} immediately, if too many already wait
   * @throws The reason of `signal` when that is aborted first; no place is held then.
   */
  enter(entrant: Entrant): Promise<() => void>;
  /** Number of waiting entrants. */
  readonly waiting: number;
  /** Number of places that are held. */
  readonly held: number;
  /** Number of all places. */
  readonly places: number;
}

export interface FairQueueOptions {
  /** Number of places; at least 1. */
  readonly places: number;
  /**
   * Number of places reserved for keys that hold fewer places than this number, so that one key cannot hold all places.
   * 0 if left out.
   */
  readonly reserved?: number;
  /** Whether a key that holds places gets no more than it leaves free for others. False if left out. */
  readonly leavesFree?: boolean;
  /** The most places for background work; all if left out. */
  readonly background?: number;
  /** The most waiting entrants; no limit if left out. */
  readonly maxWaiting?: number;
  /** The most waiting entrants of one key; no limit if left out. */
  readonly maxWaitingPerKey?: number;
}

/** Too many already wait, or there was no room in time. */
export class CrowdedError extends Error {
  /** Whether those of the same key are too many, or all together. */
  readonly crowd: 'key' | 'all';

  constructor(crowd: CrowdedError['crowd']) {
    super(`There is no room (${crowd})`);
    this.name = 'CrowdedError';
    this.crowd = crowd;
  }
}

/** The waiting entrants of one class by key. The key that was served longest ago is first. Sets keep their order. */
type Waiting = Map<string, Set<() => void>>;

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { places, reserved = 0, leavesFree = false, background: maxBackground = places } = options;
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
    (free > reserved || (free > 0 && heldBy(key) < reserved)) &&
    (!leavesFree || heldBy(key) === 0 || heldBy(key) + 1 < free) &&
    (!isBackground || inBackground < maxBackground);

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
      // The key moves to the end of the order.
      crowd.delete(next);
      crowd.set(next, rest);
    }
    enter();
    return true;
  };

  /** @returns the waiting entrants of the key */
  const forget = (crowd: Waiting, key: string, enter: () => void): Set<() => void> | undefined => {
    const ofKey = crowd.get(key);
    if (ofKey?.delete(enter) === true) waiting -= 1;
    if (ofKey?.size !== 0) return ofKey;
    crowd.delete(key);
    return undefined;
  };

  return {
    places,
    get waiting() {
      return waiting;
    },
    get held() {
      return places - free;
    },
    async enter({ key, background: isBackground = false, signal }) {
      signal?.throwIfAborted();
      // The waiting entrants could not use the last released place either, so this one overtakes none of them.
      if (mayEnter(key, isBackground)) return take(key, isBackground);
      if (waitingOf(key) >= maxWaitingPerKey) throw new CrowdedError('key');
      if (waiting >= maxWaiting) throw new CrowdedError('all');
      return new Promise((resolve, reject) => {
        const crowd = isBackground ? background : foreground;
        const enter = (): void => {
          signal?.removeEventListener('abort', leave);
          // Immediately, so that the place is never free in between.
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
