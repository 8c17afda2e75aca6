import { ProblemError } from '../errors/problem-error.ts';

/** The position of an entry in a list. Lists are ordered by `at`, and by `id` if that is equal. */
export interface Position {
  /** An integer: milliseconds since 1970 in lists by time. */
  readonly at: number;
  /** Can be empty if no two entries have the same `at`. */
  readonly id: string;
}

/** Where a page begins: after an entry, which may no longer exist, or after a number of entries. */
export type PageStart = { readonly after: Position } | { readonly offset: number };

/**
 * An entry of a list; undefined if the list leaves it out, for example because it no longer exists. With `isCut` it is
 * not an entry, but how far the list was searched: it searches no further for one page.
 */
export type Entry<Item> = readonly [position: Position, item: Item | undefined, isCut?: true];

/** A list that is read page by page. Inserted or removed entries do not change the positions of others. */
export interface Listing<Item> {
  /** The entries from a start on, in the order of the list, read as they are needed. @param most at most this number */
  entries(start: PageStart, most: number): AsyncIterable<Entry<Item>>;
  total(): Promise<Total>;
}

/** The most entries of a list that are counted, and that an `offset` skips. The contract has the same number. */
export const countedMost = 10_000;

/**
 * The problem of an offset that skips more entries than a list searches for. A page that began where the search ended
 * would be a wrong one, and a whole search could read millions of documents.
 */
export function offsetBeyondSearch(): ProblemError {
  return new ProblemError('invalid-request', {
    detail: 'The list has too many entries that do not match the filters to skip so many that do.',
    errors: [
      {
        detail: 'skips more entries than one page searches for; follow pagination.next from an earlier page',
        parameter: 'offset',
      },
    ],
  });
}

/** How many entries a list has: their number, or one that it has at least. */
export type Total = number | { readonly atLeast: number };

/** The total of a list that was counted up to one more than {@link countedMost}. */
export function totalOf(counted: number): Total {
  return counted > countedMost ? { atLeast: countedMost } : counted;
}

/** A page of a list. */
export interface Page<Shown> {
  readonly data: Shown[];
  /** The last position of the page, if more entries follow. */
  readonly next: Position | undefined;
  /** Set if the page ended before its limit, at `next`, because the list searches no further for one page. */
  readonly isCut?: true;
}

/** The most bytes of the entries of a page: 8 MiB for an answer without its other parts. */
const pageBytes = 8 * 1024 * 1024 - 1024;

/**
 * Reads a page, which ends after `limit` entries or 8 MiB. It has at least one entry, unless all entries that were
 * found have been removed in the meantime.
 */
export async function readPage<Item, Shown>(
  listing: Listing<Item>,
  start: PageStart,
  limit: number,
  show: (item: Item) => Shown,
): Promise<Page<Shown>> {
  const data: Shown[] = [];
  let bytes = 0;
  let read = 0;
  let last: Position | undefined;
  for await (const [position, item, isCut] of listing.entries(start, limit + 1)) {
    if (read === limit) return { data, next: last };
    if (isCut === true) return { data, next: position, isCut };
    if (item !== undefined) {
      const shown = show(item);
      bytes += Buffer.byteLength(JSON.stringify(shown));
      if (data.length > 0 && bytes > pageBytes) return { data, next: last };
      data.push(shown);
    }
    read += 1;
    last = position;
  }
  return { data, next: undefined };
}

/** A list of values in memory, in their order. @param positionOf ascends in that order */
export function listingOf<Item>(items: readonly Item[], positionOf: (item: Item) => Position): Listing<Item> {
  const placed = items.map((item) => [positionOf(item), item] as const);
  return {
    async *entries(start, most) {
      const rest =
        'after' in start
          ? placed.filter(([{ at, id }]) => at > start.after.at || (at === start.after.at && id > start.after.id))
          : placed.slice(start.offset);
      yield* await Promise.resolve(rest.slice(0, most));
    },
    total: () => Promise.resolve(items.length),
  };
}

/** A list without entries. */
export const emptyListing: Listing<never> = listingOf([], () => ({ at: 0, id: '' }));

/**
 * A list for which further data is read for all entries of a page together.
 * @param lookUp returns a function that returns undefined for entries that the list leaves out
 */
export function withLookUp<Item, Found>(
  listing: Listing<Item>,
  lookUp: (items: readonly Item[]) => ((item: Item) => Found | undefined) | Promise<(item: Item) => Found | undefined>,
): Listing<Found> {
  return {
    ...listing,
    async *entries(start, most) {
      const entries = await Array.fromAsync(listing.entries(start, most));
      const find = await lookUp(entries.flatMap(([, item]) => item ?? []));
      for (const [position, item, ...cut] of entries)
        yield [position, item === undefined ? undefined : find(item), ...cut];
    },
  };
}
