import { requireUsable, type ContentRules } from '../content-rules.ts';
import type { Draft, Overrides, PromptContent, PromptGeneration } from '../prompt.ts';
import { atOwnPlaces } from './own-places.ts';

/**
 * How a prompt generates in this request. Parameters are merged, member by member.
 *
 * @throws {ProblemError} inconsistent-content, unknown-provider, invalid-provider-option, invalid-schema, with places in
 *   the request
 */
export function withOverrides(content: PromptGeneration, overrides: Overrides, rules: ContentRules): PromptGeneration {
  if (Object.keys(overrides).length === 0) return content;
  const { parameters } = overrides;
  const merged = {
    ...content,
    ...overrides,
    ...(parameters !== undefined && { parameters: { ...content.parameters, ...parameters } }),
  };
  requireUsable(merged, overrides, rules);
  return merged;
}

/**
 * A version with changes that are not saved.
 *
 * @throws {ProblemError} as `withOverrides`, with places in the draft
 */
export function withDraft(content: PromptContent, draft: Draft | undefined, rules: ContentRules): PromptContent {
  if (draft === undefined) return content;
  const next = { ...content, ...draft };
  try {
    requireUsable(next, draft, rules);
  } catch (error) {
    throw atOwnPlaces(error, [[/^#/, '#/draft']]);
  }
  return next;
}
