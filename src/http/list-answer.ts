import type { components } from '../../generated/types.ts';
import type { ProblemError } from '../base/errors/problem-error.ts';
import { decodeCursor, encodeCursor } from '../base/lists/cursor.ts';
import { readPage, type Listing } from '../base/lists/listing.ts';
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

/**
 * Answers with the requested page of a list, and with `next` and `Link` (RFC 8288) for the following page.
 * @param find called after the parameters were validated
 * @param show the representation of an entry; its JSON counts towards the size of the page
 * @throws {ProblemError} invalid-request for an `after` that is not of this list, and for one with an `offset` above 0
 */
export async function answerPage<Item, Shown>(
  { query: { limit = 20, offset, after, ...filters }, context: { path } }: ListInput,
  find: () => Listing<Item> | Promise<Listing<Item>>,
  show: (item: Item) => Shown,
): Promise<ListAnswer<Shown>> {
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

  const listing = await find();
  const start = cursor === undefined ? { offset: skipped } : { after: cursor.after };
  const { data, next, isCut } = await readPage(listing, start, limit, show);
  const following = next === undefined ? null : encodeCursor(list, { after: next, offset: skipped + data.length });
  const least = (cursor === undefined && data.length > 0 ? skipped : 0) + data.length;
  // What is all on one page need not be counted.
  const counted = cursor === undefined && skipped === 0 && following === null ? least : await listing.total();
  const isMinimum = typeof counted !== 'number';
  // The total of a long list may be older than the page.
  const total = Math.max(isMinimum ? counted.atLeast : counted, least);
  const pagination = {
    total,
    ...(isMinimum ? { total_is_minimum: true } : {}),
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

function refused(parameter: string, detail: string): ProblemError {
  return invalidParameters([{ detail, parameter }]);
}
