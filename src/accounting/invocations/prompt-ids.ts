import type { Reach } from '../../base/limits/reach.ts';

/** The prompts that records are about. Both methods throw `prompt-not-found`. */
export interface PromptIds {
  get(slugOrId: string): Promise<{ readonly id: string }>;
  /**
   * The id of a prompt whose records a caller reads. A prompt that was deleted still has its records, by its id.
   * @param reach of the caller
   */
  recordedId(slugOrId: string, reach: Reach | undefined): Promise<string>;
}
