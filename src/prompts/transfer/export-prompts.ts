import type { components } from '../../../generated/types.ts';
import type { Reach } from '../../limits/reach.ts';
import { defined } from '../../runtime/objects.ts';
import { createTurns } from '../../runtime/turns.ts';
import type { PromptStore } from '../prompt-store.ts';
import { contentFields, currentVersion, promptFields, type Prompt, type PromptVersion } from '../prompt.ts';

type Schemas = components['schemas'];

/** Writes prompts in the form that an import takes. */
export type ExportPrompts = (selection: ExportSelection) => AsyncIterable<string>;

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
/** Prompts whose archived versions are read together. Each can have a megabyte. */
const readTogether = 32;
/** Characters that are written together. */
const longestPiece = 64 * 1024;

/**
 * Creates the export: a line of JSON for each prompt, ordered by slug, so that the same prompts give the same lines in
 * every installation. What differs between installations is left out: ids, times and authors.
 */
export function createExport(store: Pick<PromptStore, 'listNames' | 'fetch' | 'archivedVersions'>): ExportPrompts {
  const turns = createTurns();

  /** The prompts in groups whose archived versions are read together. */
  async function* groupsOf(ids: readonly string[]): AsyncGenerator<readonly Prompt[]> {
    let group: Prompt[] = [];
    for await (const prompt of store.fetch(ids)) {
      // Otherwise it was deleted in the meantime.
      if (prompt !== undefined && !prompt.deleting) group.push(prompt);
      if (group.length < readTogether) continue;
      yield group;
      group = [];
    }
    yield group;
  }

  return async function* ({ reach, after = '', isOnlyCurrent }) {
    const names = (await store.listNames(mostPrompts, reach?.prompts)).filter(({ slug }) => slug > after);
    names.sort((one, other) => (one.slug < other.slug ? -1 : 1));
    let piece = '';
    for await (const group of groupsOf(names.map(({ id }) => id))) {
      const archived = store.archivedVersions(isOnlyCurrent ? [] : group)[Symbol.asyncIterator]();
      let next = await archived.next();
      for (const prompt of group) {
        piece += `${JSON.stringify(showHead(prompt)).slice(0, -1)},"versions":[`;
        for (; next.done !== true && next.value.promptId === prompt.id; next = await archived.next()) {
          await turns();
          piece += `${JSON.stringify(showVersion(next.value))},`;
          if (piece.length < longestPiece) continue;
          yield piece;
          piece = '';
        }
        piece += `${JSON.stringify(showVersion(currentVersion(prompt)))}]}\n`;
      }
      yield piece;
      piece = '';
    }
  };
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
