import type { Schemas } from 'prompt-gateway-client';
import { listVariables, type TemplateVariable } from 'prompt-gateway-client/template';
import { allVariables } from '../content/variable-values.ts';
import { useEachVersion } from '../prompt-queries.ts';

/** The variables of all versions that a test run compares. */
export function useVariables(prompt: Schemas['Prompt'], versions: readonly number[]): readonly TemplateVariable[] {
  const others = [...new Set(versions)].filter((version) => version !== prompt.version);
  const read = useEachVersion(prompt.id, others);
  const contents = [...(versions.includes(prompt.version) ? [prompt] : []), ...read.flatMap(({ data }) => data ?? [])];
  return [...allVariables(contents.map((content) => listVariables(content))).values()];
}
