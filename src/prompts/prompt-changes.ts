import { isDeepStrictEqual } from 'node:util';
import { changed } from '../base/editing/edits.ts';
import { contentFields, type Prompt, type PromptChange, type PromptContent, type PromptVersion } from './prompt.ts';

/**
 * The prompt after a change: a new version if its content differs, the same object if nothing differs.
 * @param now the time of the change
 * @param by of a new version
 */
export function applyChange(
  prompt: Prompt,
  change: PromptChange,
  now: Date,
  by: Pick<PromptVersion, 'author' | 'note'>,
): Prompt {
  const next = changed(prompt, change, now);
  if (sameContent(next, prompt)) return changed(prompt, { ...change, ...contentFields.pick(prompt) }, now);
  const { author: versionAuthor, note: versionNote } = by;
  return { ...next, version: prompt.version + 1, versionCreatedAt: next.updatedAt, versionAuthor, versionNote };
}

/** Whether both are the same version. A prompt without variables is the same as one with an empty list. */
export function sameContent(one: PromptContent, other: PromptContent): boolean {
  const [first, second] = [one, other].map((content) => ({
    ...contentFields.pick(content),
    variables: content.variables ?? {},
  }));
  return isDeepStrictEqual(first, second);
}
