import type { PromptContent } from './content.ts';

/** A prompt as it is now. */
export interface Prompt {
  /** UUID, never changes. */
  readonly id: string;
  /** Unique, never shaped like a UUID. */
  readonly slug: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly content: PromptContent;
  /** Any JSON value but `null`, which means the same as none. */
  readonly testSettings: unknown;
  /** Number of the latest version, whose content this is. */
  readonly version: number;
  readonly versionCreatedAt: Date;
  readonly createdAt: Date;
  /** Each change moves it forward, even where the clocks of two processes disagree. */
  readonly updatedAt: Date;
  /** Counts the writes, from 1. */
  readonly revision: number;
  /** Ids of the last writes, newest last. */
  readonly writes: readonly string[];
  /** Marked by a DELETE that may still be under way: for every reader it is gone. */
  readonly deleting: boolean;
}

/** The content of a prompt in one version. Never changes. */
export interface PromptVersion {
  readonly promptId: string;
  readonly version: number;
  readonly content: PromptContent;
  readonly createdAt: Date;
}

/** The latest version of a prompt, which is in the prompt itself. */
export function currentVersion(prompt: Prompt): PromptVersion {
  const { id: promptId, version, content, versionCreatedAt: createdAt } = prompt;
  return { promptId, version, content, createdAt };
}
