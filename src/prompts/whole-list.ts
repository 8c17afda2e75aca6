import type { PageStart } from '../base/lists/listing.ts';
import type { Reach } from '../base/limits/reach.ts';
import { createTurns } from '../base/runtime/turns.ts';
import { inBatches, Batch } from './batches.ts';
import { promptFields } from './prompt.ts';
import type { PromptStore } from './prompt-store.ts';

/** Writes the prompts of a list as JSON, from a start on. Each can have a megabyte. @param countIds counts ids in memory */
export type WholeList = (
  selection: ListSelection,
  start: PageStart,
  countIds: (ids: number) => void,
) => AsyncIterable<Uint8Array>;

export interface ListSelection {
  /** Only those whose name, slug or description contains it. */
  readonly text: string | undefined;
  /** Of the caller: only the prompts within it. */
  readonly reach: Reach | undefined;
}

/** Prompts that are read together at first. Most are small. */
const firstTogether = 8;

/**
 * Creates the list of all prompts, in the order of the moment when it begins: what is updated while a caller takes it
 * stays at its place, what is deleted is left out, and what is created is not in it.
 */
export function createWholeList(store: Pick<PromptStore, 'listAll' | 'fetch'>): WholeList {
  const turns = createTurns();
  const read = async (ids: readonly string[]): Promise<Batch<Buffer>> => {
    const batch = new Batch<Buffer>();
    for await (const prompt of store.fetch(ids)) {
      await turns();
      const isGone = prompt === undefined || prompt.deleting;
      const json = isGone ? undefined : Buffer.from(JSON.stringify(promptFields.show(prompt)));
      if (!batch.add(json, json?.length ?? 0)) break;
    }
    return batch;
  };
  /** Only the ids are kept until the end. */
  const idsOf = async ({ text, reach }: ListSelection, start: PageStart): Promise<string[]> => {
    const all = await store.listAll(text, reach?.prompts);
    const listed =
      'offset' in start
        ? all.slice(start.offset)
        : all.filter(({ at, id }) => at < start.after.at || (at === start.after.at && id > start.after.id));
    return listed.map(({ id }) => id);
  };
  return async function* list(selection, start, countIds) {
    const ids = await idsOf(selection, start);
    countIds(ids.length);
    for await (const prompts of inBatches(ids, read, { together: firstTogether })) yield* prompts;
  };
}
