import { isDeepStrictEqual } from 'node:util';
import { changed } from '../editing/edits.ts';
import { contentFields, type Prompt, type PromptChange, type PromptContent } from './prompt.ts';

/**
 * The prompt after a change: a new version when its content differs, the same object when nothing does.
 * @param now when the change is made
 */
export function applyChange(prompt: Prompt, change: PromptChange, now: Date): Prompt {
  const next = changed(prompt, change, now);
  if (sameContent(next, prompt)) return changed(prompt, { ...change, ...contentFields.pick(prompt) }, now);
  return { ...next, version: prompt.version + 1, versionCreatedAt: next.updatedAt };
}

/** No variables are the same as an empty list of them. */
function sameContent(one: PromptContent, other: PromptContent): boolean {
  const [first, second] = [one, other].map((content) => ({
    ...contentFields.pick(content),
    variables: content.variables ?? {},
  }));
  return isDeepStrictEqual(first, second);
}
