import { isDeepStrictEqual } from 'node:util';
import { changeTime } from '../editing/edits.ts';
import { sameContent, type PromptContent } from './content.ts';
import type { Prompt } from './prompt.ts';

/** Changes of a prompt: what is left out stays, `null` clears. */
export interface PromptChange {
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly description?: string | null | undefined;
  readonly messages?: PromptContent['messages'] | undefined;
  readonly variables?: PromptContent['variables'] | null;
  readonly strict?: boolean | undefined;
  readonly selectedProvider?: string | null | undefined;
  readonly selectedModel?: string | null | undefined;
  /** As `toTestSettings` gives it. */
  readonly testSettings?: unknown;
}

/** The change that gives a prompt this content and leaves the rest alone. */
export function contentChange(content: PromptContent): PromptChange {
  return {
    messages: content.messages,
    variables: content.variables ?? null,
    strict: content.strict ?? false,
    selectedProvider: content.selectedProvider ?? null,
    selectedModel: content.selectedModel ?? null,
  };
}

/**
 * The prompt after a change: a new version when its content differs, the very same object when nothing does.
 * @param now when the change is made
 */
export function applyChange(prompt: Prompt, change: PromptChange, now: Date): Prompt {
  const metadata = {
    name: change.name ?? prompt.name,
    slug: change.slug ?? prompt.slug,
    description: changed(prompt.description, change.description),
    testSettings: changed(prompt.testSettings, change.testSettings),
  };
  const content: PromptContent = {
    messages: change.messages ?? prompt.content.messages,
    variables: changed(prompt.content.variables, change.variables),
    strict: (change.strict ?? prompt.content.strict) === true ? true : undefined,
    selectedProvider: changed(prompt.content.selectedProvider, change.selectedProvider),
    selectedModel: changed(prompt.content.selectedModel, change.selectedModel),
  };
  const newVersion = !sameContent(content, prompt.content);
  if (!newVersion && sameMetadata(prompt, metadata)) return prompt;
  const updatedAt = changeTime(prompt.updatedAt, now);
  const next = { ...prompt, ...metadata, updatedAt };
  return newVersion ? { ...next, content, version: prompt.version + 1, versionCreatedAt: updatedAt } : next;
}

function changed<Value>(present: Value, change: Value | null | undefined): Value | undefined {
  return change === undefined ? present : (change ?? undefined);
}

function sameMetadata(
  { name, slug, description, testSettings }: Prompt,
  metadata: Pick<Prompt, 'name' | 'slug' | 'description' | 'testSettings'>,
): boolean {
  return isDeepStrictEqual({ name, slug, description, testSettings }, metadata);
}
