import type { components } from '../../../generated/types.ts';
import type { Reach } from '../../base/limits/reach.ts';
import { defined } from '../../base/runtime/objects.ts';
import { createTurns } from '../../base/runtime/turns.ts';
import type { PromptStore, VersionName } from '../prompt-store.ts';
import { contentFields, currentVersion, promptFields, type Prompt, type PromptVersion } from '../prompt.ts';

type Schemas = components['schemas'];

/** Writes prompts in the form that an import takes, as text in UTF-8. */
export type ExportPrompts = (selection: ExportSelection) => AsyncIterable<Uint8Array>;

export interface ExportSelection {
  /** Of the caller: only the prompts within it. */
  readonly reach: Reach | undefined;
  /** Only those whose slugs follow this one. */
  readonly after: string | undefined;
  /** Whether the earlier versions are left out. */
  readonly isOnlyCurrent: boolean;
}

/** More than the prompts of any installation. Their names are kept until the export ends. */
const mostPrompts = 1_000_000;
/** Prompts, or versions, that are read together while they are small. */
const mostTogether = 32;
/** Bytes of JSON that are kept of these, unless one has more: each can have a megabyte, and the caller may not take it. */
const partBytes = 64 * 1024;

/** A prompt as JSON, before and after its earlier versions. */
interface Line {
  readonly id: string;
  readonly version: number;
  readonly start: Buffer;
  readonly end: Buffer;
}

/** An earlier version as JSON. */
interface Earlier {
  readonly promptId: string;
  readonly json: Buffer;
}

/**
 * Creates the export: a line of JSON for each prompt, ordered by slug, so that the same prompts give the same lines in
 * every installation. What differs between installations is left out: ids, times and authors.
 */
export function createExport(store: Pick<PromptStore, 'listNames' | 'fetch' | 'fetchArchived'>): ExportPrompts {
  const turns = createTurns();

  const linesOf = async (ids: readonly string[]): Promise<Part<Line>> => {
    const part = new Part<Line>();
    for await (const prompt of store.fetch(ids)) {
      await turns();
      // Otherwise it was deleted in the meantime.
      const line = prompt === undefined || prompt.deleting ? undefined : toLine(prompt);
      if (!part.add(line, line === undefined ? 0 : line.start.length + line.end.length)) break;
    }
    return part;
  };
  const earlierOf = async (wanted: readonly VersionName[]): Promise<Part<Earlier>> => {
    const part = new Part<Earlier>();
    for await (const version of store.fetchArchived(wanted)) {
      await turns();
      const json = version && Buffer.from(`${JSON.stringify(showVersion(version))},`);
      if (!part.add(version && json && { promptId: version.promptId, json }, json?.length ?? 0)) break;
    }
    return part;
  };
  async function* texts({ reach, after = '', isOnlyCurrent }: ExportSelection): AsyncGenerator<Buffer> {
    const names = (await store.listNames(mostPrompts, reach?.prompts)).filter(({ slug }) => slug > after);
    names.sort((one, other) => (one.slug < other.slug ? -1 : 1));
    const ids = names.map(({ id }) => id);
    const earlierPace = { together: 1 };
    for await (const lines of inParts(ids, linesOf, { together: 1 })) {
      const wanted = isOnlyCurrent ? [] : lines.flatMap(earlierVersions);
      const all = flat(inParts(wanted, earlierOf, earlierPace));
      let next = await all.next();
      for (const { id, start, end } of lines) {
        yield start;
        for (; next.done !== true && next.value.promptId === id; next = await all.next()) yield next.value.json;
        yield end;
      }
    }
  }

  return (selection) => joined(texts(selection));
}

/** What was read together and is kept. */
class Part<Kept> {
  readonly kept: Kept[] = [];
  /** How many it stands for, also those that are left out. */
  count = 0;
  bytes = 0;

  /** @returns false if it is too much: then it and those that follow are read again */
  add(item: Kept | undefined, bytes: number): boolean {
    if (this.count > 0 && this.bytes + bytes > partBytes) return false;
    this.count += 1;
    this.bytes += bytes;
    if (item !== undefined) this.kept.push(item);
    return true;
  }
}

/** Reads few at first, and more while they turn out to be small. @param pace how many are read together now */
async function* inParts<Name, Kept>(
  names: readonly Name[],
  read: (some: readonly Name[]) => Promise<Part<Kept>>,
  pace: { together: number },
): AsyncGenerator<readonly Kept[]> {
  for (let start = 0; start < names.length;) {
    const some = names.slice(start, start + pace.together);
    const { kept, count, bytes } = await read(some);
    start += count;
    if (count < some.length) pace.together = count;
    else if (2 * bytes < partBytes) pace.together = Math.min(2 * pace.together, mostTogether);
    yield kept;
  }
}

async function* flat<Item>(parts: AsyncIterable<readonly Item[]>): AsyncGenerator<Item, undefined> {
  for await (const part of parts) yield* part;
}

/** Joins small texts. Large ones are not copied. */
async function* joined(texts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const small: Buffer[] = [];
  let bytes = 0;
  for await (const text of texts) {
    if (bytes + text.length > partBytes && bytes > 0) {
      yield Buffer.concat(small.splice(0));
      bytes = 0;
    }
    if (text.length > partBytes) {
      yield text;
    } else {
      small.push(text);
      bytes += text.length;
    }
  }
  if (bytes > 0) yield Buffer.concat(small);
}

function toLine(prompt: Prompt): Line {
  const { id, version } = prompt;
  const start = Buffer.from(`${JSON.stringify(showHead(prompt)).slice(0, -1)},"versions":[`);
  return { id, version, start, end: Buffer.from(`${JSON.stringify(showVersion(currentVersion(prompt)))}]}\n`) };
}

/** The names of the versions before the current one, the oldest first. */
function earlierVersions({ id, version }: Line): VersionName[] {
  return Array.from({ length: version - 1 }, (_, index) => ({ promptId: id, version: index + 1 }));
}

/** A prompt without its versions. */
function showHead(prompt: Prompt): Omit<Schemas['PromptExport'], 'versions'> {
  const { slug, aliases, name, description, test_settings, invocation_content, labels } = promptFields.show(prompt);
  return {
    slug,
    ...defined({ aliases }),
    name,
    ...defined({ description, test_settings, invocation_content, labels }),
  };
}

function showVersion({ version, note, content }: PromptVersion): Schemas['PromptExport']['versions'][number] {
  return { version, ...defined({ note }), ...contentFields.show(content) };
}
