import type { PromptFile } from './converted.ts';

/** Prompts, versions and characters of a request. The service takes a little more. */
const mostPrompts = 100;
const mostVersions = 2_000;
const mostText = 8 * 1024 * 1024;

/** A prompt, and the number of characters that it has as JSON. */
export interface SizedPrompt {
  readonly prompt: PromptFile;
  readonly length: number;
}

/** The requests of an import: as many prompts in each as the service takes, in the order in which they are given. */
export function inBatches<One extends SizedPrompt>(all: readonly One[]): One[][] {
  const batches: One[][] = [];
  let [versions, length] = [0, 0];
  for (const one of all) {
    const count = Array.isArray(one.prompt.versions) ? one.prompt.versions.length : 0;
    const batch = batches.at(-1);
    if (
      batch === undefined ||
      batch.length === mostPrompts ||
      versions + count > mostVersions ||
      length + one.length > mostText
    ) {
      batches.push([one]);
      [versions, length] = [count, one.length];
    } else {
      batch.push(one);
      versions += count;
      length += one.length;
    }
  }
  return batches;
}
