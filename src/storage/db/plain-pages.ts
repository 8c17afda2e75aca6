/** Lists and walks that read an index in its order, as MongoDB does. */
import { MongoServerError, type Collection, type Document, type Filter, type FindOptions, type Sort } from 'mongodb';
import {
  countedMost,
  offsetBeyondSearch,
  totalOf,
  type PageStart,
  type Position,
  type Total,
} from '../../base/lists/listing.ts';
import type { Database } from './client.ts';
import { createFetch } from './fetch.ts';
import { dueGroups, type DueGroupDocument } from './due-groups.ts';
import type {
  Divided,
  FetchOptions,
  PagedDatabase,
  Pages,
  Source,
  Span,
  Stored,
  UnrestrictedSource,
  ValueSpan,
  WalkOptions,
} from './pages.ts';
import { createTotals } from './totals.ts';
import { read, writeIdempotently } from './writes.ts';

const listsAtOnce = 8;
/** Documents that one command reads or removes. */
const batchSize = 500;
/** Documents of a source that are grouped. */
const groupedMost = 1_000;
/**
 * Milliseconds that counting a list may take. Without an index for its conditions, each document is read; and some
 * servers read all of an index before they count up to a limit.
 */
const countMs = 250;
/** Milliseconds that finding a page of a long list may take before its search is limited. */
const searchMs = 250;
/** The server ended a command after its time limit. */
const timeLimitExceeded = 50;

export interface PlainPagesOptions {
  /** Documents that one page of a long list searches for those that match its further conditions, if that takes long. */
  readonly searchedMost?: number;
}

/** Adds the reads of a server that reads in the order of an index. */
export function withPlainPages(database: Database, { searchedMost = 100_000 }: PlainPagesOptions = {}): PagedDatabase {
  const { fetch, ...reads } = createFetch(batchSize);

  const listsOf: Pages['listsOf'] = (toItem, options = {}) => {
    const totals = createTotals<Parameters<typeof toItem>[0]>(total);
    return (source) => ({
      async *entries(start, most) {
        // Large documents are fetched as they are needed, not all at once.
        const projection = options.largeFrom === undefined ? options.projection : { [source.time]: 1 };
        const isSearch = options.isLong === true && Object.keys(source.rest ?? {}).length > 0;
        const { found, cutAt } = await (isSearch
          ? searchPage(source, start, most, projection, searchedMost)
          : page(source, start, most, projection).then((all) => ({ found: all, cutAt: undefined })));
        if (options.largeFrom === undefined) {
          for (const document of found) yield [positionOf(source, document), toItem(document)];
          if (cutAt !== undefined) yield [cutAt, undefined, true];
          return;
        }
        const positions = new Map(found.map((document) => [document._id, positionOf(source, document)]));
        for await (const [id, document] of fetch(source.collection, [...positions.keys()], options)) {
          const position = positions.get(id);
          if (position !== undefined) yield [position, document === undefined ? undefined : toItem(document)];
        }
        if (cutAt !== undefined) yield [cutAt, undefined, true];
      },
      total: () => totals(source),
    });
  };

  return {
    ...database,
    pages: {
      ...reads,
      fetch,
      listsOf,
      walk,
      count,
      readsInOrder: true,
      listsAtOnce,
      indexes: (declared) =>
        declared.map(({ collection, indexes, inOrder = [] }) => ({ collection, indexes: [...indexes, ...inOrder] })),
      async groupByDue<T extends Stored, Group>(source: UnrestrictedSource<T>, now: Date, group: Document) {
        const counted = async (part: UnrestrictedSource<T>): Promise<(Group & { count: number }) | undefined> => {
          const total = await count(part);
          if (total === 0) return undefined;
          const stages = [
            ...[{ $match: filterOf(part) }, { $sort: { [part.time]: 1 } }, { $limit: groupedMost }],
            { $group: { _id: null, ...group } },
          ];
          const [found] = await read(() => part.collection.aggregate<Document>(stages).toArray());
          // They may all have gone since they were counted.
          return found === undefined ? undefined : { ...(found as Group), count: total };
        };
        const split = new Date(now.getTime() + 1);
        const [due, later] = await Promise.all([
          counted({ ...source, span: { until: split } }),
          counted({ ...source, span: { since: split } }),
        ]);
        return { due, later, isEstimated: Math.max(due?.count ?? 0, later?.count ?? 0) > groupedMost };
      },
      async groupAllByDue<T extends Stored, Group>(
        { collection, field, time }: Divided<T>,
        now: Date,
        group: Document,
      ) {
        const key = { value: `$${field}`, isDue: { $lte: [`$${time}`, now] } };
        const stages = [{ $match: { [field]: { $gt: '' } } }, { $group: { _id: key, count: { $sum: 1 }, ...group } }];
        return dueGroups(await read(() => collection.aggregate<DueGroupDocument<Group>>(stages).toArray()));
      },
      firsts,
      values: (collection, field, after) => values(collection, field, { $gt: after }),
      async someValues(collection, field, { after, before }) {
        const range = { $gt: after, ...(before !== undefined && { $lt: before }) };
        for await (const found of values(collection, field, range)) return found;
        return [];
      },
      async remove({ collection, where }, pause) {
        for (;;) {
          if ((await removeSome(collection, where)) < batchSize) return;
          await pause?.();
        }
      },
      async removeExpired(name, now, pause) {
        const collection = database.db.collection<Stored>(name);
        const expired = { expires_at: { $lt: now } };
        for (;;) {
          const removed = await removeSome(collection, expired);
          if (removed > 0) await pause(removed);
          if (removed < batchSize) return;
        }
      },
    },
  };
}

/** Removes some documents. @returns how many it found */
async function removeSome<T extends Stored>(collection: Collection<T>, where: Document): Promise<number> {
  const options = { projection: { _id: 1 }, limit: batchSize };
  const found = await read(() => collection.find(where as Filter<T>, options).toArray());
  if (found.length === 0) return 0;
  // The conditions are repeated, because a document may have changed in the meantime. The ids come first: some servers
  // read everything that matches the first field with an index.
  const some = { _id: { $in: found.map(({ _id }) => _id) }, ...where } as unknown as Filter<T>;
  await writeIdempotently(() => collection.deleteMany(some));
  return found.length;
}

async function page<T extends Stored>(
  source: Source<T>,
  start: PageStart,
  most: number,
  projection: FetchOptions['projection'] = {},
  end?: Position,
): Promise<T[]> {
  return read(() => findPage(source, start, most, projection, { end }));
}

async function findPage<T extends Stored>(
  source: Source<T>,
  start: PageStart,
  most: number,
  projection: Document,
  { end, maxTimeMS }: { readonly end?: Position | undefined; readonly maxTimeMS?: number },
): Promise<T[]> {
  const { filter, options } = pageQuery(source, start, most, end);
  // Without the time there would be no position. A projection that excludes fields leaves it in.
  const isInclusive = Object.values(projection).includes(1);
  const shown = isInclusive ? { ...projection, [source.time]: 1 } : projection;
  const limits = maxTimeMS === undefined ? options : { ...options, maxTimeMS };
  return (await source.collection.find(filter, { ...limits, projection: shown }).toArray()) as unknown as T[];
}

/**
 * A page of a list with conditions that no index has. If it takes too long to find, it is a search of this number of
 * documents, and where that ended.
 * @throws {ProblemError} invalid-request if the search finds no more than what an offset skips
 */
async function searchPage<T extends Stored>(
  source: Source<T>,
  start: PageStart,
  most: number,
  projection: FetchOptions['projection'] = {},
  searched: number,
): Promise<{ readonly found: T[]; readonly cutAt: Position | undefined }> {
  const quick = await read(() =>
    findPage(source, start, most, projection, { maxTimeMS: searchMs }).catch(unlessTooLong),
  );
  if (quick !== undefined) return { found: quick, cutAt: undefined };
  const end = await placeAfter(source, start, searched);
  const found = await page(source, start, most, projection, end);
  if (end !== undefined && found.length === 0 && 'offset' in start && start.offset > 0) throw offsetBeyondSearch();
  return { found, cutAt: found.length === most ? undefined : end };
}

/**
 * The position of the document of this number from a start on, without further conditions; undefined if there are
 * fewer. An offset counts only what matches the conditions, so then the start is that of the list.
 */
async function placeAfter<T extends Stored>(
  source: Source<T>,
  start: PageStart,
  number: number,
): Promise<Position | undefined> {
  const indexed = { ...source, rest: undefined };
  const from = 'after' in start ? start : { offset: 0 };
  const { filter, options } = pageQuery(indexed, from, 1);
  const shown = { projection: { [source.time]: 1 }, skip: number - 1 };
  const [last] = await read(() => source.collection.find(filter, { ...options, ...shown }).toArray());
  return last === undefined ? undefined : positionOf(source, last as unknown as T);
}

/** @throws what is not the end of a command after its time limit */
function unlessTooLong(error: unknown): undefined {
  if (error instanceof MongoServerError && error.code === timeLimitExceeded) return undefined;
  throw error;
}

/** The query for the documents of a page. @param end the last position that it may have */
export function pageQuery<T extends Stored>(
  source: Source<T>,
  start: PageStart,
  most: number,
  end?: Position,
): { readonly filter: Filter<T>; readonly options: FindOptions } {
  const sort: Sort = { [source.time]: -1, _id: source.ties === 'descending' ? -1 : 1 };
  return {
    filter: filterOf(source, 'after' in start ? start.after : undefined, end),
    options: { sort, limit: most, batchSize: most, skip: 'offset' in start ? start.offset : 0 },
  };
}

function positionOf<T extends Stored>({ time }: Source<T>, document: T): Position {
  return { at: (document[time] as Date).getTime(), id: document._id };
}

async function* walk<T extends Stored>(
  source: Source<T>,
  { projection = {}, limit = 0 }: WalkOptions = {},
): AsyncGenerator<T[]> {
  const { collection, time, ties } = source;
  const sort: Sort = { [time]: 1, ...(ties !== undefined && { _id: ties === 'ascending' ? 1 : -1 }) };
  const cursor = collection.find(filterOf(source), { sort, limit, projection, batchSize });
  try {
    // A cursor cannot be read again after a failure.
    while (await read(() => cursor.hasNext(), { attempts: 1 })) {
      yield cursor.readBufferedDocuments() as unknown as T[];
    }
  } finally {
    await cursor.close().catch(() => undefined);
  }
}

/** MongoDB jumps from value to value in the index, so it reads one entry for each. */
async function* firsts<T extends Stored>(
  { collection, field, time }: Divided<T>,
  { from, before }: ValueSpan,
): AsyncGenerator<{ value: string; at: Date }[]> {
  const cursor = collection.aggregate<{ _id: string; at: Date }>([
    { $match: { [field]: { $gte: from, ...(before !== undefined && { $lt: before }) } } },
    { $sort: { [field]: 1, [time]: 1 } },
    { $group: { _id: `$${field}`, at: { $first: `$${time}` } } },
  ]);
  try {
    while (await read(() => cursor.hasNext(), { attempts: 1 })) {
      yield cursor.readBufferedDocuments().map(({ _id, at }) => ({ value: _id, at }));
    }
  } finally {
    await cursor.close().catch(() => undefined);
  }
}

async function* values<T extends Stored>(
  collection: Collection<T>,
  field: string & keyof T,
  range: Document,
): AsyncGenerator<string[]> {
  for (let last: string | undefined; ;) {
    const filter = { [field]: last === undefined ? range : { ...range, $gt: last } } as Filter<T>;
    const options = { projection: { _id: 0, [field]: 1 }, sort: { [field]: 1 } as Sort, limit: batchSize };
    const found = await read(() => collection.find(filter, options).toArray());
    const distinct = [...new Set(found.map((document) => document[field] as string))];
    last = distinct.at(-1);
    if (last === undefined) return;
    yield distinct;
    // The rest of the documents with the last value is left out.
    if (found.length < batchSize) return;
  }
}

function count<T extends Stored>({ collection, ...source }: Source<T>, most?: number): Promise<number> {
  return read(() => collection.countDocuments(filterOf(source), most === undefined ? {} : { limit: most }));
}

async function total<T extends Stored>({ collection, ...source }: Source<T>): Promise<Total> {
  const options = { limit: countedMost + 1, maxTimeMS: countMs };
  return read(() =>
    collection.countDocuments(filterOf(source), options).then(totalOf, (error: unknown) => {
      if (error instanceof MongoServerError && error.code === timeLimitExceeded) return { atLeast: 0 };
      throw error;
    }),
  );
}

/** @param after the position behind which a list continues @param end the last position, at which it ends */
function filterOf<T extends Stored>(
  { where, time, ties, span = {}, rest }: Omit<Source<T>, 'collection'>,
  after?: Position,
  end?: Position,
): Filter<T> {
  const conditions = [...(rest === undefined ? [] : [rest])];
  const range = rangeOf(span);
  if (after !== undefined) {
    const at = new Date(after.at);
    // The range leads to the place in the index. The other condition leaves out what comes before it at that time; as an
    // `$or` some servers would read the index once for each alternative, and then sort.
    range['$lte'] = at;
    conditions.push({ $nor: [{ [time]: at, _id: ties === 'descending' ? { $gte: after.id } : { $lte: after.id } }] });
  }
  if (end !== undefined) {
    const at = new Date(end.at);
    range['$gte'] = at;
    conditions.push({ $nor: [{ [time]: at, _id: ties === 'descending' ? { $lt: end.id } : { $gt: end.id } }] });
  }
  return {
    ...where,
    ...(Object.keys(range).length > 0 && { [time]: range }),
    ...(conditions.length === 1 ? conditions[0] : conditions.length > 1 && { $and: conditions }),
  } as Filter<T>;
}

function rangeOf({ since, until }: Span): Document {
  return { ...(since !== undefined && { $gte: since }), ...(until !== undefined && { $lt: until }) };
}
