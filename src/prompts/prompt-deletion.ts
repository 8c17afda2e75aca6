import { setTimeout as sleep } from 'node:timers/promises';
import type { PromptStore } from './prompt-store.ts';

/** Deletes what belongs to a prompt, such as its test runs. Safe to repeat. */
export type Cascade = (promptId: string) => Promise<void>;

/** Milliseconds between two reads of the archive. */
const pauseMs = 20;

/**
 * Deletes a marked prompt: first everything that belongs to it, then the prompt, so that the rest can be found after an
 * interruption. Safe to repeat.
 */
export async function finishDeletion(
  store: PromptStore,
  cascades: readonly Cascade[],
  promptId: string,
): Promise<void> {
  for (const cascade of cascades) await cascade(promptId);
  await store.removeArchived(promptId);
  await store.remove(promptId);
}

/**
 * Finishes interrupted deletions. A failing deletion does not stop the others.
 * @throws the first failure, after an attempt for each
 */
export async function finishDeletions(store: PromptStore, cascades: readonly Cascade[]): Promise<void> {
  const failures: unknown[] = [];
  for (const promptId of await store.findDeleting()) {
    await finishDeletion(store, cascades, promptId).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Removes archived versions without a prompt. A process that crashes during an update while the prompt is being deleted
 * can leave them.
 */
export async function removeOrphanedVersions(store: PromptStore): Promise<void> {
  await store.archivedPromptIds(async (ids) => {
    // A prompt exists before its first archived version, so a missing prompt was deleted.
    const existing = await store.existing(ids);
    for (const promptId of ids) if (!existing.has(promptId)) await store.removeArchived(promptId);
    await sleep(pauseMs);
  });
}
