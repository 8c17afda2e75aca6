import type { Collection, Document, Filter } from 'mongodb';
import { walkIds } from '../db/narrow-reads.ts';
import { read, writeIdempotently } from '../db/writes.ts';

/** What belongs to prompts and never changes: earlier versions, earlier moves of labels. */
export interface Archive {
  /** Removes everything that belongs to a prompt. */
  removeAll(promptId: string): Promise<void>;
  /** Ids of all prompts that have something in the archive, in batches. */
  promptIds(visit: (ids: readonly string[]) => Promise<void>): Promise<void>;
}

/** Numbers that one command removes. */
const removedAtOnce = 50;
/** Larger than every number. */
const maxNumber = 2 ** 31;

/**
 * An archive in a collection. @param number the field that numbers what belongs to a prompt, from 1. There is an index
 * on `prompt_id` and this field.
 */
export function createArchive<T extends Document & { _id: string; prompt_id: string }>(
  collection: Collection<T>,
  number: string & keyof T,
): Archive {
  return {
    async removeAll(promptId) {
      // An interrupted removal has left a gap below.
      for (let done = 0, width = removedAtOnce; done < maxNumber;) {
        const filter = { prompt_id: promptId, [number]: { $gt: done, $lt: done + width + 1 } } as unknown as Filter<T>;
        const { deletedCount } = await writeIdempotently(() => collection.deleteMany(filter));
        done += width;
        width = deletedCount > 0 ? removedAtOnce : width * 8;
      }
    },
    async promptIds(visit) {
      await walkIds('', async (range) => {
        const filter = { prompt_id: range } as unknown as Filter<T>;
        const found = await read(() => collection.find(filter, { projection: { prompt_id: 1 } }).toArray());
        await visit([...new Set(found.map(({ prompt_id }) => prompt_id))]);
        return { documents: found.length };
      });
    },
  };
}
