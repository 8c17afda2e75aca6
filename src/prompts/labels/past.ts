import type { Prompt, PromptContent } from '../prompt.ts';
import type { Prompts } from '../prompts.ts';
import type { LabelMoveStore } from './label-store.ts';
import { findLabel, type LabelMove } from './label.ts';

/** Where the versions of a prompt and the moves of its labels are. */
export interface Past {
  contentOf(prompt: Prompt, version: number): Promise<PromptContent>;
  /** Also of a label that was deleted. */
  lastMove(prompt: Prompt, name: string): Promise<LabelMove | undefined>;
  /** As the store of moves has it. */
  versionBefore(promptId: string, move: LabelMove, except?: number): Promise<number | undefined>;
}

export function createPast(prompts: Pick<Prompts, 'getVersion'>, moves: LabelMoveStore): Past {
  return {
    contentOf: async (prompt, version) =>
      version === prompt.version ? prompt : (await prompts.getVersion(prompt.id, version)).version.content,
    async lastMove({ id, labels, deletedLabel }, name) {
      return findLabel(labels, name) ?? (deletedLabel?.name === name ? deletedLabel : await moves.findLast(id, name));
    },
    versionBefore: moves.versionBefore,
  };
}
