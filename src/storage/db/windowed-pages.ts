/**
 * Lists and walks of many documents by commands that each match few, by windows of time (`windows.ts`).
 *
 * MongoDB reads only what an answer needs. Some compatible servers fetch every document that a filter matches, whatever
 * the limit, order or projection is, and block all other commands meanwhile. Measured with 25,000 documents of 1 KB on
 * SecantusDB 0.7.0b3 (its Python server), in milliseconds for which others are blocked:
 *
 * - All documents of one owner, `limit: 100`: 440, and 780 when the order has two fields.
 * - A range of an indexed field behind the equalities that precede it in the same index: 200 documents 10, 600 18,
 *   2,000 56. This is the only shape that stays narrow.
 * - The same range of 600 with one more condition in the filter: 600, because its planner then uses one field. In an
 *   aggregation, put that condition into a second `$match`; MongoDB and the Rust server merge the two, but not across a `$limit`.
 * - `count` walks the whole collection and `hint`, `min` and `max` the whole index. A range of `_id` walks the
 *   collection. An aggregation that counts reads what its first `$match` matches.
 * - `_id` with `$in`: 100 ids 12; 1,000 ids 740, because it grows with the square.
 * - A field with a unique index of its own and `$in`: 8 values 1.1, 32 values 2.9, found or not. Any other field with
 *   `$in`, and `$or` of whatever conditions, walks the collection: 2,400 with 20,000 documents.
 * - If a filter has several fields and no index for all of them, the first field with an index decides: `_id` comes
 *   first.
 */
import type { Collection, Document, Filter } from 'mongodb';
import {
  countedMost,
  offsetBeyondSearch,
  totalOf,
  type PageStart,
  type Position,
  type Total,
} from '../../base/lists/listing.ts';
import type { Database } from './client.ts';
import { dueGroups, type DueGroupDocument } from './due-groups.ts';
import { createFetch } from './fetch.ts';
import type {
  Divided,
  DueGroups,
  IdRange,
  PagedDatabase,
  Pages,
  Selection,
  Source,
  Span,
  Stored,
  UnrestrictedSource,
  ValueSpan,
  WalkOptions,
} from './pages.ts';
import { createTotals } from './totals.ts';
import { Windows } from './windows.ts';
import { read, writeIdempotently } from './writes.ts';

const listsAtOnce = 2;
/** Ids that one command looks up or removes. */
const idsAtOnce = 100;
/** Numbers that one command removes at first. */
const numbersAtOnce = 50;
/** Larger than every number. */
const maxNumber = 2 ** 31;
/** Documents of a source that are grouped. */
const groupedMost = 1_000;

/** A window, and the positions of its documents, without further conditions, the earliest first. */
interface Found extends Span {
  readonly positions: readonly Position[];
}

export interface WindowedPagesOptions {
  /** Documents that one page of a long list searches for those that match its further conditions. */
  readonly searchedMost?: number;
}

/** Adds the reads of a server that fetches everything that a filter matches. */
export function withWindowedPages(
  database: Database,
  { searchedMost = 10_000 }: WindowedPagesOptions = {},
): PagedDatabase {
  const windows = new Windows();
  const { fetch, ...reads } = createFetch(idsAtOnce);

  const listsOf: Pages['listsOf'] = (toItem, { isLong = false, ...options } = {}) => {
    const most = isLong ? searchedMost : Infinity;
    const totals = createTotals<Parameters<typeof toItem>[0]>((source) => total(windows, source, most));
    return (source) => ({
      async *entries(start, limit) {
        const { listed, cutAt } = await listPositions(windows, source, start, limit, most);
        const found = new Map(listed.map((position) => [position.id, position]));
        for await (const [id, document] of fetch(source.collection, [...found.keys()], options)) {
          const position = found.get(id);
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
      walk: (source, options) => walk(windows, source, options),
      count: async (source, most) => (await countUpTo(windows, source, most)).counted,
      groupByDue: (source, now, group) => groupByDue(windows, source, now, group),
      groupAllByDue: (divided, now, group) => groupAllByDue(windows, divided, now, group),
      firsts: (divided, span) => firsts(windows, divided, span),
      readsInOrder: false,
      listsAtOnce,
      indexes: (declared) => declared,
      values: (collection, field, after) =>
        walkIds(after, async (range) => {
          const found = await findValues(collection, field, range);
          return { documents: found.length, result: distinct(found) };
        }),
      async someValues(collection, field, range) {
        // A value with thousands of documents needs only some of them to be read.
        for (const { value, time } of windows.large(collection.collectionName, field)) {
          if (value <= range.after || (range.before !== undefined && value >= range.before)) continue;
          if (await exists(windows, { collection, where: { [field]: value }, time })) return [value];
        }
        return distinct(await findValues(collection, field, rangeOfIds(range)));
      },
      remove: (selection, pause) => remove(windows, selection, pause),
      async removeExpired(name, now, pause) {
        const collection = database.db.collection<Stored>(name);
        const source = { collection, where: {}, time: 'expires_at', span: { until: now } };
        for await (const { positions } of latest(windows, source)) {
          await pause(0);
          for (let start = 0; start < positions.length; start += idsAtOnce) {
            const ids = positions.slice(start, start + idsAtOnce).map(({ id }) => id);
            // The filter includes the time, because a document may have got another one in the meantime.
            const expired = { _id: { $in: ids }, ...within('expires_at', source.span) };
            await writeIdempotently(() => collection.deleteMany(expired));
            await pause(ids.length);
          }
        }
      },
    },
  };
}

async function exists<T extends Stored>(windows: Windows, source: Source<T>): Promise<boolean> {
  for await (const { positions } of latest(windows, source)) if (positions.length > 0) return true;
  return false;
}

// Windows ----------------------------------------------------------------------------------------------------------

/** The windows of a source, the latest first. */
async function* latest<T extends Stored>(windows: Windows, source: Source<T>): AsyncGenerator<Found> {
  const { since, until } = source.span ?? {};
  let known = 0;
  for (let window = windows.last(source, { since, until }); ;) {
    const positions = await readPositions(windows, source, window);
    yield { ...window, positions };
    const isJoined = window.until !== until && windows.join(source, window.until, known + positions.length);
    known = positions.length + (isJoined ? known : 0);
    if (window.since === since) return;
    window = windows.last(source, { since, until: window.since });
  }
}

/** The windows of a source, the earliest first. Those with very many documents are divided before. */
async function* earliest<T extends Stored>(windows: Windows, source: Source<T>): AsyncGenerator<Found> {
  const { since, until } = source.span ?? {};
  for (let window = windows.first(source, { since, until }); ;) {
    const positions = await readPositions(windows, source, window);
    const narrower = windows.first(source, { since: window.since, until });
    yield {
      ...narrower,
      positions: positions.filter(({ at }) => narrower.until === undefined || at < narrower.until.getTime()),
    };
    if (narrower.until === until) return;
    window = windows.first(source, { since: narrower.until, until });
  }
}

/** The positions in a window. Served by the index alone. */
async function readPositions<T extends Stored>(
  windows: Windows,
  { rest: _, ...source }: Source<T>,
  window: Span,
): Promise<Position[]> {
  const positions = await findPositions(source, window);
  positions.sort((a, b) => a.at - b.at);
  windows.learn(
    source,
    window,
    positions.map(({ at }) => at),
  );
  return positions;
}

async function findPositions<T extends Stored>(source: Source<T>, window: Span): Promise<Position[]> {
  const stages = [...matching(source, window), { $project: { _id: 1, at: `$${source.time}` } }];
  const found = await read(() => source.collection.aggregate<{ _id: string; at: Date }>(stages).toArray());
  return found.map(({ _id: id, at }) => ({ at: at.getTime(), id }));
}

/** More than all documents. Between two conditions, it keeps the server from joining them to one with another index. */
const apart = { $limit: 2 ** 31 - 1 };

/** What a list matches in a window, as the stages of an aggregation. */
export function matching<T extends Stored>({ where, time, rest }: Source<T>, window: Span | undefined): Document[] {
  const isRestricted = rest !== undefined && Object.keys(rest).length > 0;
  return [{ $match: { ...where, ...within(time, window) } }, ...(isRestricted ? [apart, { $match: rest }] : [])];
}

/** Before all dates that are stored. Without a lower bound, documents without the date would be read, too. */
const beforeAll = new Date(-1);

/**
 * A condition on a date. Dates in BSON are whole milliseconds, so the lower bound is written as "after the millisecond
 * before": SecantusDB misses values that equal a `$gte` when it walks an index in which another field precedes this one
 * in descending order.
 */
function within(field: string, { since, until }: Span = {}): Document {
  const from = since === undefined || since < beforeAll ? beforeAll : new Date(since.getTime() - 1);
  return { [field]: { $gt: from, ...(until !== undefined && { $lt: until }) } };
}

// Lists ------------------------------------------------------------------------------------------------------------

/**
 * Positions of a list in its order, at most `most`.
 * @param searched the documents that are searched for those that match further conditions, besides as many as are skipped
 * @returns the positions, and where the search ended if it did not go through the list
 * @throws {ProblemError} invalid-request if the search finds less than what an offset skips
 */
async function listPositions<T extends Stored>(
  windows: Windows,
  source: Source<T>,
  start: PageStart,
  most: number,
  searched: number,
): Promise<{ readonly listed: Position[]; readonly cutAt: Position | undefined }> {
  const listed: Position[] = [];
  const after = 'after' in start ? start.after : undefined;
  const skipped = 'offset' in start ? start.offset : 0;
  const byId = source.ties === 'descending' ? -1 : 1;
  const compare = (a: Position, b: Position): number => b.at - a.at || (a.id === b.id ? 0 : a.id < b.id ? -byId : byId);
  // Otherwise a large offset would be refused even if nearly everything matches.
  let left = source.rest === undefined ? Infinity : searched + skipped;
  for await (const found of latest(windows, after === undefined ? source : upTo(source, new Date(after.at)))) {
    const matched = await matchedIn(source, found);
    const behind = after === undefined ? matched : matched.filter((position) => compare(position, after) > 0);
    for (const position of behind.toSorted(compare)) listed.push(position);
    left -= found.positions.length;
    if (listed.length >= skipped + most) break;
    if (left <= 0 && found.since !== undefined && found.since !== source.span?.since) {
      if (listed.length < skipped) throw offsetBeyondSearch();
      return { listed: listed.slice(skipped), cutAt: { at: found.since.getTime() - 1, id: '' } };
    }
  }
  return { listed: listed.slice(skipped, skipped + most), cutAt: undefined };
}

/** The positions in a window that match the further conditions, too. */
async function matchedIn<T extends Stored>(
  source: Source<T>,
  { positions, ...window }: Found,
): Promise<readonly Position[]> {
  return source.rest === undefined || positions.length === 0 ? positions : findPositions(source, window);
}

/** The part of a source up to an instant, inclusive. */
function upTo<T extends Stored>(source: Source<T>, at: Date): Source<T> {
  const { since, until } = source.span ?? {};
  const end = new Date(at.getTime() + 1);
  return { ...source, span: { since, until: until === undefined || end < until ? end : until } };
}

/**
 * Counts a list.
 * @param searched the documents that are searched for those that match further conditions
 */
async function total<T extends Stored>(windows: Windows, source: Source<T>, searched: number): Promise<Total> {
  const { counted, isWhole } = await countUpTo(windows, source, countedMost + 1, searched);
  return isWhole ? totalOf(counted) : { atLeast: Math.min(counted, countedMost) };
}

/** Counts what a list matches, the latest first. */
async function countUpTo<T extends Stored>(
  windows: Windows,
  source: Source<T>,
  most: number,
  searched = Infinity,
): Promise<{ readonly counted: number; readonly isWhole: boolean }> {
  let counted = 0;
  let left = source.rest === undefined ? Infinity : searched;
  for await (const found of latest(windows, source)) {
    if (counted >= most || left <= 0) return { counted: Math.min(counted, most), isWhole: false };
    counted += (await matchedIn(source, found)).length;
    left -= found.positions.length;
  }
  return { counted: Math.min(counted, most), isWhole: true };
}

// Walks ------------------------------------------------------------------------------------------------------------

/** Reads a source window by window. One that the limit cuts is read only as far as it goes. */
async function* walk<T extends Stored>(
  windows: Windows,
  source: Source<T>,
  { projection = {}, limit }: WalkOptions = {},
): AsyncGenerator<T[]> {
  const { collection, where, time, ties, rest } = source;
  const byId = ties === 'descending' ? -1 : 1;
  let left = limit ?? Infinity;
  for await (const { positions, since, until } of earliest(windows, source)) {
    if (positions.length === 0) continue;
    const last = rest === undefined ? positions[left - 1] : undefined;
    const window = { since, until: last === undefined ? until : new Date(last.at + 1) };
    const stages = [
      ...matching(source, window),
      ...(Object.keys(projection).length > 0 ? [{ $project: projection }] : []),
    ];
    const found = await read(() =>
      rest === undefined
        ? collection.find({ ...where, ...within(time, window) } as Filter<T>, { projection }).toArray()
        : collection.aggregate<Document>(stages).toArray(),
    );
    const sorted = (found as T[]).sort(
      (a, b) => (a[time] as Date).getTime() - (b[time] as Date).getTime() || (a._id < b._id ? -byId : byId),
    );
    const some = sorted.slice(0, left);
    left -= some.length;
    if (some.length > 0) yield some;
    if (left <= 0) return;
  }
}

// Groups -----------------------------------------------------------------------------------------------------------

/** Counts both groups, and groups the earliest documents of each. */
async function groupByDue<T extends Stored, Group>(
  windows: Windows,
  source: Omit<UnrestrictedSource<T>, 'span'>,
  now: Date,
  group: Document,
): Promise<DueGroups<Group>> {
  const split = new Date(now.getTime() + 1);
  const counted = async (span: Span): Promise<(Group & { count: number }) | undefined> => {
    let [count, until] = [0, span.until];
    for await (const { positions } of earliest(windows, { ...source, span })) {
      const last = positions[groupedMost - count - 1];
      if (last !== undefined) until = new Date(last.at + 1);
      count += positions.length;
    }
    if (count === 0) return undefined;
    const stages = [...matching(source, { ...span, until }), { $group: { _id: null, ...group } }];
    const [found] = await read(() => source.collection.aggregate<Document>(stages).toArray());
    // They may all have gone since they were counted.
    return found === undefined ? undefined : { ...(found as Group), count };
  };
  const [due, later] = [await counted({ until: split }), await counted({ since: split })];
  return { due, later, isEstimated: Math.max(due?.count ?? 0, later?.count ?? 0) > groupedMost };
}

/** As `groupByDue` for values with many documents; the others are grouped together. */
async function groupAllByDue<T extends Stored, Group>(
  windows: Windows,
  { collection, field, time }: Divided<T>,
  now: Date,
  group: Document,
): Promise<ReadonlyMap<string, DueGroups<Group>>> {
  const groups = new Map<string, DueGroups<Group>>();
  for (const { range, value } of gapsBetween(windows, collection, field, { after: '' })) {
    const key = { value: `$${field}`, isDue: { $lte: [`$${time}`, now] } };
    const stages = [{ $match: { [field]: range } }, { $group: { _id: key, count: { $sum: 1 }, ...group } }];
    const found = dueGroups(await read(() => collection.aggregate<DueGroupDocument<Group>>(stages).toArray()));
    for (const [one, both] of found) {
      groups.set(one, both);
      await learnOf(windows, { collection, where: { [field]: one }, time }, countOf(both));
    }
    if (value === undefined) continue;
    const source = { collection, where: { [field]: value }, time };
    groups.set(value, await groupByDue(windows, source, now, group));
  }
  return groups;
}

function countOf<Group>({ due, later }: DueGroups<Group>): number {
  return (due?.count ?? 0) + (later?.count ?? 0);
}

/** The first of each value with many documents is looked up; of the others, all are read. */
async function* firsts<T extends Stored>(
  windows: Windows,
  { collection, field, time }: Divided<T>,
  { from, before }: ValueSpan,
): AsyncGenerator<{ value: string; at: Date }[]> {
  for (const { range, value } of gapsBetween(windows, collection, field, { from, before })) {
    const filter = { [field]: range } as Filter<T>;
    const found = await read(() => collection.find(filter, { projection: { [field]: 1, [time]: 1 } }).toArray());
    const times = Map.groupBy(found, (document) => document[field] as string);
    yield [...times].map(([one, some]) => ({
      value: one,
      at: some.reduce((first, { [time]: at }) => ((at as Date) < first ? (at as Date) : first), lastInstant),
    }));
    for (const [one, some] of times) {
      await learnOf(windows, { collection, where: { [field]: one }, time }, some.length);
    }
    if (value === undefined) continue;
    for await (const { positions } of earliest(windows, { collection, where: { [field]: value }, time })) {
      const [first] = positions;
      if (first === undefined) continue;
      yield [{ value, at: new Date(first.at) }];
      break;
    }
  }
}

const lastInstant = new Date(8.64e15);

/** Learns the windows of a source with many documents. */
async function learnOf<T extends Stored>(windows: Windows, source: Source<T>, documents: number): Promise<void> {
  if (documents > groupedMost) await countUpTo(windows, source, Infinity);
}

/**
 * Divides a range of values by those with many documents: the last of these is undefined.
 * @returns each value, and the range before it
 */
function gapsBetween<T extends Stored>(
  windows: Windows,
  { collectionName }: Collection<T>,
  field: string,
  { from, after, before }: { from?: string; after?: string; before?: string | undefined },
): { readonly range: Document; readonly value: string | undefined }[] {
  const values = windows
    .large(collectionName, field)
    .map(({ value }) => value)
    .filter(
      (value) =>
        (from === undefined ? value > (after ?? '') : value >= from) && (before === undefined || value < before),
    );
  const start = from === undefined ? { $gt: after ?? '' } : { $gte: from };
  return [...values, undefined].map((value, index) => {
    const [lower, end] = [values[index - 1], value ?? before];
    return {
      range: { ...(lower === undefined ? start : { $gt: lower }), ...(end !== undefined && { $lt: end }) },
      value,
    };
  });
}

// Values and ids ---------------------------------------------------------------------------------------------------

function rangeOfIds({ after, before }: IdRange): Document {
  return { $gt: after, ...(before !== undefined && { $lt: before }) };
}

async function findValues<T extends Stored>(
  collection: Collection<T>,
  field: string,
  range: Document,
): Promise<string[]> {
  const filter = { [field]: range } as Filter<T>;
  const found = await read(() => collection.find(filter, { projection: { [field]: 1 } }).toArray());
  return found.map((document) => document[field] as string);
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}

async function remove<T extends Stored>(
  windows: Windows,
  { collection, where, along }: Selection<T>,
  pause: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const removeAll = async (filter: Document): Promise<number> => {
    const { deletedCount } = await writeIdempotently(() => collection.deleteMany(filter as Filter<T>));
    await pause();
    return deletedCount;
  };
  if ('time' in along) {
    for await (const { positions } of latest<T>(windows, { collection, where, time: along.time })) {
      for (let start = 0; start < positions.length; start += idsAtOnce) {
        await removeAll({ _id: { $in: positions.slice(start, start + idsAtOnce).map(({ id }) => id) } });
      }
    }
  } else if ('id' in along) {
    const ranges = walkIds('', async (range) => {
      const documents = await removeAll({ ...where, [along.id]: range });
      return { documents, result: documents };
    });
    while ((await ranges.next()).done !== true);
  } else {
    // An interrupted removal has left a gap below.
    for (let done = 0, width = numbersAtOnce; done < maxNumber;) {
      const removed = await removeAll({ ...where, [along.number]: { $gt: done, $lt: done + width + 1 } });
      done += width;
      width = removed > 0 ? numbersAtOnce : width * 8;
    }
  }
}

/** The most ranges of ids that a walk has: by their first three digits. */
const idRanges = 4_096;

/**
 * Walks UUIDs, which are evenly distributed, by ranges of some hundred documents each. The ranges adapt to the number
 * of documents that were found.
 *
 * @param after the id to begin after
 * @param visit returns how many documents it found
 */
async function* walkIds<Result>(
  after: string,
  visit: (range: {
    readonly $gt: string;
    readonly $lt?: string;
  }) => Promise<{ readonly documents: number; readonly result: Result }>,
): AsyncGenerator<Result> {
  let $gt = after;
  for (let start = Number.parseInt(after.slice(0, 3) || '0', 16), width = 1; start < idRanges;) {
    const end = Math.min(start + width, idRanges);
    const { documents, result } = await visit({ $gt, ...(end !== idRanges && { $lt: firstOf(end) }) });
    yield result;
    // All ids that begin with these digits are greater than the digits alone.
    $gt = firstOf(end);
    start = end;
    width = Math.max(1, Math.min(width * 4, Math.floor((idsAtOnce * width) / (documents + 1))));
  }
}

function firstOf(start: number): string {
  return start.toString(16).padStart(3, '0');
}
