import { ProblemError } from '../errors/problem-error.ts';
import { CrowdedError } from './fair-queue.ts';
import { createMemoryQueue, type MemoryQueue, type Share } from './memory-queue.ts';

/**
 * Memory for work in progress, shared between families of API keys. All sizes are estimates, in bytes.
 *
 * Small sizes are given or refused immediately. Large ones wait: in one queue to read a body, and then in another for
 * everything that is made of it. Large answers that are being sent count in the second queue. Both together cannot have
 * all memory, so small requests are served whatever the large ones have.
 * What waits in the second queue holds only memory of the first, so that no two requests wait for each other.
 *
 * A family is an API key with all keys that it led to. One that has some memory gets no more than it leaves free for the
 * others: alone half of it, of two a third each.
 */
export interface MemoryBudget {
  /**
   * Counts memory before it is used. A size above half of a family's share counts as that half, so that any request can
   * run if its family has little else in progress.
   *
   * @returns a function that gives the memory back; calling it again does nothing
   * @throws {ProblemError} too-much-in-progress if the family's share is used up, overloaded if that of all is
   */
  reserve(family: string, bytes: number): () => void;
  /**
   * The same from the memory of large requests, whatever the size is: for answers that a caller may take slowly or not at
   * all.
   */
  reserveLarge(family: string, bytes: number): () => void;
  /** Counts an answer that is already in memory as that of a large request, even above the limit. */
  hold(family: string, bytes: number): () => void;
  readonly use: MemoryUse;
  /**
   * Waits for memory to keep a body while it is read.
   *
   * @throws {ProblemError} too-much-in-progress, overloaded: there is no memory in time, or too many requests wait
   * @throws The reason of `signal` when that is aborted.
   */
  awaitBody(family: string, bytes: number, signal: AbortSignal): Promise<() => void>;
  /** Whether requests wait for memory to read their bodies. */
  readonly isBodyAwaited: boolean;
  /** The memory of one request for everything that is made of its body. It has none yet. */
  forRequest(family: string): RequestMemory;
}

/** The memory of one request, for its body and its calls together. */
export interface RequestMemory {
  /**
   * Counts that the request needs so many bytes in all. Waits if that is much more than it has.
   *
   * @returns a function that gives back what was added; calling it again does nothing
   * @throws {ProblemError} too-much-in-progress, overloaded
   * @throws The reason of `signal` when that is aborted.
   */
  cover(bytes: number, signal: AbortSignal): Promise<() => void>;
  /** Bytes that it has. */
  readonly held: number;
  /** Keeps the memory until the returned function is called, also after `release`. */
  keep(): () => void;
  /** Gives everything back, unless it is kept. Calling it again does nothing. */
  release(): void;
}

/** Numbers for metrics. */
export interface MemoryUse {
  /** Bytes that count now. */
  readonly reserved: number;
  /** Bytes for all. */
  readonly limit: number;
  /** Requests that wait. */
  readonly waiting: number;
  /** Refusals since the start: because the family of the key has used up its share, or all together the whole. */
  readonly refused: { readonly key: number; readonly all: number };
}

export interface MemoryBudgetOptions {
  readonly perKey: number;
  readonly perProcess: number;
  /** The longest time that a request waits for memory, in milliseconds; 20 s if left out. */
  readonly waitLimitMs?: number;
}

/** Bytes for a call of a provider, without its prompt: an answer of usual length in all its forms. */
export const callBytes = 64 * 1024;
/** Bytes for a character of a prompt: it is in memory as text, as JSON, and as bytes on a socket. */
export const copies = 8;
/** Sizes up to this never wait. */
const smallBytes = 1024 * 1024;

export function createMemoryBudget({ perKey, perProcess, waitLimitMs = 20_000 }: MemoryBudgetOptions): MemoryBudget {
  const byFamily = new Map<string, number>();
  /** Of small requests. */
  let total = 0;
  const refused = { key: 0, all: 0 };
  const refuse = (crowd: 'key' | 'all'): ProblemError => {
    refused[crowd] += 1;
    return crowd === 'key' ? tooMuch() : overloaded();
  };
  const explained = async <Result>(wait: Promise<Result>): Promise<Result> => {
    try {
      return await wait;
    } catch (error) {
      if (!(error instanceof CrowdedError)) throw error;
      throw refuse(error.crowd);
    }
  };
  const parts = { reading: 4, working: 10 };
  const createQueue = (sixteenths: number): MemoryQueue => {
    const part = (bytes: number): number => Math.floor((bytes / 16) * sixteenths);
    return createMemoryQueue({
      capacity: part(perProcess),
      perKey: part(perKey),
      maxWaiting: 1_000,
      maxWaitingPerKey: 250,
      waitLimitMs,
      patienceMs: 2_000,
    });
  };
  const reading = createQueue(parts.reading);
  const working = createQueue(parts.working);
  const largestAtOnce = Math.floor((perKey / 32) * parts.working);
  /** The rest is left for small requests, also when answers in memory exceed the limit. */
  const mostLarge = (perProcess / 16) * (parts.reading + parts.working);

  const take = (family: string, bytes: number): void => {
    total += bytes;
    byFamily.set(family, (byFamily.get(family) ?? 0) + bytes);
  };
  const giveBack = (family: string, bytes: number): void => {
    total -= bytes;
    const left = (byFamily.get(family) ?? 0) - bytes;
    if (left > 0) byFamily.set(family, left);
    else byFamily.delete(family);
  };
  /** Takes memory if there is enough. @returns the bytes that count */
  const tryTake = (family: string, bytes: number): number => {
    const counted = Math.min(bytes, Math.floor(perKey / 2));
    const left = perProcess - total - Math.min(reading.held + working.held, mostLarge) - counted;
    const held = byFamily.get(family) ?? 0;
    if (left < 0) throw refuse(held + counted > perKey ? 'key' : 'all');
    if (held > 0 && held + counted > Math.min(perKey, left)) throw refuse('key');
    take(family, counted);
    return counted;
  };
  const reserve = (family: string, bytes: number): (() => void) => {
    const counted = tryTake(family, bytes);
    return once(() => {
      giveBack(family, counted);
    });
  };
  const pool: Pool = {
    take: tryTake,
    giveBack,
    wait: (family, bytes, signal) => explained(working.enter(family, bytes, signal)),
    grow: (share, bytes, signal) => explained(share.grow(bytes, signal)),
  };
  return {
    reserve,
    reserveLarge(family, bytes) {
      try {
        return working.enterAtOnce(family, Math.min(bytes, largestAtOnce)).release;
      } catch (error) {
        throw error instanceof CrowdedError ? refuse(error.crowd) : error;
      }
    },
    hold: (family, bytes) => working.hold(family, bytes).release,
    get use() {
      return {
        reserved: total + reading.held + working.held,
        limit: perProcess,
        waiting: reading.waiting + working.waiting,
        refused,
      };
    },
    async awaitBody(family, bytes, signal) {
      const share = await explained(reading.enter(family, bytes, signal));
      return () => {
        share.release();
      };
    },
    get isBodyAwaited() {
      return reading.waiting > 0;
    },
    forRequest: (family) => new OwnMemory(family, pool),
  };
}

/** What the memory of requests is taken from. */
interface Pool {
  /** Takes memory without waiting. @returns the bytes that count @throws {ProblemError} */
  take(family: string, bytes: number): number;
  giveBack(family: string, bytes: number): void;
  /** Waits for memory. @throws {ProblemError} */
  wait(family: string, bytes: number, signal: AbortSignal): Promise<Share>;
  /** Waits for more memory. @throws {ProblemError} */
  grow(share: Share, bytes: number, signal: AbortSignal): Promise<void>;
}

/** A class, because creating an object literal with accessors for each request is several times slower. */
class OwnMemory implements RequestMemory {
  readonly #family: string;
  readonly #pool: Pool;
  /** What it has without the queues: bytes that it asked for, and bytes of these that count. */
  #small = { bytes: 0, counted: 0 };
  #share: Share | undefined;
  #keepers = 1;
  #isReleased = false;

  constructor(family: string, pool: Pool) {
    this.#family = family;
    this.#pool = pool;
  }

  get held(): number {
    return this.#small.bytes + (this.#share?.size ?? 0);
  }

  async cover(bytes: number, signal: AbortSignal): Promise<() => void> {
    const more = bytes - this.held;
    if (more <= 0) return () => undefined;
    if (more > smallBytes) {
      if (this.#share !== undefined) await this.#pool.grow(this.#share, more, signal);
      else this.#share = await this.#pool.wait(this.#family, more, signal);
      return () => undefined;
    }
    const counted = this.#pool.take(this.#family, more);
    const own = this.#small;
    own.bytes += more;
    own.counted += counted;
    return once(() => {
      if (own !== this.#small) return;
      own.bytes -= more;
      own.counted -= counted;
      this.#pool.giveBack(this.#family, counted);
    });
  }

  keep(): () => void {
    this.#keepers += 1;
    return once(() => {
      this.#leave();
    });
  }

  release(): void {
    if (!this.#isReleased) this.#leave();
    this.#isReleased = true;
  }

  #leave(): void {
    this.#keepers -= 1;
    if (this.#keepers > 0) return;
    this.#share?.release();
    this.#share = undefined;
    if (this.#small.counted > 0) this.#pool.giveBack(this.#family, this.#small.counted);
    // What is given back later belongs to the former.
    this.#small = { bytes: 0, counted: 0 };
  }
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

function tooMuch(): ProblemError {
  return new ProblemError('too-much-in-progress', {
    detail: 'The requests and test runs in progress for this caller use all the memory that it may have.',
    headers: { 'Retry-After': '2' },
  });
}

function overloaded(): ProblemError {
  return new ProblemError('overloaded', {
    detail: 'The requests and test runs in progress use all the memory that is reserved for them.',
    headers: { 'Retry-After': '5' },
  });
}
