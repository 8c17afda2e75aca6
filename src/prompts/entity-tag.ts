import { ifMatchRevision } from '../http/conditional.ts';
import type { Prompt } from './prompt.ts';

/** The revision of a prompt that counts only edits, not moves of labels. */
function editsOf({ id, revision, labelWrites }: Prompt): { id: string; revision: number } {
  return { id, revision: revision - labelWrites };
}

/** The entity tag of a prompt. Its last part changes when a label moves, because the prompt shows its labels. */
export function promptTag(prompt: Prompt): string {
  const { id, revision } = editsOf(prompt);
  return prompt.labelWrites === 0 ? `"${id}.${revision}"` : `"${id}.${revision}.${prompt.labelWrites}"`;
}

/** Whether `If-Match` matches. Moves of labels do not count: no edit overwrites them. */
export function ifMatchPrompt(field: string | undefined, prompt: Prompt): boolean {
  return ifMatchRevision(field, editsOf(prompt));
}
