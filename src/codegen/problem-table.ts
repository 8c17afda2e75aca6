import type { OpenApiDocument, ProblemEntry } from './contract.ts';

/** Renders the run-time table of problem types: slug to status and title. */
export function renderProblemTable(problems: Record<string, ProblemEntry>): string {
  const rows = Object.fromEntries(
    Object.entries(problems).map(([slug, { status, title }]) => [slug, { status, title }]),
  );
  return `export const problems = ${JSON.stringify(rows, null, 2)} as const satisfies Record<string, { status: number; title: string }>;

/** The slug of a problem type, as in \`openapi/problems.yaml\`. */
export type ProblemType = keyof typeof problems;
`;
}

/** Adds the table's entries to the document as a "Problems" section, so that the reference page has a heading for each type. */
export function addProblemReference(
  document: OpenApiDocument,
  problems: Record<string, ProblemEntry>,
): OpenApiDocument {
  const entries = Object.entries(problems)
    .map(
      ([slug, { status, title, description, remedy }]) =>
        `## ${slug}\n\n\`urn:prompt-gateway:problem:${slug}\` · **${status}** ${title}\n\n${description.trim()}\n\n**What to do:** ${remedy.trim()}\n`,
    )
    .join('\n');
  const intro =
    'Every failure is an `application/problem+json` document (RFC 9457). Its `type` is one of these; compare it as a string.\n\n';
  const section = { name: 'Problems', 'x-traitTag': true, description: intro + entries };
  const groups = (document['x-tagGroups'] ?? []) as { name: string; tags: string[] }[];
  return {
    ...document,
    tags: [...(document.tags ?? []), section],
    'x-tagGroups': [...groups, { name: 'Reference', tags: ['Problems'] }],
  };
}
