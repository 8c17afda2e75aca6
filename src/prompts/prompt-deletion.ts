import { setTimeout as sleep } from 'node:timers/promises';
import { doForEach } from '../base/errors/outage.ts';
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
  readonly relay: Pick<Relay, 'nudge'>;
}

/** Milliseconds between looks whether the events of a prompt are relayed. With few receivers it takes some of them. */
const pausesMs = [10, 20, 40, 80, 160, 320];

/**
 * Deletes a marked prompt: first everything that belongs to it, then the prompt, so that the rest can be found after an
 * interruption. Its events wait in it, so while some of them do it gives up its names, and a later call removes it. Safe
 * to repeat.
 */
export async function finishDeletion(
  { store, cascades, relay }: DeletionDependencies,
  promptId: string,
): Promise<void> {
  relay.nudge('prompts', promptId);
  for (const cascade of cascades) await cascade(promptId);
  await store.archived.removeAll(promptId);
  for (const pause of pausesMs) {
    if (await store.remove(promptId)) return;
    await sleep(pause);
  }
  await store.giveUpNames(promptId);
}

/**
 * Finishes interrupted deletions. A failing deletion does not stop the others.
 * @throws {Error} as `doForEach`
 */
export async function finishDeletions(dependencies: DeletionDependencies): Promise<void> {
  await doForEach(await dependencies.store.findDeleting(), (promptId) => finishDeletion(dependencies, promptId));
}

/**
 * Removes from an archive what belongs to no prompt. A process that crashes during an update while the prompt is being
 * deleted can leave it. A failing removal does not stop the others.
 * @throws {Error} as `doForEach`
 */
export async function removeOrphans(archive: Archive, store: Pick<PromptStore, 'existing'>): Promise<void> {
  await doForEach(orphans(archive, store), (promptId) => archive.removeAll(promptId));
}

async function* orphans(archive: Archive, store: Pick<PromptStore, 'existing'>): AsyncGenerator<string> {
  for await (const ids of archive.promptIds()) {
    // A prompt exists before anything of it is archived, so a missing prompt was deleted.
    const existing = await store.existing(ids);
    for (const promptId of ids) {
      if (!existing.has(promptId)) yield promptId;
    }
    await sleep(pauseMs);
  }
}
