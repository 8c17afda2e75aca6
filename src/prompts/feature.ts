import type { Logger } from 'pino';
import { createEditQueue } from '../base/editing/edit-queue.ts';
import type { Basis } from '../storage/db/basis.ts';
import { createCanaryCounting, type CanaryCountingDependencies } from './evaluations/canaries/canary-counts.ts';
import { canaryOperations } from './evaluations/canaries/canary-operations.ts';
import { createCanaries } from './evaluations/canaries/canaries.ts';
import type { Verdicts } from './labels/candidacy.ts';
import { createGateSettings } from './labels/gate-settings.ts';
import { createLabelEdits } from './labels/label-edits.ts';
import { createPast } from './labels/past.ts';
import { labelOperations } from './labels/label-operations.ts';
import { createLabelMoveStore, labelIndexes } from './labels/label-store.ts';
import { createLabels } from './labels/labels.ts';
import type { Relay } from '../webhooks/events/outbox.ts';
import { promptOperations } from './prompt-operations.ts';
import { createPromptStore, promptIndexes } from './prompt-store.ts';
import { createPrompts } from './prompts.ts';
import { createExport } from './transfer/export-prompts.ts';
import { createImports } from './transfer/import-prompts.ts';
import { transferOperations } from './transfer/transfer-operations.ts';
import { createWholeList } from './whole-list.ts';

export const promptsIndexes = [...promptIndexes, ...labelIndexes];

export interface PromptFeatureOptions {
  readonly isKnownProvider: (id: string) => boolean;
  /** Called with the id of a prompt that is deleted. It deletes what belongs to the prompt. */
  readonly onDelete: (promptId: string) => Promise<void>;
  readonly relay: Relay;
  /** For the gates of labels. */
  readonly verdicts: Verdicts;
  /** The invocation log, for canaries. */
  readonly invocations: CanaryCountingDependencies['invocations'];
  /** How long it is kept, in milliseconds. */
  readonly retentionMs: number;
  readonly log: Logger;
}

/** Milliseconds between two looks at the failures of canaries. */
const lookEveryMs = 2_000;

/** Prompts, their labels, and how they come over. */
export function createPromptFeature(
  basis: Basis,
  { isKnownProvider, onDelete, relay, verdicts, invocations, retentionMs, log }: PromptFeatureOptions,
) {
  const { database } = basis;
  const shared = { ...basis, relay, store: createPromptStore(database), editQueue: createEditQueue() };
  const moves = createLabelMoveStore(database);
  const prompts = createPrompts({
    ...shared,
    isKnownProvider,
    cascades: [onDelete, (promptId) => moves.removeAll(promptId)],
  });
  const counting = createCanaryCounting({ invocations, now: basis.clock.now });
  const ofLabels = {
    ...shared,
    prompts,
    moves,
    edit: createLabelEdits({ ...shared, moves }),
    past: createPast(prompts, moves),
  };
  const labels = createLabels({ ...ofLabels, verdicts, canaries: counting });
  const canaries = createCanaries({ ...shared, labels, moves, counting, retentionMs, log });
  const imports = createImports({ ...shared, prompts, labels });
  return {
    prompts,
    labels,
    gates: createGateSettings(ofLabels),
    canaries,
    gated: { versions: shared.store.gatedVersions, has: shared.store.isGated },
    operations: {
      ...promptOperations(prompts, createWholeList(shared.store)),
      ...labelOperations(labels),
      ...canaryOperations(canaries),
      ...transferOperations(createExport(shared.store), imports),
    },
    chores: [
      { name: 'prompts', everyMs: 60_000, run: () => prompts.sweep() },
      { name: 'canaries', everyMs: lookEveryMs, run: () => canaries.look() },
      { name: 'archived versions', everyMs: 24 * 3_600_000, run: () => prompts.sweepVersions() },
      { name: 'archived label moves', everyMs: 24 * 3_600_000, run: () => labels.sweep() },
    ],
  };
}
