/** What is done every few seconds about the test runs of all processes, each time a little. */
import type { Logger } from 'pino';
import {
  isolateFailures,
  doForEach,
  doSteps,
  isOutage,
  throwFailures,
  type Failure,
} from '../../base/errors/outage.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Prompts } from '../prompts.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import type { ResultArchive } from './result-archive.ts';
import { createStaleRuns } from './stale-runs.ts';
import type { TestRunStore } from './test-run-store.ts';

export interface SweepDependencies {
  readonly store: Pick<TestRunStore, 'heartbeats' | 'end' | 'endedBefore' | 'promptIds' | 'tombstones' | 'remove'>;
  readonly archive: Pick<ResultArchive, 'delete'>;
  readonly prompts: Pick<Prompts, 'resolve'>;
  readonly deleteAllOf: (promptId: string) => Promise<void>;
  /** Milliseconds without a heartbeat after which a run is interrupted. */
  readonly staleMs: number;
  /** How long runs and their results are kept, in milliseconds. */
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const day = 24 * 60 * 60 * 1_000;

export function createSweep(dependencies: SweepDependencies): () => Promise<void> {
  const steps = {
    stale: interruptStale(dependencies),
    orphans: removeOrphans(dependencies),
    expired: removeExpired(dependencies),
  };
  return () => doSteps(steps);
}

/**
 * Interrupts runs without heartbeats, of any process. If the process of such a run still lives, it finds that its run
 * has ended and deletes the results that it stored.
 */
function interruptStale({ store, archive, staleMs, clock, random, log }: SweepDependencies): () => Promise<void> {
  const staleRuns = createStaleRuns(staleMs, clock.monotonic);
  return async () => {
    await doForEach(staleRuns.observe(await store.heartbeats()), async ({ id, beat }) => {
      const end = { status: 'interrupted', at: clock.now(), writeId: random.uuid(), beat } as const;
      if ((await store.end(id, end)).outcome !== 'ended') return;
      log.warn({ test_run: id }, 'a test run stopped unexpectedly; its status is now interrupted');
      // Its process may have died after it stored the results and before it recorded the end.
      await archive.delete(id).catch((error: unknown) => {
        log.warn({ error, test_run: id }, 'the results of an interrupted test run could not be deleted');
      });
    });
  };
}

/** Prompts, and tombstones of runs, that one step reads. */
const promptsPerStep = 20;
const tombstonesPerStep = 100;

/**
 * Goes through all prompts once a day and removes what late writers left: runs of deleted prompts, and results that were
 * stored for a run after it was deleted.
 */
function removeOrphans(dependencies: SweepDependencies): () => Promise<void> {
  const { store, prompts, deleteAllOf, clock } = dependencies;
  /** The last prompt that was checked; undefined between two rounds. */
  let position: string | undefined;
  let nextRoundAt = clock.monotonic();

  return async () => {
    if (position === undefined && clock.monotonic() < nextRoundAt) return;
    position ??= '';

    const from = position;
    const steps = {
      tombstones: async () => {
        // A day is longer than any process can be late with its results.
        const before = new Date(clock.now().getTime() - day);
        await removeRuns(dependencies, await store.tombstones(before, tombstonesPerStep));
      },
      prompts: async () => {
        const promptIds = await store.promptIds(from, promptsPerStep);
        await step(
          // A prompt exists before its first test run, so a missing prompt was deleted.
          doForEach(promptIds, async (promptId) => {
            if (!(await exists(prompts, promptId))) await deleteAllOf(promptId);
          }),
          () => {
            position = promptIds.length < promptsPerStep ? undefined : promptIds.at(-1);
            if (position === undefined) nextRoundAt = clock.monotonic() + day;
          },
        );
      },
    };
    await doSteps(steps);
  };
}

/**
 * Does a step of a round and then moves on. An outage leaves the work to the next step, any other failure to the next
 * round.
 */
async function step(work: Promise<void>, moveOn: () => void): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isOutage(error)) moveOn();
    throw error;
  }
  moveOn();
}

async function exists(prompts: Pick<Prompts, 'resolve'>, id: string): Promise<boolean> {
  try {
    await prompts.resolve(id);
    return true;
  } catch (error) {
    if (error instanceof ProblemError && error.type === 'prompt-not-found') return false;
    throw error;
  }
}

/** Number of ranges of ids. Ids are random, so the ranges have about the same number of runs. */
const ranges = 256;
/** Results removed at the same time. */
const atOnce = 20;

/** Goes through all runs once a day, one range of ids each time, and deletes those that ended too long ago. */
function removeExpired(dependencies: SweepDependencies): () => Promise<void> {
  const { store, retentionMs, clock } = dependencies;
  let range = 0;
  let nextRoundAt = clock.monotonic();

  return async () => {
    if (range === 0 && clock.monotonic() < nextRoundAt) return;
    const before = new Date(clock.now().getTime() - retentionMs);
    const ids = await store.endedBefore(before, prefix(range), prefix(range + 1));
    await step(removeRuns(dependencies, ids), () => {
      range = (range + 1) % ranges;
      if (range === 0) nextRoundAt = clock.monotonic() + day;
    });
  };
}

/** Deletes the results of runs, then the runs: without them, nothing would lead to the results. */
async function removeRuns({ store, archive }: SweepDependencies, ids: readonly string[]): Promise<void> {
  const failures: Failure[] = [];
  const removeSome = async (some: readonly string[]): Promise<void> => {
    await Promise.all(some.map((id) => archive.delete(id)));
    await store.remove(some);
  };
  for (let start = 0; start < ids.length; start += atOnce) {
    await isolateFailures(ids.slice(start, start + atOnce), removeSome, (id, error) => failures.push({ id, error }));
  }
  throwFailures(failures);
}

/** The beginning of a range of UUIDs: its first two digits. The end of the last range is greater than any digit. */
function prefix(range: number): string {
  return range < ranges ? range.toString(16).padStart(2, '0') : 'g';
}
