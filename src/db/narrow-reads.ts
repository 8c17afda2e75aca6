/**
 * Reads and walks of many documents by commands that each match few.
 *
 * MongoDB reads only what an answer needs. Some compatible servers fetch every document that a filter matches, whatever
 * the limit, order or projection is, and block all other commands meanwhile. Measured with 25,000 documents of 1 KB on
 * SecantusDB 0.7.0b3 (its Python server), in milliseconds for which others are blocked:
 *
 * - All documents of one owner, `limit: 100`: 440, and 780 when the order has two fields.
 * - A range of an indexed field behind the equalities that precede it in the same index: 200 documents 10, 600 18,
 *   2,000 56. This is the only shape that stays narrow.
 * - The same range of 600 with one more condition in the filter: 600, because its planner then uses one field. In an
 *   aggregation, put that condition into a second `$match`; MongoDB merges the two.
 * - `count` walks the whole collection and `hint`, `min` and `max` the whole index. A range of `_id` walks the
 *   collection. An aggregation that counts reads what its first `$match` matches.
 * - `_id` with `$in`: 100 ids 12; 1,000 ids 740, because it grows with the square.
 * - A field with a unique index of its own and `$in`: 8 values 1.1, 32 values 2.9, found or not. Any other field with
 *   `$in`, and `$or` of whatever conditions, walks the collection: 2,400 with 20,000 documents.
 * - If a filter has several fields and no index for all of them, the first field with an index decides: `_id` comes
 *   first.
 *
 * Where to divide a range is not known beforehand, and finding it out would read everything. So one document of 64,
 * chosen by its id, is also in a small index of samples. Samples show how a collection is distributed over time, at a
 * 64th of the cost.
 */
import { BSON, type Collection, type Document, type Filter } from 'mongodb';
import type { PageStart, Position, Total } from '../lists/listing.ts';
import type { CollectionIndexes } from './indexes.ts';
import { timeRange } from './time-range.ts';
import { read } from './writes.ts';

/** A span of time: from `since`, inclusive, to before `until`. Without one of them it is open at that end. */
export interface Span {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** One of this many documents is a sample. */
export const sampling = 64;
/** Samples in a part of a span: about 250 documents. */
const samplesPerPart = 4;
/**
 * The most parts of a span, so that a million documents do not need thousands of commands. Beyond that, parts are
 * larger.
 */
const maxParts = 128;
/** Ids that one command looks up at first, and of documents that may be large. */
export const idsAtOnce = 100;
const fewAtOnce = 8;

/** Parts that are read at the same time for a list that has few of the documents. */
const widest = 4;

/**
 * Whether the document with this id is a sample. @param id a UUID, random or made from a hash, so that its digits are
 * evenly distributed
 */
export function isSample(id: string): boolean {
  return Number.parseInt(id.slice(0, 2), 16) < 256 / sampling;
}

/** What the samples of a collection have in common if it has only one list. */
export const everySample = 'all' as const;

/** Documents of which one in 64 is a sample. */
export interface Sampled {
  /** What the samples of its list have in common. */
  sample?: string;
}

/**
 * Marks a new document as a sample, if its id makes it one. @param group what the samples of its list have in common
 */
export function sampleField(id: string, group: string = everySample): Sampled {
  return isSample(id) ? { sample: group } : {};
}

/** The index of samples. @param time the date that orders the list */
export function sampleIndex(time: string, field = 'sample'): CollectionIndexes['indexes'][number] {
  return {
    key: { [field]: 1, [time]: 1 },
    name: `${field}_1_${time}_1`,
    partialFilterExpression: { [field]: { $gt: '' } },
  };
}

/** Where the documents of a list are found. */
export interface Source<T extends Document & { _id: string }> {
  readonly collection: Collection<T>;
  /** Equalities on the fields that precede `time` in an index. */
  readonly where: Document;
  /** The date that orders the list, the newest first. Ties are ordered by id, ascending unless said otherwise. */
  readonly time: string & keyof T;
  readonly ties?: 'descending';
  /** Equality that an index of samples, `[its field, time]`, begins with. */
  readonly samples: Document;
  /** What else the samples of the list have in common, if their index contains those of more lists. */
  readonly samplesRest?: Document;
  readonly span: Span;
  /** Further conditions. */
  readonly rest?: Document;
  /** Samples in a part, 4 when left out. Fewer where documents are large. */
  readonly samplesPerPart?: number;
}

/** Divides a span into parts of some hundred documents each, the earliest first. */
export async function cut<T extends Document & { _id: string }>(source: Source<T>): Promise<Span[]> {
  return divide(source, await sampleTimes(source));
}

/** The times of the samples of a list, in no order. @param rest a further condition on them */
async function sampleTimes<T extends Document & { _id: string }>(
  { collection, samples, samplesRest, time, span }: Source<T>,
  rest?: Document,
): Promise<number[]> {
  const further = [samplesRest, rest].filter((condition) => condition !== undefined);
  const stages = [{ ...samples, ...within(time, span) }, ...further].map((filter) => ({ $match: filter }));
  const found = await read(() => collection.aggregate<T>([...stages, { $project: { _id: 0, [time]: 1 } }]).toArray());
  return found.map((document) => (document[time] as Date).getTime());
}

/** Divides a span at some of its samples. */
function divide<T extends Document & { _id: string }>(
  { span, samplesPerPart: perPart = samplesPerPart }: Source<T>,
  sampled: readonly number[],
): Span[] {
  const times = sampled.toSorted((x, y) => x - y);
  const step = Math.max(perPart, Math.ceil(times.length / maxParts));
  const bounds = [...new Set(times.filter((_, index) => index > 0 && index % step === 0))].map((at) => new Date(at));
  return [...bounds, undefined].map((until, index) => ({
    since: index === 0 ? span.since : bounds[index - 1],
    until: until ?? span.until,
  }));
}

/** Milliseconds before the end of a span in which a page is looked for first, and the least samples in them. */
const recently = [3_600_000, 86_400_000];
const enoughSamples = 8;

/**
 * Divides a span as `cut`, the latest parts first. It looks at the last hour or day of a long list first, so that its
 * first page does not read the samples of all of it.
 */
async function* latestParts<T extends Document & { _id: string }>(source: Source<T>): AsyncGenerator<Span[]> {
  const { since: first, until } = source.span;
  const end = (until ?? new Date()).getTime();
  for (const width of recently) {
    const since = new Date(end - width);
    if (first !== undefined && first >= since) break;
    const recent = { ...source, span: { since, until } };
    const times = await sampleTimes(recent);
    if (times.length < enoughSamples) continue;
    yield divide(recent, times).reverse();
    yield (await cut({ ...source, span: { since: first, until: since } })).reverse();
    return;
  }
  yield (await cut(source)).reverse();
}

/** What a list matches in one part of its span, as the stages of an aggregation. */
export function matching<T extends Document & { _id: string }>(source: Source<T>, part: Span): Document[] {
  const { where, time, rest } = source;
  return [{ $match: { ...where, ...within(time, part) } }, ...(rest === undefined ? [] : [{ $match: rest }])];
}

/** The documents of a part by id and time, in no order. Served by the index alone unless there is a `rest`. */
export function positions<T extends Document & { _id: string }>(
  source: Source<T>,
  part: Span,
): Promise<{ _id: string; at: Date }[]> {
  const stages = [...matching(source, part), { $project: { _id: 1, at: `$${source.time}` } }];
  return read(() => source.collection.aggregate<{ _id: string; at: Date }>(stages).toArray());
}

/** Counts what a list matches. */
export async function count<T extends Document & { _id: string }>(source: Source<T>): Promise<number> {
  return countIn(source, await cut(source));
}

async function countIn<T extends Document & { _id: string }>(
  source: Source<T>,
  parts: readonly Span[],
): Promise<number> {
  let total = 0;
  await visitParts(source, [parts.toReversed()], async (part) => {
    const stages = [...matching(source, part), { $count: 'n' }];
    const [counted] = await read(() => source.collection.aggregate<{ n: number }>(stages).toArray());
    total += counted?.n ?? 0;
    return { documents: counted?.n ?? 0 };
  });
  return total;
}

/** With at least this many samples (about 4,000 documents), a list is not counted. */
const manySamples = 64;

/** As `count`, but a long list is only estimated, from its samples. */
export async function estimate<T extends Document & { _id: string }>(source: Source<T>): Promise<Total> {
  const times = await sampleTimes(source, source.rest);
  if (times.length >= manySamples) return { about: times.length * sampling };
  return source.rest === undefined ? countIn(source, divide(source, times)) : count(source);
}

/** Positions of a list in its order, at most `limit`. */
export async function listPositions<T extends Document & { _id: string }>(
  source: Source<T>,
  start: PageStart,
  most: number,
): Promise<Position[]> {
  const listed: Position[] = [];
  const after = 'after' in start ? start.after : undefined;
  const skipped = 'offset' in start ? start.offset : 0;
  const byId = source.ties === 'descending' ? -1 : 1;
  const compare = (a: Position, b: Position): number => b.at - a.at || (a.id === b.id ? 0 : a.id < b.id ? -byId : byId);
  const wanted = after === undefined ? source : upTo(source, new Date(after.at));
  await visitParts(wanted, latestParts(wanted), async (part) => {
    const found = (await positions(source, part)).map(({ _id: id, at }): Position => ({ at: at.getTime(), id }));
    const behind = after === undefined ? found : found.filter((position) => compare(position, after) > 0);
    for (const position of behind.sort(compare)) listed.push(position);
    return { documents: found.length, isDone: listed.length >= skipped + most };
  });
  return listed.slice(skipped, skipped + most);
}

/**
 * Visits the parts of a span, the latest first. Parts become wider if the list has few of the documents.
 * @param parts some of them together
 * @param visit returns how many documents it found, and whether to continue
 */
async function visitParts<T extends Document & { _id: string }>(
  source: Source<T>,
  parts: AsyncIterable<readonly Span[]> | readonly (readonly Span[])[],
  visit: (part: Span) => Promise<{ readonly documents: number; readonly isDone?: boolean }>,
): Promise<void> {
  const few = ((source.samplesPerPart ?? samplesPerPart) * sampling) / widest;
  let width = 1;
  for await (const together of parts) {
    for (let index = 0; index < together.length;) {
      const some = together.slice(index, index + width);
      const { documents, isDone } = await visit({ since: some.at(-1)?.since, until: some[0]?.until });
      if (isDone === true) return;
      index += width;
      // How many documents a filter read without an index is not known.
      width = source.rest === undefined && documents < few * width ? Math.min(2 * width, widest) : 1;
    }
  }
}

/** The part of a source up to an instant, inclusive. */
function upTo<T extends Document & { _id: string }>(source: Source<T>, at: Date): Source<T> {
  const { since, until } = source.span;
  const end = new Date(at.getTime() + 1);
  return { ...source, span: { since, until: until === undefined || end < until ? end : until } };
}

export interface FetchOptions {
  readonly projection?: Document;
  /** Bytes. If documents may be this large, few are fetched at first, and more when they turn out to be small. */
  readonly largeFrom?: number;
}

/**
 * Documents by their ids, in the order of the ids, as long as the reader wants more. Documents that no longer exist are
 * left out.
 */
export async function* fetchInOrder<T extends Document & { _id: string }>(
  collection: Collection<T>,
  ids: readonly string[],
  { projection, largeFrom }: FetchOptions = {},
): AsyncGenerator<T> {
  for (let start = 0, atOnce = largeFrom === undefined ? idsAtOnce : fewAtOnce; start < ids.length;) {
    const some = ids.slice(start, start + atOnce);
    const filter = { _id: { $in: some } } as unknown as Filter<T>;
    const found = await read(() => collection.find(filter, projection === undefined ? {} : { projection }).toArray());
    const byId = new Map(found.map((document) => [document._id as string, document as unknown as T]));
    for (const id of some) {
      const document = byId.get(id);
      if (document !== undefined) yield document;
    }
    start += atOnce;
    if (largeFrom === undefined) continue;
    const bytes = found.reduce((sum, document) => sum + BSON.calculateObjectSize(document), 0);
    if (2 * bytes < largeFrom) atOnce = Math.min(2 * atOnce, idsAtOnce);
    else if (bytes > largeFrom) atOnce = Math.max(1, Math.floor(atOnce / 2));
  }
}

/** The documents with these ids, by id. */
export async function fetchById<T extends Document & { _id: string }, Item>(
  collection: Collection<T>,
  ids: readonly string[],
  toItem: (document: T) => Item,
): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  for await (const document of fetchInOrder(collection, [...new Set(ids)])) found.set(document._id, toItem(document));
  return found;
}

/** The ids for which a document exists. */
export async function existingIds<T extends Document & { _id: string }>(
  collection: Collection<T>,
  ids: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const { _id } of fetchInOrder(collection, ids, { projection: { _id: 1 } })) found.add(_id);
  return found;
}

/** The most ranges of ids that a walk has: by their first three digits. */
const idRanges = 4_096;

/** A range of ids. */
export interface IdRange {
  readonly $gt: string;
  readonly $lt?: string;
}

/**
 * Walks UUIDs, which are evenly distributed, by ranges of some hundred documents each. The ranges adapt to the number
 * of documents that were found.
 *
 * @param after the id to begin after
 * @param visit returns how many documents it found, and whether to continue
 */
export async function walkIds(
  after: string,
  visit: (range: IdRange) => Promise<{ readonly documents: number; readonly isDone?: boolean }>,
): Promise<void> {
  let $gt = after;
  for (let start = Number.parseInt(after.slice(0, 3) || '0', 16), width = 1; start < idRanges;) {
    const end = Math.min(start + width, idRanges);
    const { documents, isDone } = await visit({ $gt, ...(end === idRanges ? {} : { $lt: firstOf(end) }) });
    if (isDone === true) return;
    // All ids that begin with these digits are greater than the digits alone.
    $gt = firstOf(end);
    start = end;
    width = Math.max(1, Math.min(width * 4, Math.floor((idsAtOnce * width) / (documents + 1))));
  }
}

function firstOf(start: number): string {
  return start.toString(16).padStart(3, '0');
}

function within(field: string, { since, until }: Span): Document {
  const range = timeRange(since, until);
  // A filter without a condition would use no index.
  return { [field]: range ?? { $gt: new Date(-1) } };
}
