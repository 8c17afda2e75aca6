import { readPage, type Listing } from '../../src/base/lists/listing.ts';

/** The entries of a list from an offset, and their total number. */
export async function readList<Item>(
  listing: Listing<Item>,
  limit = 1_000,
  offset = 0,
): Promise<{ items: Item[]; total: number }> {
  const { data } = await readPage(listing, { offset }, limit, (item) => ({ item }));
  const total = await listing.total();
  return { items: data.map(({ item }) => item), total: typeof total === 'number' ? total : total.atLeast };
}
