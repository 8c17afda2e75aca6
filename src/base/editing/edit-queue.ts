import { ProblemError } from '../errors/problem-error.ts';
import { within } from '../runtime/within.ts';
import { requireMatch, type Precondition } from './edits.ts';
import { retryLostRaces } from './lost-races.ts';

/** The length of a turn, in milliseconds. If an edit takes longer, the database is slow or unavailable. */
const shortestTurnMs = 250;
/** The length of a turn while the database is slow. */
const longestTurnMs = 3_000;
/** The longest wait for a turn, in milliseconds. */
const waitLimitMs = 15_000;

/** A change of a resource by a caller. */
export interface Edit<Thing> {
  /** Reads it. Throws if it does not exist. */
  readonly get: () => Promise<Thing>;
  readonly precondition: Precondition<Thing>;
  /** @returns the same object if nothing changes */
  readonly change: (present: Thing) => Thing;
  /** Stores it with its record in the audit log. @returns undefined if another writer was first */
  readonly write: (next: Thing, present: Thing) => Promise<Thing | undefined>;
}

/** Runs edits of the same resource in this process one after the other. */
export interface EditQueue {
  /**
   * Reads a resource, checks the precondition, changes it and stores it, and begins again if another writer was first.
   * @returns the resource as it is stored
   * @throws {ProblemError} precondition-failed, and as {@link EditQueue.contend}
   */
  edit<Thing>(key: string, edit: Edit<Thing>): Promise<Thing>;
  /**
   * Does the work after the previous work with the same key has ended or has taken longer than its turn. Turns only
   * reduce work; edits are also safe without them.
   * @param otherwise runs instead if there was no turn within 15 s
   */
  run<Result>(key: string, work: () => Promise<Result>, otherwise: () => Promise<Result>): Promise<Result>;
  /**
   * Repeats an attempt in turns until it wins its race.
   * @param attempt returns `undefined` if another writer was first
   * @throws {ProblemError} edit-conflict if there was no turn within 15 s, or after 5 s of lost races
   */
  contend<Result>(key: string, attempt: () => Promise<Result | undefined>): Promise<Result>;
}

interface Turn {
  isOver: boolean;
  /** @param hasAnswer the database has answered: the work succeeded, or lost a race */
  end(hasAnswer: boolean): void;
}

/**
 * Without this, only one of a hundred simultaneous edits of one resource would win its compare-and-set, and the others
 * would start again. This can still happen between processes: then an edit is repeated.
 */
export function createEditQueue(): EditQueue {
  /** For each key with edits the end of the last turn, the length of the next one, and how many have not ended. */
  const queues = new Map<string, { over: Promise<undefined> | undefined; turnMs: number; edits: number }>();

  /** @returns undefined if there was no turn in time */
  const enter = async (key: string): Promise<Turn | undefined> => {
    const { promise: over, resolve } = Promise.withResolvers<undefined>();
    const queue = queues.get(key) ?? { over: undefined, turnMs: shortestTurnMs, edits: 0 };
    const before = queue.over;
    queue.over = over;
    queue.edits += 1;
    queues.set(key, queue);
    const leave = (): void => {
      resolve(undefined);
      queue.edits -= 1;
      if (queue.edits === 0) queues.delete(key);
    };
    if (
      before !== undefined &&
      !(await within(
        waitLimitMs,
        before.then(() => true),
        () => false,
      ))
    ) {
      // The next entrant still waits for the earlier ones.
      void before.then(leave);
      return undefined;
    }
    const started = performance.now();
    const turn: Turn = {
      isOver: false,
      end(hasAnswer) {
        clearTimeout(limit);
        // On a slow database, edits in short turns would overlap, and some would lose race after race.
        const tookMs = hasAnswer ? performance.now() - started : 0;
        queue.turnMs = Math.min(Math.max(shortestTurnMs, 2 * tookMs), longestTurnMs);
        turn.isOver = true;
        leave();
      },
    };
    const limit = setTimeout(() => {
      turn.isOver = true;
      resolve(undefined);
    }, queue.turnMs);
    return turn;
  };

  const contend: EditQueue['contend'] = async (key, attempt) => {
    let turn: Turn | undefined;
    let isDone = false;
    try {
      const result = await retryLostRaces(async () => {
        // Who has lost for longer than a turn waits for another one.
        if (turn?.isOver !== false) {
          turn?.end(true);
          turn = await enter(key);
        }
        if (turn === undefined) throw editConflict();
        return await attempt();
      }, editConflict);
      isDone = true;
      return result;
    } finally {
      turn?.end(isDone);
    }
  };

  return {
    contend,
    edit: (key, { get, precondition, change, write }) =>
      contend(key, async () => {
        const present = await get();
        requireMatch(present, precondition);
        const next = change(present);
        return next === present ? present : await write(next, present);
      }),
    async run(key, work, otherwise) {
      const turn = await enter(key);
      if (turn === undefined) return await otherwise();
      let isDone = false;
      try {
        const result = await work();
        isDone = true;
        return result;
      } finally {
        turn.end(isDone);
      }
    },
  };
}

/** The failure of an edit that lost too many races. */
function editConflict(): ProblemError {
  return new ProblemError('edit-conflict', {
    detail: 'Other requests changed the resource each time before this change was saved.',
  });
}
