import { isDeepStrictEqual } from 'node:util';
import type { PromptGateway } from '../prompt-gateway.ts';
import { isObject, type PromptFile } from '../transfer/converted.ts';
import { readFiles, readStored, type ReadFile } from './prompt-files.ts';
import { escapeInvisible } from './quote.ts';

/** A value that a push would change. `undefined` stands for none. */
interface Change {
  readonly pointer: string;
  readonly stored: unknown;
  readonly wanted: unknown;
}

/**
 * Prints what a push of the files would change. Labels, notes and prompts without a file are left out: a push does not
 * touch them.
 * @returns the exit code: 0 if it would change nothing, 3 if it would, 1 if a file is no prompt
 */
export async function diff(
  gateway: PromptGateway,
  folder: string,
  { write, writeError }: { readonly write: (text: string) => void; readonly writeError: (text: string) => void },
): Promise<0 | 1 | 3> {
  const files = await readFiles(folder);
  const stored = new Map((await readStored(gateway, 'current')).map((prompt) => [prompt.slug, prompt]));
  let differing = 0;
  let isBroken = false;
  for (const file of files) {
    const broken = 'broken' in file ? file.broken : hasVersions(file) ? undefined : 'has no versions';
    if ('broken' in file || broken !== undefined) {
      writeError(`${file.name}: ${broken}\n`);
      isBroken = true;
      continue;
    }
    const lines = linesOf(file, stored.get(file.prompt.slug));
    if (lines.length > 0) differing += 1;
    for (const line of lines) write(`${line}\n`);
  }
  write(`${differing} of ${files.length} files differ.\n`);
  if (isBroken) return 1;
  return differing > 0 ? 3 : 0;
}

function hasVersions({ prompt: { versions } }: ReadFile): boolean {
  return Array.isArray(versions) && versions.length > 0 && versions.every(isObject);
}

function linesOf({ name, prompt }: ReadFile, stored: PromptFile | undefined): string[] {
  if (stored === undefined) return [`${name}: is not stored`];
  const changes = changesOf(stored, prompt);
  if (changes.length === 0) return [];
  const [from, to] = [prompt.versions.at(-1)?.version, stored.versions.at(-1)?.version];
  return [
    `${name}: differs from version ${to}${from === to ? '' : `; the file comes from version ${from}`}`,
    ...changes.flatMap(({ pointer, stored: before, wanted }) => [
      `  ${escapeInvisible(pointer)}`,
      ...(before === undefined ? [] : [`  - ${show(before)}`]),
      ...(wanted === undefined ? [] : [`  + ${show(wanted)}`]),
    ]),
  ];
}

function show(value: unknown): string {
  return escapeInvisible(JSON.stringify(value));
}

function changesOf(stored: PromptFile, file: PromptFile): Change[] {
  const [before, after] = [withoutHistory(stored), withoutHistory(file)];
  // A push adds aliases, and keeps `invocation_content` if the file has none.
  const aliases = [...new Set([...(stored.aliases ?? []), ...(file.aliases ?? [])])];
  const kept = { ...(aliases.length > 0 && { aliases }), ...defaultOf('invocation_content', before.head, after.head) };
  return [
    ...compare(before.head, { ...after.head, ...kept }, '#'),
    ...compare(before.content, after.content, `#/versions/${file.versions.length - 1}`),
  ];
}

/** What a push compares: without labels, numbers, notes and earlier versions. */
function withoutHistory({ versions, labels: _, ...head }: PromptFile): { head: Members; content: Members } {
  const content: Members = { ...versions.at(-1) };
  delete content['version'];
  delete content['note'];
  return { head, content };
}

type Members = Record<string, unknown>;

function defaultOf(name: string, before: Members, after: Members): Members {
  return after[name] === undefined && before[name] !== undefined ? { [name]: before[name] } : {};
}

/** The smallest parts of two values that are different. */
function compare(stored: unknown, wanted: unknown, pointer: string): Change[] {
  if (isDeepStrictEqual(stored, wanted)) return [];
  const areLists = Array.isArray(stored) && Array.isArray(wanted);
  if (!areLists && !(isObject(stored) && isObject(wanted))) return [{ pointer, stored, wanted }];
  const [before, after] = [new Map(Object.entries(stored)), new Map(Object.entries(wanted))];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) =>
    compare(before.get(name), after.get(name), `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
}
