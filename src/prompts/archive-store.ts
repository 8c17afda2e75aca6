import type { Collection } from 'mongodb';
import type { Pages, Stored } from '../storage/db/pages.ts';
import type { Entry, PageStart } from '../base/lists/listing.ts';

/** What belongs to prompts and never changes: earlier versions, earlier moves of labels. */
export interface Archive {
  /** Removes everything that belongs to a prompt. */
  removeAll(promptId: string): Promise<void>;
  /** Ids of all prompts that have something in the archive, in batches. */
  promptIds(): AsyncIterable<readonly string[]>;
}

/**
 * An archive in a collection. @param number the field that numbers what belongs to a prompt, from 1. There is an index
 * on `prompt_id` and this field.
 */
export function createArchive<T extends Stored & { prompt_id: string }>(
  pages: Pages,
  collection: Collection<T>,
  number: string & keyof T,
): Archive {
  return {
    removeAll: (promptId) => pages.remove({ collection, where: { prompt_id: promptId }, along: { number } }),
    promptIds: () => pages.values(collection, 'prompt_id', ''),
  };
}

/** What is numbered from 1: the last one, and how the others are read from an archive. */
export interface Numbered<Item> {
  readonly last: number;
  readonly current: Item;
  /** Those with these numbers, in the same order; undefined for each that is not there. */
  archived(numbers: readonly number[]): AsyncIterable<Item | undefined>;
}

/** The entries of a list of what is numbered, the last one first. */
export async function* numberedEntries<Item>(
  start: PageStart,
  most: number,
  { last, current, archived }: Numbered<Item>,
): AsyncGenerator<Entry<Item>> {
  const newest = 'after' in start ? Math.min(start.after.at - 1, last) : last - start.offset;
  let at = newest;
  if (at === last && most > 0) {
    yield [{ at, id: '' }, current];
    at -= 1;
  }
  const length = Math.max(0, Math.min(at, most - (newest - at)));
  const numbers = Array.from({ length }, (_, index) => at - index);
  for await (const item of archived(numbers)) {
    yield [{ at, id: '' }, item];
    at -= 1;
  }
}
