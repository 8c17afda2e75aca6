import path from 'node:path';
import { readContracts, readIntended, releasedFolder } from './compatibility/contract-files.ts';
import { sumUp, type Summary } from './compatibility/sum-up.ts';
import { placeOf } from './guides.ts';
import { listOperations, type OpenApiDocument, type OperationEntry } from './contract-document.ts';

/** Renders what has changed in the contract since the last release, for people. @param root of the repository */
export async function renderChanges(root: string): Promise<string> {
  const released = await readContracts(releasedFolder(root));
  const current = await readContracts(path.join(root, 'generated'));
  const summary = sumUp(released, current, await readIntended(root));
  return renderChangeList(summary, released.api.info.version, current.api as OpenApiDocument);
}

/**
 * Renders the content of the page of API changes, as HTML without styles. `{{base}}` in it is the path that a proxy adds
 * in front of the service.
 * @param since the version of the earlier contract
 * @param document the present contract, with its texts
 */
export function renderChangeList(summary: Summary, since: string, document: OpenApiDocument): string {
  const entries = new Map(listOperations(document).map((entry) => [entry.operation.operationId, entry]));
  const nameOf = (operationId: string): string => {
    const entry = entries.get(operationId);
    return entry === undefined ? code(operationId) : link(entry, operationId);
  };
  const { breaking, added, removed, authentication, addedEvents, removedEvents, events, operations, shared } = summary;
  const sections: Section[] = [
    [
      'Incompatible changes',
      breaking.map(
        ({ reason, changes }) => `<p>${withCode(reason)}</p>\n${part(count(changes.length), changes.map(code))}`,
      ),
    ],
    [
      'New operations',
      [...Map.groupBy(added, ({ operation }) => operation.tags?.[0] ?? '')].map(
        ([tag, some]) => `<h3>${text(tag)}</h3>\n${list(some.map(describeOperation))}`,
      ),
    ],
    ['Removed operations', removed.length === 0 ? [] : [list(removed.map(code))]],
    ['Authentication', authentication.length === 0 ? [] : [list(authentication.map(code))]],
    ['New events', addedEvents.length === 0 ? [] : [list(addedEvents.map(code))]],
    ['Removed events', removedEvents.length === 0 ? [] : [list(removedEvents.map(code))]],
    ['Changed events', events.map(({ name, changes }) => part(code(name), changes.map(code)))],
    ['Changed operations', operations.map(({ name, changes }) => part(nameOf(name), changes.map(code)))],
    [
      'Changes of many operations',
      shared.map(({ change, operations: ids }) => part(code(change), ids.map(nameOf), ` (${ids.length})`)),
    ],
  ];
  const shown = sections.filter(([, parts]) => parts.length > 0);
  const links = shown.map(([title]) => `<a href="${placeOf(title).replace('/', '')}">${text(title)}</a>`);
  return [
    `<p>All that changed in the contract since ${text(since)}.</p>`,
    ...(shown.length === 0 ? ['<p>Nothing has changed.</p>'] : [list(links)]),
    ...shown.map(
      ([title, parts]) =>
        `<section>\n<h2 id="${placeOf(title).slice(2)}">${text(title)}</h2>\n${parts.join('\n')}\n</section>`,
    ),
    '',
  ].join('\n');
}

type Section = readonly [title: string, parts: readonly string[]];

/** Its lines are shown on demand. */
function part(title: string, lines: readonly string[], note = ''): string {
  return `<details>\n<summary>${title}${note}</summary>\n${list(lines)}\n</details>`;
}

function list(lines: readonly string[]): string {
  return `<ul>\n${lines.map((line) => `<li>${line}</li>\n`).join('')}</ul>`;
}

function describeOperation(entry: OperationEntry): string {
  const { method, path, operation } = entry;
  return `${link(entry, `${method.toUpperCase()} ${path}`)} ${text(operation.summary ?? '')}`;
}

/** A link to an operation in the reference. */
function link({ operation: { operationId, tags } }: OperationEntry, title: string): string {
  return `<a href="{{base}}/docs${placeOf(tags?.[0] ?? '')}/${operationId.toLowerCase()}">${code(title)}</a>`;
}

function code(content: string): string {
  return `<code>${text(content)}</code>`;
}

function count(changes: number): string {
  return changes === 1 ? '1 change' : `${changes} changes`;
}

/** Text in which backticks mark code. */
function withCode(content: string): string {
  return content
    .split('`')
    .map((piece, index) => (index % 2 === 0 ? text(piece) : code(piece)))
    .join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '{': '&#123;',
};

/** Text in HTML. Braces are escaped too, because the page has placeholders in them. */
function text(content: string): string {
  return content.replaceAll(/[&<>"{]/g, (character) => entities[character] ?? '');
}
