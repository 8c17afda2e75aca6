import type { Principal } from '../base/limits/principal.ts';
import type { ServerResponse } from 'node:http';
import { ProblemError } from '../base/errors/problem-error.ts';
import { shareReads } from '../base/runtime/shared-reads.ts';
import { createFairQueue, CrowdedError, type Entrant, type FairQueue } from '../base/limits/fair-queue.ts';
import type { RawAnswer } from './problem-response.ts';
import { createReadingTurns } from './reading-turns.ts';

/** Limits the number of lists in progress. One list can read thousands of documents, and its answer can have 8 MiB. */
export interface ListQueue {
  /**
   * Reads a list when a place is free; places are given fairly by family of keys. Callers that close the connection leave the
   * queue. Callers that wait for the same list share one read that begins after their requests. A request that reads
   * several lists has one place for all of them: if it waited for a second one, requests like it could wait for each other.
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

/** The place of a request. */
interface RequestPlace {
  /** Gives the place back. */
  readonly entered: Promise<() => void>;
  /** Lists that the request waits for. */
  reads: number;
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
  const turns = createReadingTurns(places);
  const placesOf = new WeakMap<ServerResponse, RequestPlace>();
  const read = shareReads((_list: string, family: string, list: () => Promise<RawAnswer>) => turns.read(family, list));

  /** Waits for a place for the answer. */
  const begin = async ({ principal: { family }, signal }: ListCall): Promise<() => void> => {
    const limit = new AbortController();
    const timer = setTimeout(() => {
      limit.abort(overloaded('The list has not had its turn in time.'));
    }, waitLimitMs);
    try {
      return await enter(answering, { key: family, signal: AbortSignal.any([signal, limit.signal, turns.outage]) });
    } finally {
      clearTimeout(timer);
    }
  };
  const placeFor = (call: ListCall): RequestPlace => {
    const { response } = call;
    const present = placesOf.get(response);
    if (present !== undefined) return present;
    const place: RequestPlace = { entered: begin(call), reads: 0 };
    placesOf.set(response, place);
    place.entered.then(
      (leave) => {
        // A read continues when the caller closes the connection, so the number of reads could grow.
        response.once('close', () => {
          if (place.reads === 0) leave();
        });
      },
      () => placesOf.delete(response),
    );
    return place;
  };

  return {
    async run(call, list) {
      const { principal, target, response } = call;
      const place = placeFor(call);
      place.reads += 1;
      try {
        const leave = await place.entered;
        try {
          return await read(`${principal.id} ${target}`, principal.family, list);
        } finally {
          if (place.reads === 1 && response.closed) leave();
        }
      } finally {
        place.reads -= 1;
      }
    },
  };
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
