import { localAddress, makeCodeSamples } from './code-samples.ts';
import type { Guide } from './guides.ts';
import {
  limits,
  listOperations,
  type OpenApiDocument,
  type Operation,
  type ResponseObject,
} from './contract-document.ts';

/** A JSON Merge Patch (RFC 7396). */
export interface MergePatch {
  [key: string]: unknown;
}

const servers = [{ url: localAddress, description: 'This service' }];

/**
 * The additions of the reference page to the served document: guides, code samples, and links from answers to their
 * problems.
 * Other readers of the document get it without them.
 */
export async function makeReferencePatch(document: OpenApiDocument, guides: readonly Guide[]): Promise<MergePatch> {
  const samples = await makeCodeSamples(document);
  const paths: Record<string, Record<string, MergePatch>> = {};
  for (const { path, method, operation } of listOperations(document)) {
    (paths[path] ??= {})[method] = {
      // The page's search looks into descriptions. The audit log and generated clients name operations so.
      description:
        `${operation.description ?? ''}\n\n${sayLimits(operation)}Operation: \`${operation.operationId}\``.trim(),
      'x-codeSamples': samples[operation.operationId],
      // The samples show them. Redoc would offer a choice between them, and show the same sample for each.
      ...(operation.requestBody === undefined
        ? {}
        : { requestBody: { content: { 'application/json': { examples: null } } } }),
      responses: linkProblems(operation.responses),
    };
  }
  const shared = document.components['responses'] as Record<string, ResponseObject>;
  const sections = guides.map(({ title, text }) => ({ name: title, 'x-traitTag': true, description: text }));
  const groups = document['x-tagGroups'] as readonly TagGroup[];
  requireOnePlaceEach(document, guides, groups);
  return {
    servers,
    tags: [...(document.tags ?? []), ...sections],
    'x-tagGroups': [{ name: 'Guides', tags: guides.map(({ title }) => title) }, ...groups],
    paths,
    components: { responses: linkProblems(shared) },
  };
}

/** What keys with limits may do with an operation, for its readers. */
function sayLimits({ 'x-limited': words = {} }: Operation): string {
  const said = limits.flatMap((limit) => {
    const word = words[limit];
    if (word === undefined || word === 'unaffected') return [];
    const can = word === 'kept' ? 'keeps to them' : `only with what is in them`;
    if (typeof word !== 'object') return [`${limit}: ${can}`];
    return [`${limit}: cannot ${word.cannot}${word.unless === undefined ? '' : ` without limits of ${word.unless}`}`];
  });
  return said.length === 0 ? '' : `[Keys with limits](#/limits-of-keys) of ${said.join('; ')}.\n\n`;
}

interface TagGroup {
  readonly name: string;
  readonly tags: readonly string[];
}

/** The page shows a section for each guide and tag in a group, under its name: another one of that name is hidden. */
function requireOnePlaceEach(document: OpenApiDocument, guides: readonly Guide[], groups: readonly TagGroup[]): void {
  const names = [...guides.map(({ title }) => title), ...groups.flatMap(({ tags }) => tags)];
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`sections of the reference page have the same name: ${twice.join(', ')}`);
  const used = listOperations(document).flatMap(({ operation }) => operation.tags ?? []);
  const hidden = used.filter((name) => !names.includes(name));
  if (hidden.length > 0) throw new Error(`operations are in no group of tags: ${[...new Set(hidden)].join(', ')}`);
}

function linkProblems(responses: Record<string, ResponseObject>): MergePatch {
  const linked = Object.entries(responses).flatMap(([name, { description, 'x-problem-types': types }]) =>
    types === undefined ? [] : [[name, { description: `${description}\n\nProblems: ${types.map(linkTo).join(', ')}` }]],
  );
  return Object.fromEntries(linked) as MergePatch;
}

function linkTo(slug: string): string {
  return `[${slug}](#/problems/${slug})`;
}
