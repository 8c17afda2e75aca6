import type { components } from '../../generated/types.ts';
import type { ProblemError } from '../base/errors/problem-error.ts';
import { decodeCursor, encodeCursor, type Cursor } from '../base/lists/cursor.ts';
import { readPage, type Listing, type PageStart, type Total } from '../base/lists/listing.ts';
import type { RequestContext } from './operation.ts';
import { invalidParameters } from './parameters.ts';

/** The input of an operation that lists. Every other query parameter filters the list. */
export interface ListInput {
  readonly query: {
    readonly limit?: number;
    readonly offset?: number;
    readonly after?: string;
    readonly [filter: string]: string | number | undefined;
  };
  readonly context: Pick<RequestContext, 'path'>;
}

export interface ListAnswer<Shown> {
  readonly status: 200;
  readonly headers: { readonly Link?: string };
  readonly body: { readonly data: Shown[]; readonly pagination: components['schemas']['Pagination'] };
}

/** A list that is written as a whole. */
export interface WholeListing {
  /** The JSON of its entries from a start on. */
  entries(start: PageStart): AsyncIterable<Uint8Array>;
  total(): Promise<Total>;
}

/**
 * Answers with the requested page of a list, and with `next` and `Link` (RFC 8288) for the following page.
 * @param find called after the parameters were validated
 * @param show the representation of an entry; its JSON counts towards the size of the page
 * @throws {ProblemError} invalid-request for an `after` that is not of this list, and for one with an `offset` above 0
 */
export async function answerPage<Item, Shown>(
  { query, context: { path } }: ListInput,
  find: () => Listing<Item> | Promise<Listing<Item>>,
  show: (item: Item) => Shown,
): Promise<ListAnswer<Shown>> {
  const { limit = 20 } = query;
  const { search, list, cursor, skipped, start } = readPosition(query, path);
  const listing = await find();
  const { data, next, isCut } = await readPage(listing, start, limit, show);
  const following = next === undefined ? null : encodeCursor(list, { after: next, offset: skipped + data.length });
  const least = leastOf(cursor, skipped, data.length);
  // What is all on one page need not be counted.
  const counted = cursor === undefined && skipped === 0 && following === null ? least : await listing.total();
  const pagination = {
    ...showTotal(counted, least),
    // Everything later than its position was searched.
    ...(isCut === true && next !== undefined ? { searched_since: new Date(next.at + 1).toISOString() } : {}),
    limit,
    offset: skipped,
    next: following,
  };
  if (following === null) return { status: 200, headers: {}, body: { data, pagination } };
  search.set('limit', String(limit));
  search.set('after', following);
  return {
    status: 200,
    headers: { Link: `<${path}?${search.toString()}>; rel="next"` },
    body: { data, pagination },
  };
}

/**
 * Writes the body of an answer with all entries of a list, or with all from `offset` or `after` on.
 * @throws {ProblemError} as `answerPage`
 */
export async function* writeWholeList(
  { query, context: { path } }: ListInput,
  listing: WholeListing,
): AsyncGenerator<Uint8Array> {
  const { cursor, skipped, start } = readPosition(query, path);
  yield Buffer.from('{"data":[');
  let count = 0;
  for await (const entry of listing.entries(start)) {
    if (count > 0) yield Buffer.from(',');
    yield entry;
    count += 1;
  }
  const least = leastOf(cursor, skipped, count);
  // An offset can be beyond the end.
  const isCounted = cursor === undefined && (skipped === 0 || count > 0);
  const total = showTotal(isCounted ? least : await listing.total(), least);
  const pagination: components['schemas']['Pagination'] = { ...total, limit: count, offset: skipped, next: null };
  yield Buffer.from(`],"pagination":${JSON.stringify(pagination)}}`);
}

/** Where a page begins. */
function readPosition(
  { limit: _, offset, after, ...filters }: ListInput['query'],
  path: string,
): {
  readonly search: URLSearchParams;
  /** The list with its filters. */
  readonly list: string;
  readonly cursor: Cursor | undefined;
  readonly skipped: number;
  readonly start: PageStart;
} {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) search.set(name, String(value));
  search.sort();
  const list = `${path}?${search.toString()}`;
  // Some generated clients send the default, 0, with every request.
  if (after !== undefined && (offset ?? 0) > 0) throw refused('offset', 'cannot be combined with after');
  const cursor = after === undefined ? undefined : decodeCursor(list, after);
  if (after !== undefined && cursor === undefined) {
    throw refused('after', 'must be the pagination.next of a page of this list, requested with the same filters');
  }
  const skipped = cursor?.offset ?? offset ?? 0;
  return { search, list, cursor, skipped, start: cursor === undefined ? { offset: skipped } : { after: cursor.after } };
}

/** The entries that a list has at least. @param count of the page */
function leastOf(cursor: Cursor | undefined, skipped: number, count: number): number {
  return (cursor === undefined && count > 0 ? skipped : 0) + count;
}

/** The total of a long list may be older than the page. */
function showTotal(
  counted: Total,
  least: number,
): Pick<components['schemas']['Pagination'], 'total' | 'total_is_minimum'> {
  return typeof counted === 'number'
    ? { total: Math.max(counted, least) }
    : { total: Math.max(counted.atLeast, least), total_is_minimum: true };
}

function refused(parameter: string, detail: string): ProblemError {
  return invalidParameters([{ detail, parameter }]);
}
