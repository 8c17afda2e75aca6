import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../base/errors/problem-error.ts';
import type { Relay } from '../webhooks/events/outbox.ts';
import type { Archive } from './archive-store.ts';
import type { PromptStore } from './prompt-store.ts';

/** Deletes what belongs to a prompt, such as its test runs. Safe to repeat. */
export type Cascade = (promptId: string) => Promise<void>;

/** Milliseconds between two reads of the archive. */
const pauseMs = 20;

export interface DeletionDependencies {
  readonly store: PromptStore;
  readonly cascades: readonly Cascade[];
  readonly relay: Pick<Relay, 'relayNow'>;
}

/**
 * Deletes a marked prompt: first everything that belongs to it, then the prompt, so that the rest can be found after an
 * interruption. Its events are relayed before, because they wait in it. Safe to repeat.
 * @throws {ProblemError} overloaded while some of them wait
 */
export async function finishDeletion(
  { store, cascades, relay }: DeletionDependencies,
  promptId: string,
): Promise<void> {
  for (const cascade of cascades) await cascade(promptId);
  await store.archived.removeAll(promptId);
  await relay.relayNow('prompts', promptId);
  await store.remove(promptId);
  if ((await store.existing([promptId])).size === 0) return;
  throw new ProblemError('overloaded', {
    detail: 'Events of the prompt could not be sent yet. Its deletion goes on. Try again shortly.',
    headers: { 'Retry-After': '2' },
  });
}

/**
 * Finishes interrupted deletions. A failing deletion does not stop the others.
 * @throws the first failure, after an attempt for each
 */
export async function finishDeletions(dependencies: DeletionDependencies): Promise<void> {
  const failures: unknown[] = [];
  for (const promptId of await dependencies.store.findDeleting()) {
    await finishDeletion(dependencies, promptId).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Removes from an archive what belongs to no prompt. A process that crashes during an update while the prompt is being
 * deleted can leave it.
 */
export async function removeOrphans(archive: Archive, store: Pick<PromptStore, 'existing'>): Promise<void> {
  for await (const ids of archive.promptIds()) {
    // A prompt exists before anything of it is archived, so a missing prompt was deleted.
    const existing = await store.existing(ids);
    for (const promptId of ids) if (!existing.has(promptId)) await archive.removeAll(promptId);
    await sleep(pauseMs);
  }
}
