import { requireUsable, type ContentRules } from '../content-rules.ts';
import type { Overrides, PromptGeneration } from '../prompt.ts';

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
