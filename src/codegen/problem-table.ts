import type { ProblemEntry } from './contract.ts';
import { jsonLines } from './generated-files.ts';
import { listOperations, resolve, type OpenApiDocument, type Operation } from './contract-document.ts';

/** Renders the run-time table of problem types: slug to status and title. */
export function renderProblemTable(problems: Record<string, ProblemEntry>): string {
  const rows = Object.fromEntries(
    Object.entries(problems).map(([slug, { status, title }]) => [slug, { status, title }]),
  );
  return `export const problems = ${jsonLines(rows, 1).trimEnd()} as const satisfies Record<string, { status: number; title: string }>;

/** The slug of a problem type, as in \`openapi/problems.yaml\`. */
export type ProblemType = keyof typeof problems;
`;
}

/** Entries with at least this number of operations do not list them. */
const many = 16;

/** Adds a section "Problems" to the document, so that the reference page has a heading for each type. */
export function addProblemReference(
  document: OpenApiDocument,
  problems: Record<string, ProblemEntry>,
): OpenApiDocument {
  const operations = operationsByProblem(document);
  const entries = Object.entries(problems).map(([slug, { status, title, description, remedy }]) =>
    [
      `## ${slug}`,
      `\`urn:prompt-gateway:problem:${slug}\` · **${status}** ${title}`,
      description.trim(),
      `**What to do:** ${remedy.trim()}`,
      `**Operations:** ${listLinks(operations.get(slug) ?? [], listOperations(document).length)}`,
    ].join('\n\n'),
  );
  const intro =
    'Every failure is an `application/problem+json` document (RFC 9457). Its `type` is one of these; compare it as a string.';
  const section = { name: 'Problems', 'x-traitTag': true, description: `${[intro, ...entries].join('\n\n')}\n` };
  const groups = (document['x-tagGroups'] ?? []) as { name: string; tags: string[] }[];
  return {
    ...document,
    tags: [...(document.tags ?? []), section],
    'x-tagGroups': [...groups, { name: 'Reference', tags: ['Problems'] }],
  };
}

/** The operations that can answer with each problem. */
function operationsByProblem(document: OpenApiDocument): Map<string, Operation[]> {
  const found = new Map<string, Operation[]>();
  for (const { operation } of listOperations(document)) {
    const types = Object.values(operation.responses).flatMap(
      (response) => resolve(document, response)['x-problem-types'] ?? [],
    );
    for (const type of types) found.set(type, [...(found.get(type) ?? []), operation]);
  }
  return found;
}

function listLinks(operations: readonly Operation[], total: number): string {
  if (operations.length === total) return 'all.';
  if (operations.length >= many) return `${operations.length} of ${total}.`;
  const links = operations.map(({ operationId, summary = operationId, tags }) => {
    const tag = (tags?.[0] ?? '').toLowerCase().replaceAll(' ', '-');
    return `[${summary}](#/${tag}/${operationId.toLowerCase()})`;
  });
  return `${links.join(', ')}.`;
}
