import type { ServerResponse } from 'node:http';
import { ProblemError } from '../errors/problem-error.ts';
import { createFairQueue, QueueFullError, type Entrant, type FairQueue } from '../fair-queue.ts';

/** Has few lists under way at once: one may read thousands of documents, and its answer may have 8 MiB. */
export interface ListQueue {
  /**
   * Reads a list when it is its turn, which is fair by key. Callers who hang up leave the queue.
   * @param signal aborted when the caller hangs up
   * @throws {ProblemError} rate-limited when too many of the key wait; overloaded when too many wait in all, or the turn
   *   does not come in time
   */
  run<Result>(key: string, response: ServerResponse, signal: AbortSignal, list: () => Promise<Result>): Promise<Result>;
}

export interface ListQueueOptions {
  /** Lists that are read at once. */
  readonly places?: number;
  /** Lists whose answers are read or not taken yet by their callers, so that their memory is bounded. */
  readonly answers?: number;
  readonly mostWaiting?: number;
  readonly mostWaitingPerKey?: number;
  /** Milliseconds that a list waits for its turn. */
  readonly waitLimitMs?: number;
}

/** Seconds after which a refused list may be tried again. */
const retryAfter = '5';

export function createListQueue({
  places = 2,
  answers = 16,
  mostWaiting = 1_000,
  mostWaitingPerKey = 250,
  waitLimitMs = 30_000,
}: ListQueueOptions = {}): ListQueue {
  // A caller that does not take its answers leaves a quarter of the places to others.
  const answering = createFairQueue({ places: answers, reserved: answers / 4, mostWaiting, mostWaitingPerKey });
  const reading = createFairQueue({ places });

  return {
    async run(key, response, signal, list) {
      const limit = new AbortController();
      const timer = setTimeout(() => {
        limit.abort(overloaded('The list has not had its turn in time.'));
      }, waitLimitMs);
      const entrant = { key, signal: AbortSignal.any([signal, limit.signal]) };
      let leave: () => void;
      try {
        const leaveAnswering = await enter(answering, entrant);
        response.once('close', leaveAnswering);
        if (response.closed) leaveAnswering();
        leave = await enter(reading, entrant);
      } finally {
        clearTimeout(timer);
      }
      try {
        return await list();
      } finally {
        leave();
      }
    },
  };
}

async function enter(queue: FairQueue, entrant: Entrant): Promise<() => void> {
  try {
    return await queue.enter(entrant);
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw error;
    if (error.crowd === 'all') throw overloaded('Too many lists are waiting for their turn.');
    throw new ProblemError('rate-limited', {
      detail: 'Too many lists of this key are waiting for their turn.',
      headers: { 'Retry-After': retryAfter },
    });
  }
}

function overloaded(detail: string): ProblemError {
  return new ProblemError('overloaded', { detail, headers: { 'Retry-After': retryAfter } });
}
