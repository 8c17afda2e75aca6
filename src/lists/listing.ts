/** The place of an entry in a list. Lists go by `at` in one direction, and by `id` where that is the same. */
export interface Position {
  /** An integer: milliseconds since 1970 in lists that go by time. */
  readonly at: number;
  /** May be empty where no two entries have the same `at`. */
  readonly id: string;
}

/** Where a page begins: after an entry, which may be gone by now, or after so many entries. */
export type PageStart = { readonly after: Position } | { readonly offset: number };

/** A list that is read page by page. What is inserted or removed moves no other entry to another position. */
export interface Listing<Item> {
  /** The positions from a start on, in the order of the list, at most so many. */
  positions(start: PageStart, most: number): Promise<Position[]>;
  /** The entries at these positions, read few at a time as they are wanted. What is gone by now is left out. */
  entries(positions: readonly Position[]): AsyncIterable<readonly [Position, Item]>;
  total(): Promise<number>;
}

/** A page of a list as it is shown. */
export interface Page<Shown> {
  readonly data: Shown[];
  /** The last position that the page covers when there are more entries behind it. */
  readonly next: Position | undefined;
}

/** Most bytes of the entries of a page, leaving room for the rest of an answer of 8 MiB. */
const pageBytes = 8 * 1024 * 1024 - 1024;

/**
 * Reads a page, which ends after `limit` entries or 8 MiB. It has at least one entry unless those that were found have
 * been removed meanwhile.
 */
export async function readPage<Item, Shown>(
  listing: Listing<Item>,
  start: PageStart,
  limit: number,
  show: (item: Item) => Shown,
): Promise<Page<Shown>> {
  const found = await listing.positions(start, limit + 1);
  const wanted = found.slice(0, limit);
  const data: Shown[] = [];
  let bytes = 0;
  let last: Position | undefined;
  for await (const [position, item] of listing.entries(wanted)) {
    const shown = show(item);
    bytes += Buffer.byteLength(JSON.stringify(shown));
    if (last !== undefined && bytes > pageBytes) return { data, next: last };
    data.push(shown);
    last = position;
  }
  return { data, next: found.length > limit ? wanted.at(-1) : undefined };
}

/** A list of what is in memory, in its order. @param positionOf ascends in that order */
export function listingOf<Item>(items: readonly Item[], positionOf: (item: Item) => Position): Listing<Item> {
  const placed = items.map((item) => [positionOf(item), item] as const);
  return {
    positions: (start, most) => {
      const rest =
        'after' in start
          ? placed.filter(([{ at, id }]) => at > start.after.at || (at === start.after.at && id > start.after.id))
          : placed.slice(start.offset);
      return Promise.resolve(rest.slice(0, most).map(([position]) => position));
    },
    async *entries(positions) {
      const wanted = new Set(positions);
      for (const entry of placed) if (wanted.has(entry[0])) yield await Promise.resolve(entry);
    },
    total: () => Promise.resolve(items.length),
  };
}

/** A list without entries. */
export const emptyListing: Listing<never> = listingOf([], () => ({ at: 0, id: '' }));

/** A list with something looked up for the entries of each page together. */
export function withLookUp<Item, Found>(
  listing: Listing<Item>,
  lookUp: (items: readonly Item[]) => ((item: Item) => Found) | Promise<(item: Item) => Found>,
): Listing<Found> {
  return {
    ...listing,
    async *entries(positions) {
      const entries: (readonly [Position, Item])[] = [];
      for await (const entry of listing.entries(positions)) entries.push(entry);
      const find = await lookUp(entries.map(([, item]) => item));
      for (const [position, item] of entries) yield [position, find(item)];
    },
  };
}
