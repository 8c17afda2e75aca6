import type { Principal } from '../base/limits/principal.ts';
import type { ServerResponse } from 'node:http';
import { ProblemError } from '../base/errors/problem-error.ts';
import { shareReads } from '../base/runtime/shared-reads.ts';
import { createFairQueue, CrowdedError, type Entrant, type FairQueue } from '../base/limits/fair-queue.ts';
import type { RawAnswer } from './problem-response.ts';

/** Limits the number of lists in progress. One list can read thousands of documents, and its answer can have 8 MiB. */
export interface ListQueue {
  /**
   * Reads a list when a place is free; places are given fairly by family of keys. Callers that close the connection leave the
   * queue. Callers that wait for the same list share one read that begins after their requests.
   * @param call the caller, the list (its path and query decide the answer), and a signal that is aborted when the
   *   caller closes the connection
   * @throws {ProblemError} rate-limited if too many of the family wait; overloaded if too many wait in total, or no place
   *   is free in time; the failure of a list in progress if the database is unavailable
   */
  run(call: ListCall, list: () => Promise<RawAnswer>): Promise<RawAnswer>;
}

export interface ListCall {
  readonly principal: Pick<Principal, 'id' | 'family'>;
  readonly target: string;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

export interface ListQueueOptions {
  /** Lists that are read at once. */
  readonly places?: number;
  /** The most lists that are being read or whose answers are not yet received. It limits their memory. */
  readonly answers?: number;
  readonly maxWaiting?: number;
  readonly maxWaitingPerKey?: number;
  readonly waitLimitMs?: number;
}

/** Seconds after which a refused list can be requested again. */
const retryAfter = '5';

export function createListQueue({
  places = 2,
  answers = 24,
  maxWaiting = 1_000,
  maxWaitingPerKey = 250,
  waitLimitMs = 60_000,
}: ListQueueOptions = {}): ListQueue {
  // Callers that do not read their answers leave places to others.
  const answering = createFairQueue({ places: answers, leavesFree: true, maxWaiting, maxWaitingPerKey });
  const reading = createFairQueue({ places });
  /** Ends all waits for a place. */
  let outage = new AbortController();
  const read = shareReads(async (_list: string, family: string, list: () => Promise<RawAnswer>) => {
    const leave = await reading.enter({ key: family, signal: outage.signal });
    try {
      return await list();
    } catch (error) {
      // Otherwise each list would take seconds, one after the other, to fail in the same way.
      if (isOutage(error)) {
        outage.abort(error);
        outage = new AbortController();
      }
      throw error;
    } finally {
      leave();
    }
  });

  return {
    async run({ principal: { id, family }, target, response, signal }, list) {
      const limit = new AbortController();
      const timer = setTimeout(() => {
        limit.abort(overloaded('The list has not had its turn in time.'));
      }, waitLimitMs);
      let leave: () => void;
      try {
        leave = await enter(answering, { key: family, signal: AbortSignal.any([signal, limit.signal, outage.signal]) });
      } finally {
        clearTimeout(timer);
      }
      try {
        return await read(`${id} ${target}`, family, list);
      } finally {
        // Not when the caller closes the connection: the read continues, so the number of reads could grow.
        if (response.closed) leave();
        else response.once('close', leave);
      }
    },
  };
}

function isOutage(error: unknown): boolean {
  return error instanceof ProblemError && ['database-unavailable', 'storage-full'].includes(error.type);
}

async function enter(queue: FairQueue, entrant: Entrant): Promise<() => void> {
  try {
    return await queue.enter(entrant);
  } catch (error) {
    if (!(error instanceof CrowdedError)) throw error;
    if (error.crowd === 'all') throw overloaded('Too many lists are waiting.');
    throw new ProblemError('rate-limited', {
      detail: 'Too many lists of this caller are waiting.',
      headers: { 'Retry-After': retryAfter },
    });
  }
}

function overloaded(detail: string): ProblemError {
  return new ProblemError('overloaded', { detail, headers: { 'Retry-After': retryAfter } });
}
