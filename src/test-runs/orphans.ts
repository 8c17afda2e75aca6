import { ProblemError } from '../errors/problem-error.ts';
import type { Prompts } from '../prompts/prompts.ts';
import type { ResultArchive } from './result-archive.ts';
import type { TestRunStore } from './test-run-store.ts';
import type { Clock } from '../runtime/clock.ts';

export interface OrphanDependencies {
  readonly store: Pick<TestRunStore, 'promptIds' | 'tombstones' | 'remove'>;
  readonly archive: Pick<ResultArchive, 'delete'>;
  readonly prompts: Pick<Prompts, 'resolve'>;
  readonly deleteAllOf: (promptId: string) => Promise<void>;
  readonly clock: Clock;
}

const day = 24 * 60 * 60 * 1_000;
/** Prompts, and tombstones of runs, that one step reads. */
const promptsPerStep = 20;
const tombstonesPerStep = 100;

/**
 * Creates a function for calls every few seconds. It goes through all prompts once a day, a few at a time, and removes
 * what late writers left: runs of deleted prompts, and results that were stored for a run after it was deleted.
 */
export function createOrphanRemoval(dependencies: OrphanDependencies): () => Promise<void> {
  const { store, archive, prompts, deleteAllOf, clock } = dependencies;
  /** The last prompt that was checked; undefined between two rounds. */
  let position: string | undefined;
  let nextRoundAt = clock.monotonic();

  return async () => {
    if (position === undefined && clock.monotonic() < nextRoundAt) return;
    position ??= '';

    // A day is longer than any process can be late with its results.
    const tombstones = await store.tombstones(new Date(clock.now().getTime() - day), tombstonesPerStep);
    await Promise.all(tombstones.map((id) => archive.delete(id)));
    await store.remove(tombstones);

    const promptIds = await store.promptIds(position, promptsPerStep);
    // A prompt exists before its first test run, so a missing prompt was deleted.
    for (const promptId of promptIds) if (!(await exists(prompts, promptId))) await deleteAllOf(promptId);
    position = promptIds.length < promptsPerStep ? undefined : promptIds.at(-1);
    if (position === undefined) nextRoundAt = clock.monotonic() + day;
  };
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
