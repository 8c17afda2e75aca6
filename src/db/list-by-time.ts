import type { Document } from 'mongodb';
import type { Listing } from '../lists/listing.ts';
import { count, estimate, fetchInOrder, listPositions, type FetchOptions, type Source } from './narrow-reads.ts';
import { createTotals } from './totals.ts';

/**
 * Creates the lists of a collection that are ordered by time, newest first. Pages are read by narrow commands.
 * @param toItem returns undefined for documents that the list leaves out
 * @param options also whether the total of a long list is only estimated, so that it takes no walk through the list
 */
export function createListByTime<T extends Document & { _id: string }, Item>(
  toItem: (document: T) => Item | undefined,
  { estimatesTotal = false, ...options }: FetchOptions & { readonly estimatesTotal?: boolean } = {},
): (source: Source<T>) => Listing<Item> {
  const totals = createTotals();
  return (source) => ({
    positions: (start, most) => listPositions(source, start, most),
    async *entries(positions) {
      const byId = new Map(positions.map((position) => [position.id, position]));
      for await (const document of fetchInOrder(source.collection, [...byId.keys()], options)) {
        const [position, item] = [byId.get(document._id), toItem(document)];
        if (position !== undefined && item !== undefined) yield [position, item];
      }
    },
    total: () =>
      totals.of(JSON.stringify([source.where, source.span, source.rest]), () =>
        estimatesTotal ? estimate(source) : count(source),
      ),
  });
}
