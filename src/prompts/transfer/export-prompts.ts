import type { components } from '../../../generated/types.ts';
import type { Reach } from '../../base/limits/reach.ts';
import { defined } from '../../base/runtime/objects.ts';
import { createTurns } from '../../base/runtime/turns.ts';
import { inBatches, joined, Batch } from '../batches.ts';
import type { PromptStore, VersionName } from '../prompt-store.ts';
import { contentFields, currentVersion, promptFields, type Prompt, type PromptVersion } from '../prompt.ts';

type Schemas = components['schemas'];

/** Writes prompts in the form that an import takes, as text in UTF-8. @param countIds counts ids in memory */
export type ExportPrompts = (selection: ExportSelection, countIds: (ids: number) => void) => AsyncIterable<Uint8Array>;

export interface ExportSelection {
  /** Of the caller: only the prompts within it. */
  readonly reach: Reach | undefined;
  /** Only those whose slugs follow this one. */
  readonly after: string | undefined;
  /** Whether the earlier versions are left out. */
  readonly isOnlyCurrent: boolean;
}

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
export function createExport(store: Pick<PromptStore, 'listAll' | 'fetch' | 'fetchArchived'>): ExportPrompts {
  const turns = createTurns();

  const linesOf = async (ids: readonly string[]): Promise<Batch<Line>> => {
    const batch = new Batch<Line>();
    for await (const prompt of store.fetch(ids)) {
      await turns();
      // Otherwise it was deleted in the meantime.
      const line = prompt === undefined || prompt.deleting ? undefined : toLine(prompt);
      if (!batch.add(line, line === undefined ? 0 : line.start.length + line.end.length)) break;
    }
    return batch;
  };
  const earlierOf = async (wanted: readonly VersionName[]): Promise<Batch<Earlier>> => {
    const batch = new Batch<Earlier>();
    for await (const version of store.fetchArchived(wanted)) {
      await turns();
      const json = version && Buffer.from(`${JSON.stringify(showVersion(version))},`);
      if (!batch.add(version && json && { promptId: version.promptId, json }, json?.length ?? 0)) break;
    }
    return batch;
  };
  const idsOf = async ({ reach, after = '' }: ExportSelection): Promise<string[]> => {
    const names = (await store.listAll(undefined, reach?.prompts)).filter(({ slug }) => slug > after);
    names.sort((one, other) => (one.slug < other.slug ? -1 : 1));
    return names.map(({ id }) => id);
  };
  async function* texts(selection: ExportSelection, countIds: (ids: number) => void): AsyncGenerator<Buffer> {
    const { isOnlyCurrent } = selection;
    const ids = await idsOf(selection);
    countIds(ids.length);
    const earlierPace = { together: 1 };
    for await (const lines of inBatches(ids, linesOf, { together: 1 })) {
      const wanted = isOnlyCurrent ? [] : lines.flatMap(earlierVersions);
      const all = flat(inBatches(wanted, earlierOf, earlierPace));
      let next = await all.next();
      for (const { id, start, end } of lines) {
        yield start;
        for (; next.done !== true && next.value.promptId === id; next = await all.next()) yield next.value.json;
        yield end;
      }
    }
  }

  return (selection, countIds) => joined(texts(selection, countIds));
}

async function* flat<Item>(parts: AsyncIterable<readonly Item[]>): AsyncGenerator<Item, undefined> {
  for await (const part of parts) yield* part;
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
