import type { Reach } from '../../base/limits/reach.ts';

/** The prompts that records are about. */
export interface PromptIds {
  /** @throws {ProblemError} prompt-not-found */
  get(slugOrId: string): Promise<{ readonly id: string }>;
  /**
   * The id by which a caller reads the records of a prompt; one that no record has if the caller cannot reach such a
   * prompt. A prompt that was deleted still has its records, by its id.
   * @param reach of the caller
   */
  recordedId(slugOrId: string, reach: Reach | undefined): Promise<string>;
}
