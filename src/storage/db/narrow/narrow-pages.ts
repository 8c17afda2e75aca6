/**
 * Lists and walks of many documents by commands that each match few. Samples (`samples.ts`) show where to divide them.
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
import type { Collection, Document, Filter, Sort } from 'mongodb';
import { countedMost, totalOf, type PageStart, type Position, type Total } from '../../../base/lists/listing.ts';
import { earliest } from '../../../base/runtime/instants.ts';
import type { Database } from '../client.ts';
import { createFetch } from '../fetch.ts';
import { dueGroups, type DueGroupDocument } from '../due-groups.ts';
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
} from '../pages.ts';
import { createTotals } from '../totals.ts';
import { read, writeIdempotently } from '../writes.ts';
import { createNarrowExpiry } from './narrow-expiry.ts';
import { findSamples, findSamplesOfGroup, markOf, sampling, withSampleIndexes, withSamples } from './samples.ts';

const listsAtOnce = 2;
/** Ids that one command looks up or removes. */
const idsAtOnce = 100;
/** Numbers that one command removes at first. */
const numbersAtOnce = 50;
/** Larger than every number. */
const maxNumber = 2 ** 31;

/** Samples in a part of a span, for about 250 documents. */
const usualSamplesPerPart = 4;
/**
 * The most parts of a span, so that a million documents do not need thousands of commands. Beyond that, parts are
 * larger.
 */
const maxParts = 128;
/** Parts that are read at the same time for a list that has few of the documents. */
const widest = 4;
/** With at least this many samples (about 500 documents), only the samples are grouped. */
const manyGroupedSamples = 8;

export interface NarrowPagesOptions {
  /** Documents that one page of a long list searches for those that match its further conditions. */
  readonly searchedMost?: number;
}

/** Adds the reads of a server that fetches everything that a filter matches, and marks samples in what is written. */
export function withNarrowPages(database: Database, { searchedMost = 10_000 }: NarrowPagesOptions = {}): PagedDatabase {
  const db = withSamples(database.db);
  const { fetch, ...reads } = createFetch(idsAtOnce);

  const listsOf: Pages['listsOf'] = (toItem, { isLong = false, ...options } = {}) => {
    const totals = createTotals<Parameters<typeof toItem>[0]>((source) =>
      total(source, isLong ? searchedMost : Infinity),
    );
    return (source) => ({
      async *entries(start, most) {
        const { listed, cutAt } = await listPositions(source, start, most, isLong ? searchedMost : Infinity);
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
    db,
    pages: {
      ...reads,
      fetch,
      listsOf,
      walk,
      count: async (source, most) => (await countUpTo(source, most)).counted,
      exists,
      groupByDue,
      groupAllByDue,
      firsts,
      remove,
      readsInOrder: false,
      listsAtOnce,
      indexes: withSampleIndexes,
      values: (collection, field, after) =>
        walkIds(after, async (range) => {
          const found = await findValues(collection, field, range);
          return { documents: found.length, result: distinct(found) };
        }),
      someValues,
      removeExpired: createNarrowExpiry({ ...database, db }, idsAtOnce),
    },
  };
}

async function exists<T extends Stored>(source: UnrestrictedSource<T>): Promise<boolean> {
  // Samples first: they are few, and if there is one, the others need not be read.
  const sampled = sampledBy(source);
  return (sampled !== undefined && (await hasAny(source, sampled.match))) || (await hasAny(source, source.where));
}

async function hasAny<T extends Stored>(
  { collection, time, span }: UnrestrictedSource<T>,
  where: Document,
): Promise<boolean> {
  const filter = { ...where, ...within(time, span) } as Filter<T>;
  return (await read(() => collection.findOne(filter, { projection: { _id: 1 } }))) !== null;
}

/** Reads a source part by part. A part with a limit is read by `find`, which returns no more than that. */
async function* walk<T extends Stored>(
  source: Source<T>,
  { projection = {}, limit }: WalkOptions = {},
): AsyncGenerator<T[]> {
  const { collection, where, time, ties, rest } = source;
  const byId = ties === 'descending' ? -1 : 1;
  let left = limit;
  for (const part of await cut(source)) {
    const stages = [
      ...matching(source, part),
      ...(Object.keys(projection).length > 0 ? [{ $project: projection }] : []),
    ];
    const options = { projection, sort: { [time]: 1 } as Sort, ...(left !== undefined && { limit: left }) };
    const found = await read(() =>
      rest === undefined
        ? collection.find({ ...where, ...within(time, part) } as Filter<T>, options).toArray()
        : collection.aggregate(stages).toArray(),
    );
    const documents = (found as unknown as T[]).sort(
      (a, b) => (a[time] as Date).getTime() - (b[time] as Date).getTime() || (a._id < b._id ? -byId : byId),
    );
    // Its reader may empty it.
    const { length } = documents;
    if (length > 0) yield left === undefined ? documents : documents.slice(0, left);
    if (left !== undefined && (left -= length) <= 0) return;
  }
}

/** Groups the samples if there are many. Otherwise it groups all documents: at most about 500. */
async function groupByDue<T extends Stored, Group>(
  source: Omit<UnrestrictedSource<T>, 'span'>,
  now: Date,
  group: Document,
): Promise<DueGroups<Group>> {
  const { collection, where, time } = source;
  type Counted = Group & { readonly count: number };
  const groupsOf = (filter: Document): Promise<(Counted & { readonly _id: boolean })[]> =>
    read(() =>
      collection
        .aggregate<Counted & { _id: boolean }>([
          { $match: filter },
          { $group: { _id: { $lte: [`$${time}`, now] }, count: { $sum: 1 }, ...group } },
        ])
        .toArray(),
    );
  const sampled = sampledBy(source);
  const samples = sampled === undefined ? [] : await groupsOf(sampled.match);
  const isEstimated = samples.reduce((sum, { count: n }) => sum + n, 0) >= manyGroupedSamples;
  const groups = isEstimated ? samples : await groupsOf(where);
  const find = (isDue: boolean): Counted | undefined => {
    const found = groups.find(({ _id }) => _id === isDue);
    return found === undefined ? undefined : { ...found, count: found.count * (isEstimated ? sampling : 1) };
  };
  return { due: find(true), later: find(false), isEstimated };
}

/** As `groupByDue`: with many samples, only these are grouped. */
async function groupAllByDue<T extends Stored, Group>(
  { collection, field, time }: Divided<T>,
  now: Date,
  group: Document,
): Promise<ReadonlyMap<string, DueGroups<Group>>> {
  const groupsOf = (from: string): Promise<DueGroupDocument<Group>[]> => {
    const key = { value: `$${field}`, isDue: { $lte: [`$${time}`, now] } };
    const stages = [{ $match: { [from]: { $gt: '' } } }, { $group: { _id: key, count: { $sum: 1 }, ...group } }];
    return read(() => collection.aggregate<DueGroupDocument<Group>>(stages).toArray());
  };
  const samples = findSamplesOfGroup(collection.collectionName, field);
  const sampled = samples === undefined ? [] : await groupsOf(samples.field);
  const isEstimated = sampled.reduce((sum, { count: n }) => sum + n, 0) >= manyGroupedSamples;
  return isEstimated ? dueGroups(sampled, sampling) : dueGroups(await groupsOf(field));
}

/**
 * Values with samples have many documents, so the first of each is looked up. Between them are values with few
 * documents, which are all read.
 */
async function* firsts<T extends Stored>(
  { collection, field, time }: Divided<T>,
  { from, before }: ValueSpan,
): AsyncGenerator<{ value: string; at: Date }[]> {
  const samples = findSamplesOfGroup(collection.collectionName, field);
  const upTo = (end: string | undefined): Document => (end === undefined ? {} : { $lt: end });
  const sampled =
    samples === undefined ? [] : await findValues(collection, samples.field, { $gte: from, ...upTo(before) });
  let start: Document = { $gte: from };
  for (const value of [...distinct(sampled).sort(), undefined]) {
    const filter = { [field]: { ...start, ...upTo(value ?? before) } } as Filter<T>;
    const found = await read(() => collection.find(filter, { projection: { [field]: 1, [time]: 1 } }).toArray());
    const earliest = new Map<string, Date>();
    for (const document of found) {
      const at = document[time] as Date;
      if (at < (earliest.get(document[field] as string) ?? lastInstant)) earliest.set(document[field] as string, at);
    }
    yield [...earliest].map(([key, at]) => ({ value: key, at }));
    if (value === undefined) return;
    const source = { collection, where: { [field]: value }, time };
    for await (const [first] of walk(source, { projection: { [time]: 1 }, limit: 1 })) {
      if (first !== undefined) yield [{ value, at: first[time] as Date }];
    }
    start = { $gt: value };
  }
}

const lastInstant = new Date(8.64e15);

async function someValues<T extends Stored>(
  collection: Collection<T>,
  field: string & keyof T,
  { after, before }: IdRange,
): Promise<string[]> {
  const range = { $gt: after, ...(before !== undefined && { $lt: before }) };
  // Samples first: a value with thousands of documents has some.
  const samples = findSamplesOfGroup(collection.collectionName, field);
  const sampled = samples === undefined ? [] : await findValues(collection, samples.field, range);
  return distinct(sampled.length > 0 ? sampled : await findValues(collection, field, range));
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
  { collection, where, along }: Selection<T>,
  pause: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const removeAll = async (filter: Document): Promise<number> => {
    const { deletedCount } = await writeIdempotently(() => collection.deleteMany(filter as Filter<T>));
    await pause();
    return deletedCount;
  };
  if ('time' in along) {
    const source: Source<T> = { collection, where, time: along.time };
    for (const part of await cut(source)) {
      const ids = (await positions(source, part)).map(({ _id }) => _id);
      for (let start = 0; start < ids.length; start += idsAtOnce) {
        await removeAll({ _id: { $in: ids.slice(start, start + idsAtOnce) } });
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

/** The samples of a source. */
interface SourceSamples {
  /** Equality that their index begins with. */
  readonly match: Document;
  /** What else they have in common with the source. */
  readonly further: readonly Document[];
  readonly perPart: number;
}

function sampledBy<T extends Stored>({ collection, where, time }: UnrestrictedSource<T>): SourceSamples | undefined {
  const samples = findSamples(collection.collectionName, where, time);
  if (samples === undefined) return undefined;
  const isSelected = Object.keys(where).some((name) => name !== samples.group);
  return {
    match: { [samples.field]: markOf(samples, where) },
    further: isSelected ? [where] : [],
    perPart: samples.perPart ?? usualSamplesPerPart,
  };
}

/** A part of a span, and how many documents it has, about. */
interface Part extends Span {
  readonly about: number;
}

/** Divides a span into parts of some hundred documents each, the earliest first. */
export async function cut<T extends Stored>(source: Source<T>): Promise<Part[]> {
  return divide(source, await sampleTimes(source));
}

/** The times of the samples of a source, in no order. */
async function sampleTimes<T extends Stored>(source: Source<T>): Promise<number[]> {
  const { collection, time, span } = source;
  const sampled = sampledBy(source);
  if (sampled === undefined) return [];
  const filters = [{ ...sampled.match, ...within(time, span) }, ...sampled.further];
  const conditions = filters.flatMap((filter, index) => [...(index === 0 ? [] : [apart]), { $match: filter }]);
  const stages = [...conditions, { $project: { _id: 0, [time]: 1 } }];
  const found = await read(() => collection.aggregate<T>(stages).toArray());
  return found.map((document) => (document[time] as Date).getTime());
}

/** Divides a span at some of its samples. */
function divide<T extends Stored>(source: Source<T>, sampled: readonly number[]): Part[] {
  const times = sampled.toSorted((x, y) => x - y);
  const step = Math.max(perPartOf(source), Math.ceil(times.length / maxParts));
  const bounds = [...new Set(times.filter((_, index) => index > 0 && index % step === 0))].map((at) => new Date(at));
  return [...bounds, undefined].map((until, index) => ({
    since: index === 0 ? source.span?.since : bounds[index - 1],
    until: until ?? source.span?.until,
    about: step * sampling,
  }));
}

function perPartOf<T extends Stored>(source: Source<T>): number {
  return sampledBy(source)?.perPart ?? usualSamplesPerPart;
}

/** Milliseconds before the end of a span that a page searches one after the other, and the least samples in them. */
const recently = [3_600_000, 86_400_000, 7 * 86_400_000];
const enoughSamples = 8;

/**
 * Divides a span as `cut`, the latest parts first. It looks at the last hour, day and week of a long list first, so that
 * its first page does not read the samples of all of it.
 */
async function* latestParts<T extends Stored>(source: Source<T>): AsyncGenerator<Part[]> {
  const { since: first, until } = source.span ?? {};
  const end = (until ?? new Date()).getTime();
  let left = until;
  for (const width of recently) {
    const since = new Date(end - width);
    if (first !== undefined && first >= since) break;
    const recent = { ...source, span: { since, until: left } };
    const times = await sampleTimes(recent);
    if (times.length < enoughSamples) continue;
    yield divide(recent, times).reverse();
    left = since;
  }
  yield (await cut({ ...source, span: { since: first, until: left } })).reverse();
}

/** More than all documents. Between two conditions, it keeps the server from joining them to one with another index. */
const apart = { $limit: 2 ** 31 - 1 };

/** What a list matches in one part of its span, as the stages of an aggregation. */
export function matching<T extends Stored>({ where, time, rest }: Source<T>, part: Span | undefined): Document[] {
  const isRestricted = rest !== undefined && Object.keys(rest).length > 0;
  return [{ $match: { ...where, ...within(time, part) } }, ...(isRestricted ? [apart, { $match: rest }] : [])];
}

/** The documents of a part by id and time, in no order. Served by the index alone unless there is a `rest`. */
function positions<T extends Stored>(source: Source<T>, part: Span): Promise<{ _id: string; at: Date }[]> {
  const stages = [...matching(source, part), { $project: { _id: 1, at: `$${source.time}` } }];
  return read(() => source.collection.aggregate<{ _id: string; at: Date }>(stages).toArray());
}

/**
 * Counts a list.
 * @param searched the documents that are searched for those that match further conditions; Infinity for a list that is
 *   not long, whose samples are read by one command
 */
async function total<T extends Stored>(source: Source<T>, searched: number): Promise<Total> {
  const parts = searched === Infinity ? [(await cut(source)).reverse()] : latestParts(source);
  const { counted, isWhole } = await countUpTo(source, countedMost + 1, parts, searched);
  return isWhole ? totalOf(counted) : { atLeast: Math.min(counted, countedMost) };
}

/** Parts of a list, the latest first, some of them together. */
type Parts = AsyncIterable<readonly Part[]> | readonly (readonly Part[])[];

/** Counts what a list matches, the latest first. */
async function countUpTo<T extends Stored>(
  source: Source<T>,
  most: number,
  parts: Parts = latestParts(source),
  searched = Infinity,
): Promise<{ readonly counted: number; readonly isWhole: boolean }> {
  let counted = 0;
  let isWhole = true;
  let left = source.rest === undefined ? Infinity : searched;
  await visitParts(source, parts, async (part) => {
    if (counted >= most || left <= 0) {
      isWhole = false;
      return { documents: 0, isDone: true };
    }
    const stages = [...matching(source, part), { $count: 'n' }];
    const [found] = await read(() => source.collection.aggregate<{ n: number }>(stages).toArray());
    const documents = found?.n ?? 0;
    counted += documents;
    left -= part.about;
    return { documents };
  });
  return { counted: Math.min(counted, most), isWhole };
}

/**
 * Positions of a list in its order, at most `most`.
 * @param searched the documents that are searched for those that match further conditions
 * @returns the positions, and where the search ended if it did not go through the list
 */
async function listPositions<T extends Stored>(
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
  const wanted = after === undefined ? source : upTo(source, new Date(after.at));
  let left = source.rest === undefined ? Infinity : searched;
  let cutAt: Position | undefined;
  await visitParts(wanted, latestParts(wanted), async (part) => {
    const found = (await positions(source, part)).map(({ _id: id, at }): Position => ({ at: at.getTime(), id }));
    const behind = after === undefined ? found : found.filter((position) => compare(position, after) > 0);
    for (const position of behind.sort(compare)) listed.push(position);
    left -= part.about;
    const isDone = listed.length >= skipped + most;
    // Entries that an offset skips have to be found first.
    if (!isDone && left <= 0 && listed.length >= skipped && part.since !== undefined) {
      cutAt = { at: part.since.getTime() - 1, id: '' };
    }
    return { documents: found.length, isDone: isDone || cutAt !== undefined };
  });
  return { listed: listed.slice(skipped, skipped + most), cutAt };
}

/**
 * Visits the parts of a span, the latest first. Parts become wider if the list has few of the documents.
 * @param visit returns how many documents it found, and whether to stop
 */
async function visitParts<T extends Stored>(
  source: Source<T>,
  parts: Parts,
  visit: (part: Part) => Promise<{ readonly documents: number; readonly isDone?: boolean }>,
): Promise<void> {
  const few = (perPartOf(source) * sampling) / widest;
  let width = 1;
  for await (const together of parts) {
    for (let index = 0; index < together.length;) {
      const some = together.slice(index, index + width);
      const about = some.reduce((sum, part) => sum + part.about, 0);
      const { documents, isDone } = await visit({ since: some.at(-1)?.since, until: some[0]?.until, about });
      if (isDone === true) return;
      index += width;
      // How many documents a filter read without an index is not known.
      width = source.rest === undefined && documents < few * width ? Math.min(2 * width, widest) : 1;
    }
  }
}

/** The part of a source up to an instant, inclusive. */
function upTo<T extends Stored>(source: Source<T>, at: Date): Source<T> {
  const { since, until } = source.span ?? {};
  const end = new Date(at.getTime() + 1);
  return { ...source, span: { since, until: until === undefined || end < until ? end : until } };
}

/**
 * A condition on a date. Dates in BSON are whole milliseconds, so the lower bound is written as "after the millisecond
 * before": SecantusDB misses values that equal a `$gte` when it walks an index in which another field precedes this one
 * in descending order. The earliest instant stays as it is: nothing is stored there, and SecantusDB cannot read the
 * millisecond before it.
 */
function within(field: string, { since, until }: Span = {}): Document {
  const range = {
    ...(since !== undefined && { $gt: new Date(Math.max(since.getTime() - 1, earliest.getTime())) }),
    ...(until !== undefined && { $lt: until }),
  };
  // A filter without a condition would use no index.
  return { [field]: Object.keys(range).length > 0 ? range : { $gt: new Date(-1) } };
}
