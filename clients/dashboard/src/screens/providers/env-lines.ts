import type { Schemas } from 'prompt-gateway-client';

type Setting = Schemas['Provider']['settings'][number];

/**
 * Lines of `.env`, without values, for the settings that are not set. Optional ones are comments.
 * @param describeOptional the comment above an optional one
 * @returns undefined if everything is set
 */
export function envLines(
  settings: readonly Setting[],
  describeOptional: (description: string) => string,
): string | undefined {
  const missing = settings.filter(({ set }) => !set);
  if (missing.length === 0) return undefined;
  return missing
    .map(({ name, required, description }) =>
      required ? `# ${description}\n${name}=` : `# ${describeOptional(description)}\n#${name}=`,
    )
    .join('\n\n');
}
