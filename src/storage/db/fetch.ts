import { BSON, type Collection, type Filter } from 'mongodb';
import type { FetchOptions, Pages, Stored } from './pages.ts';
import { read } from './writes.ts';

/** Documents that may be large, of which one command reads at first. */
const fewAtOnce = 8;

/** Creates the reads by id. @param idsAtOnce ids that one command looks up at most */
export function createFetch(idsAtOnce: number): Pick<Pages, 'fetch' | 'existing'> {
  async function* fetch<T extends Stored>(
    collection: Collection<T>,
    ids: readonly string[],
    { projection = {}, largeFrom }: FetchOptions = {},
  ): AsyncGenerator<readonly [string, T | undefined]> {
    for (let start = 0, atOnce = largeFrom === undefined ? idsAtOnce : fewAtOnce; start < ids.length;) {
      const some = ids.slice(start, start + atOnce);
      const filter = { _id: { $in: some } } as unknown as Filter<T>;
      const found = await read(() => collection.find(filter, { projection }).toArray());
      const byId = new Map(found.map((document) => [document._id as string, document as unknown as T]));
      for (const id of some) yield [id, byId.get(id)];
      start += atOnce;
      if (largeFrom === undefined) continue;
      const bytes = found.reduce((sum, document) => sum + BSON.calculateObjectSize(document), 0);
      if (2 * bytes < largeFrom) atOnce = Math.min(2 * atOnce, idsAtOnce);
      else if (bytes > largeFrom) atOnce = Math.max(1, Math.floor(atOnce / 2));
    }
  }

  return {
    fetch,
    async existing(collection, ids) {
      const found = new Set<string>();
      for await (const [id, document] of fetch(collection, ids, { projection: { _id: 1 } })) {
        if (document !== undefined) found.add(id);
      }
      return found;
    },
  };
}
