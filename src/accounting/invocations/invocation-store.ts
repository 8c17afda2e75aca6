import { fromStored } from '../../base/runtime/money.ts';
import { insertMissing } from '../../storage/db/bulk-writes.ts';
import { createDayCollections } from '../../storage/db/day-collections.ts';
import { ensureIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase, Source, Span } from '../../storage/db/pages.ts';
import { read, writeIdempotently } from '../../storage/db/writes.ts';
import { countedMost, totalOf, type Entry, type Listing } from '../../base/lists/listing.ts';
import type {
  CallAttemptDocument,
  CalledDocument,
  InvocationDocument,
  InvocationFilter,
  CanaryFailures,
} from './invocation.ts';
import { dayOf, timeOf } from './invocation-id.ts';
import { dayIndexes, invocationSource } from './invocation-lists.ts';

/**
 * The records, in a collection for each day, which is dropped as a whole: removing millions of documents one by one
 * would cost more than storing them. Every method can throw `database-unavailable`.
 */
export interface InvocationStore {
  /** Makes the collection of a day with its indexes, unless it exists. */
  prepare(day: string): Promise<void>;
  /** Stores the records whose ids are not taken: the first with an id counts. @returns the ids that were taken */
  insert(documents: readonly InvocationDocument[]): Promise<string[]>;
  find(id: string): Promise<InvocationDocument | undefined>;
  /** The attempts of records. */
  attemptsOf(ids: readonly string[]): Promise<CallAttemptDocument[][]>;
  /** Removes the tags of a record. */
  eraseTags(id: string): Promise<void>;
  /** Newest first. */
  list(filter: InvocationFilter): Listing<InvocationDocument>;
  /** The earliest first. @param after the id of the record after which it begins; it may no longer exist */
  walk(filter: InvocationFilter, after?: string): AsyncIterable<InvocationDocument[]>;
  /** What records say about calls, of a span, the earliest first. */
  called(span: Required<Span>): AsyncIterable<CalledDocument[]>;
  /** The failures that count for a canary, of invocations that began since then. */
  canaryFailures(id: string, since: Date): Promise<CanaryFailures[]>;
  /** The days that have a collection, the newest first. */
  days(): Promise<string[]>;
  drop(day: string): Promise<void>;
}

const prefix = 'invocations_';
/** Milliseconds after which no further day of a list is counted. */
const countMs = 2_000;
/** Less to read is less to decode. */
const calledFields = {
  ...{ _id: 1, created_at: 1, author: 1, prompt_id: 1, prompt_slug: 1, prompt_version: 1, tags: 1 },
  ...{
    'attempts.provider': 1,
    'attempts.model': 1,
    'attempts.status': 1,
    'attempts.usage': 1,
    'attempts.usage_source': 1,
  },
  ...{ 'attempts.cost': 1, 'attempts.estimate': 1 },
} as const;

export function createInvocationStore({ db, pages }: PagedDatabase): InvocationStore {
  const collections = createDayCollections<InvocationDocument>(db, prefix);
  const { of: collectionOf, days } = collections;
  const prepared = new Map<string, Promise<unknown>>();
  const lists = pages.listsOf((document: InvocationDocument) => document, { isLong: true });

  const prepare = async (day: string): Promise<void> => {
    let preparing = prepared.get(day);
    if (preparing === undefined) {
      preparing = ensureIndexes(db, pages.indexes([{ collection: prefix + day, ...dayIndexes }]));
      prepared.set(day, preparing);
      preparing.catch(() => prepared.delete(day));
    }
    await preparing;
  };
  const daysIn = async ({ since, until }: Span): Promise<string[]> => {
    const first = since === undefined ? '' : dayOf(since.getTime());
    const last = until === undefined ? '99999999' : dayOf(until.getTime());
    return (await days()).filter((day) => day >= first && day <= last);
  };
  const sourceOf = (day: string, filter: InvocationFilter): Source<InvocationDocument> =>
    invocationSource(collectionOf(day), filter);

  return {
    prepare,
    async insert(documents) {
      const byDay = Map.groupBy(documents, ({ created_at }) => dayOf(created_at.getTime()));
      const taken: string[] = [];
      for (const [day, some] of byDay) {
        await prepare(day);
        taken.push(...(await insertMissing(collectionOf(day), some.map(toStored))));
      }
      return taken;
    },
    async find(id) {
      const time = timeOf(id);
      if (time === undefined) return undefined;
      return (await read(() => collectionOf(dayOf(time)).findOne({ _id: id }))) ?? undefined;
    },
    async attemptsOf(ids) {
      const byDay = Map.groupBy(ids, (id) => dayOf(timeOf(id) ?? 0));
      const found = [...byDay].map(([day, some]) =>
        read(() =>
          collectionOf(day)
            .find({ _id: { $in: some } }, { projection: { attempts: 1 } })
            .toArray(),
        ),
      );
      return (await Promise.all(found)).flat().map(({ attempts }) => attempts);
    },
    async eraseTags(id) {
      const day = dayOf(timeOf(id) ?? 0);
      await writeIdempotently(() => collectionOf(day).updateOne({ _id: id }, { $unset: { tags: true } }));
    },
    list: (filter) => ({
      async *entries(start, most) {
        const after = 'after' in start ? start.after : undefined;
        const last = after === undefined ? undefined : dayOf(after.at);
        let skipped = 'offset' in start ? start.offset : 0;
        let left = most;
        for (const day of await daysIn(filter)) {
          if (last !== undefined && day > last) continue;
          const source = sourceOf(day, filter);
          let found = 0;
          for await (const entry of lists(source).entries(day === last ? start : { offset: skipped }, left)) {
            yield entry;
            if (isCut(entry)) return;
            found += 1;
          }
          left -= found;
          if (left <= 0) return;
          if (skipped > 0) skipped = found > 0 ? 0 : skipped - (await pages.count(source, skipped));
        }
      },
      async total() {
        const end = performance.now() + countMs;
        let sum = 0;
        for (const day of await daysIn(filter)) {
          if (sum > countedMost || performance.now() > end) return { atLeast: Math.min(sum, countedMost) };
          const total = await lists(sourceOf(day, filter)).total();
          if (typeof total !== 'number') return { atLeast: Math.min(sum + total.atLeast, countedMost) };
          sum += total;
        }
        return totalOf(sum);
      },
    }),
    async *walk(filter, after) {
      const time = after === undefined ? undefined : timeOf(after);
      const from = time === undefined ? filter.since : latest(filter.since, new Date(time));
      for (const day of (await daysIn({ ...filter, since: from })).reverse()) {
        const source = { ...sourceOf(day, { ...filter, since: from }), ties: 'ascending' as const };
        for await (const found of pages.walk(source)) {
          yield time === undefined ? found : found.splice(0).filter((document) => isAfter(document, time, after));
        }
      }
    },
    async *called({ since, until }) {
      if (since === undefined || until === undefined) return;
      for (const day of (await daysIn({ since, until })).reverse()) {
        const source = sourceOf(day, { since, until });
        yield* pages.walk(source, { projection: calledFields });
      }
    },
    async canaryFailures(id, since) {
      const grouped = (await daysIn({ since })).map((day) =>
        read(() =>
          collectionOf(day)
            .aggregate<{ _id: Omit<CanaryFailures, 'count'>; count: number }>([
              { $match: { rollout_failure: id } },
              { $group: { _id: { share: '$rollout.share', arm: '$rollout.arm' }, count: { $sum: 1 } } },
            ])
            .toArray(),
        ),
      );
      return (await Promise.all(grouped)).flat().map(({ _id, count }) => ({ ..._id, count }));
    },
    days,
    async drop(day) {
      await collections.drop(day);
      prepared.delete(day);
    },
  };
}

/** Costs are stored as int64. Until then they are numbers, because the journal has records as JSON. */
function toStored(document: InvocationDocument): InvocationDocument {
  if (document.attempts.length === 0) return document;
  const { cost, attempts } = document;
  return {
    ...document,
    ...(cost !== undefined && { cost: fromStored(cost) }),
    attempts: attempts.map((attempt) => {
      const { cost: paid, estimate } = attempt;
      if (paid === undefined && estimate === undefined) return attempt;
      return {
        ...attempt,
        ...(paid !== undefined && { cost: fromStored(paid) }),
        ...(estimate?.cost !== undefined && { estimate: { ...estimate, cost: fromStored(estimate.cost) } }),
      };
    }),
  };
}

function isAfter({ _id, created_at }: InvocationDocument, time: number, after = ''): boolean {
  return created_at.getTime() !== time || _id > after;
}

function isCut([, , cut]: Entry<unknown>): boolean {
  return cut === true;
}

function latest(one: Date | undefined, other: Date): Date {
  return one !== undefined && one > other ? one : other;
}
