import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  MongoServerError,
  type Collection,
  type CountDocumentsOptions,
  type Document,
  type Filter,
  type FindOptions,
} from 'mongodb';
import { overriding } from '../../../src/base/runtime/overriding.ts';
import { withWindowedPages } from '../../../src/storage/db/windowed-pages.ts';
import type { PagedDatabase, Source } from '../../../src/storage/db/pages.ts';
import { withPlainPages } from '../../../src/storage/db/plain-pages.ts';
import { readPage, type Page, type PageStart, type Total } from '../../../src/base/lists/listing.ts';
import { connectDatabase, type Database } from '../../../src/storage/db/client.ts';
import { testDatabaseUri } from '../../support/database.ts';
import { silentLog } from '../../support/log.ts';

interface Item {
  _id: string;
  created_at: Date;
  integration_id: string;
  lane?: string;
  next_attempt_at?: Date;
  number: number;
}

/** More than one command reads or removes. */
const size = 1_100;
const start = Date.parse('2026-02-01T00:00:00Z');
/** Two have the same time. */
const at = (index: number): Date => new Date(start + Math.floor(index / 2) * 1_000);
const idOf = (index: number): string => createHash('sha256').update(String(index)).digest('hex').slice(0, 36);
const [first, second, third] = [1, 2, 3].map((digit) => String(digit).repeat(8)) as [string, string, string];
const items = Array.from({ length: size }, (_, index): Item => ({
  _id: idOf(index),
  created_at: at(index),
  number: index + 1,
  integration_id: index < size - 10 ? first : index < size - 5 ? second : third,
  ...(index % 2 === 0 && { lane: first, next_attempt_at: at(index) }),
}));
const newestFirst = items.toSorted(
  (a, b) => b.created_at.getTime() - a.created_at.getTime() || (a._id < b._id ? -1 : 1),
);
const oldestFirst = items.toSorted(
  (a, b) => a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1),
);
const ids = (some: readonly { _id: string }[]): string[] => some.map(({ _id }) => _id);

const connect = (): Promise<Database> =>
  connectDatabase({ uri: testDatabaseUri(), databaseName: `test_${randomUUID()}`, log: silentLog });

const servers: [string, (database: Database, options?: { searchedMost: number }) => PagedDatabase][] = [
  ['reads in the order of an index', withPlainPages],
  ['fetches whatever a filter matches', withWindowedPages],
];

describe.each(servers)('on a server that %s', (_name, open) => {
  let database: PagedDatabase;
  let collection: Collection<Item>;
  beforeAll(async () => {
    database = open(await connect());
    collection = database.db.collection('deliveries');
    await collection.insertMany(items);
    await collection.createIndex({ integration_id: 1, created_at: -1, _id: 1 });
  });

  afterAll(() => database.close());

  const all = (): Source<Item> => ({ collection, where: {}, time: 'created_at' });
  const page = async (source: Source<Item>, from: PageStart, limit: number) => {
    const { data, next } = await readPage(
      database.pages.listsOf(({ _id }: Item) => ({ _id }))(source),
      from,
      limit,
      (item) => item,
    );
    return { ids: ids(data), next };
  };

  it('lists are the newest first, by offset and by position', async () => {
    const whole = ids(newestFirst);
    const { ids: found, next } = await page(all(), { offset: 3 }, 20);
    expect(found).toEqual(whole.slice(3, 23));
    expect(await page(all(), { after: next ?? { at: 0, id: '' } }, 21)).toMatchObject({ ids: whole.slice(23, 44) });
    expect((await page(all(), { offset: 0 }, size)).ids).toEqual(whole);
    expect(await page(all(), { offset: size - 5 }, 5)).toEqual({ ids: whole.slice(-5), next: undefined });
    expect(await page(all(), { offset: size }, 5)).toEqual({ ids: [], next: undefined });
  });

  it('lists may have ties in descending order, a span, further conditions, and large documents', async () => {
    const descending = { ...all(), ties: 'descending' } as const;
    const { ids: found, next } = await page(descending, { offset: 0 }, 3);
    const wanted = ids(
      items.toSorted((a, b) => b.created_at.getTime() - a.created_at.getTime() || (a._id < b._id ? 1 : -1)),
    );
    expect([found, (await page(descending, { after: next ?? { at: 0, id: '' } }, 4)).ids]).toEqual([
      wanted.slice(0, 3),
      wanted.slice(3, 7),
    ]);
    const span = { since: at(100), until: at(110) };
    const rest = { $or: [{ number: 103 }, { number: { $gt: 107 } }] };
    const some = { ...all(), where: { integration_id: first }, span, rest };
    const matching = newestFirst.filter(({ number }) => number === 103 || (number > 107 && number <= 110));
    const begin = await page(some, { offset: 0 }, 2);
    expect(begin.ids).toEqual(ids(matching).slice(0, 2));
    expect((await page(some, { after: begin.next ?? { at: 0, id: '' } }, 9)).ids).toEqual(ids(matching).slice(2));
    const large = database.pages.listsOf(({ _id }: Item) => ({ _id }), { largeFrom: 1_000 })(all());
    const { data } = await readPage(large, { offset: 5 }, 30, (item) => item);
    expect(ids(data)).toEqual(ids(newestFirst).slice(5, 35));
  });

  it('a page continues after entries that were removed while it was read', async () => {
    const list = database.pages.listsOf(({ _id, number }: Item) => (number === size ? undefined : { _id }))(all());
    const { data, next } = await readPage(list, { offset: 0 }, 2, (item) => item);
    const [newest, other] = newestFirst;
    expect(ids(data)).toEqual(
      ids([newest, other].filter((item) => item !== undefined && item.number !== size) as Item[]),
    );
    expect(next).toEqual({ at: other?.created_at.getTime(), id: other?._id });
  });

  it('totals are exact', async () => {
    const totalOf = (source: Partial<Source<Item>>, options = {}) =>
      database.pages
        .listsOf(
          ({ _id }: Item) => _id,
          options,
        )({ ...all(), ...source })
        .total();
    expect(await totalOf({})).toBe(size);
    expect(await totalOf({ where: { integration_id: second } }, { isLong: true })).toBe(5);
    expect(await totalOf({ rest: { number: { $lte: 30 } } })).toBe(30);
  });

  it('documents are counted up to a number', async () => {
    const counts = [2_000, size, 1_000, 1].map((most) => database.pages.count(all(), most));
    expect(await Promise.all(counts)).toEqual([size, size, 1_000, 1]);
    expect(await database.pages.count({ ...all(), where: { integration_id: second } }, 1_000)).toBe(5);
  });

  it('the total of a list whose search is long is a minimum', async () => {
    const searching = open === withWindowedPages ? withWindowedPages(database, { searchedMost: 250 }) : database;
    const list = searching.pages.listsOf(({ _id }: Item) => _id, { isLong: true });
    // The first read of a list shows how to divide it.
    await list(all()).total();
    const total = await list({ ...all(), rest: { number: { $gt: 50 } } }).total();
    if (open === withPlainPages) expect(total).toBe(size - 50);
    else expect(total).toEqual({ atLeast: expect.any(Number) });
    expect(typeof total === 'number' ? total : total.atLeast).toBeLessThanOrEqual(size - 50);
  });

  it('the total of a list that is long, or takes long to count, is a minimum', async () => {
    const countedAs = async (count: (limit?: number) => Promise<number>): Promise<Total> => {
      const { collection } = all();
      const other = new Proxy(collection, {
        get(target, name) {
          if (name === 'countDocuments') return (_: Document, { limit }: CountDocumentsOptions) => count(limit);
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
      const { pages } = withPlainPages(database);
      return pages
        .listsOf(({ _id }: Item) => _id)({ ...all(), collection: other })
        .total();
    };
    expect(await countedAs(() => Promise.resolve(10_000))).toBe(10_000);
    expect(await countedAs((limit = 0) => Promise.resolve(limit))).toEqual({ atLeast: 10_000 });
    const tooLong = new MongoServerError({ code: 50, message: 'operation exceeded time limit' });
    expect(await countedAs(() => Promise.reject(tooLong))).toEqual({ atLeast: 0 });
  });

  it('a page of a long list ends where the search for rare entries has come, and the next one goes on', async () => {
    const searching = open(database, { searchedMost: 250 });
    const list = searching.pages.listsOf(({ _id }: Item) => ({ _id }), { isLong: true });
    // On the other kind of server, each first search of a page takes too long.
    const { collection: fast } = all();
    const slow = overriding(fast, {
      find: ((filter: Filter<Item>, options: FindOptions = {}) => {
        if (options.maxTimeMS === undefined) return fast.find(filter, options);
        const tooLong = new MongoServerError({ code: 50, message: 'operation exceeded time limit' });
        return { toArray: () => Promise.reject(tooLong) };
      }) as typeof fast.find,
    });
    const source = { ...all(), collection: slow, rest: { number: { $lte: 3 } } };
    await list(all()).total();
    const found: string[] = [];
    let cuts = 0;
    for (let from: PageStart | undefined = { offset: 0 }; from !== undefined;) {
      const { data, next, isCut }: Page<{ _id: string }> = await readPage(list(source), from, 10, (item) => item);
      found.push(...ids(data));
      if (isCut === true) cuts += 1;
      from = next && { after: next };
    }
    expect(found).toEqual(ids(newestFirst.filter(({ number }) => number <= 3)));
    // Windows have some hundred entries. In the order of an index, 250 are searched for each page.
    if (open === withWindowedPages) expect(cuts).toBeGreaterThan(0);
    else expect(cuts).toBe(Math.floor(size / 250));
    // What an offset skips must be found by that search, too.
    const refused = { type: 'invalid-request', errors: [{ detail: expect.any(String), parameter: 'offset' }] };
    await expect(readPage(list(source), { offset: 2 }, 10, (item) => item)).rejects.toMatchObject(refused);
    const late = { ...source, rest: { number: { $gt: size - 40 } } };
    const skipping = await readPage(list(late), { offset: 30 }, 20, (item) => item);
    expect([ids(skipping.data), skipping.isCut]).toEqual([ids(newestFirst.slice(30, 40)), true]);
    const { next: after } = skipping;
    if (after === undefined) throw new Error('The page has no next one.');
    expect((await readPage(list(late), { after }, 20, (item) => item)).data).toEqual([]);
    // Pages that are full are not cut.
    const many = { ...source, rest: { number: { $gt: 3 } } };
    const full = await readPage(list(many), { offset: 0 }, 20, (item) => item);
    expect([full.data.length, full.isCut]).toEqual([20, undefined]);
    if (open === withPlainPages) {
      const quick = await readPage(list({ ...source, collection: fast }), { offset: 0 }, 10, (item) => item);
      expect([ids(quick.data), quick.isCut]).toEqual([found, undefined]);
    }
    // Entries with an index of their own are not searched for.
    const indexed = { ...all(), where: { integration_id: third } };
    expect(await readPage(list(indexed), { offset: 0 }, 10, (item) => item)).toMatchObject({ next: undefined });
  });

  it('walks begin with the earliest, and end at a limit or when nobody reads on', async () => {
    const ordered = { ...all(), ties: 'ascending' } as const;
    const walked = await Array.fromAsync(database.pages.walk(ordered, { projection: { created_at: 1 } }));
    expect(ids(walked.flat())).toEqual(ids(oldestFirst));
    expect(Object.keys(walked[0]?.[0] ?? {}).sort()).toEqual(['_id', 'created_at']);
    const limited = await Array.fromAsync(database.pages.walk(ordered, { limit: 700 }));
    expect(ids(limited.flat()).toSorted()).toEqual(ids(oldestFirst.slice(0, 700)).toSorted());
    const some = { ...all(), span: { since: at(20), until: at(30) }, rest: { number: { $gt: 25 } } };
    expect(ids((await Array.fromAsync(database.pages.walk(some))).flat()).sort()).toEqual(
      ids(items.slice(25, 30)).sort(),
    );
    for await (const batch of database.pages.walk(ordered)) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
  });

  it('what is due is found, grouped and counted', async () => {
    const waiting = { collection, where: { lane: first }, time: 'next_attempt_at' } as const;
    const oldest = { oldest: { $min: '$created_at' } };
    const groups = await database.pages.groupByDue<Item, { oldest: Date }>(waiting, at(400), oldest);
    const { due, later, isEstimated } = groups;
    expect([due?.count, later?.count, isEstimated]).toEqual([201, size / 2 - 201, false]);
    expect(later?.oldest.getTime()).toBeGreaterThan(at(400).getTime());
    const none = { ...waiting, where: { lane: third } };
    expect(await database.pages.groupByDue(none, at(100), oldest)).toEqual({
      due: undefined,
      later: undefined,
      isEstimated: false,
    });
    const few = { ...waiting, where: { integration_id: third, lane: first } };
    expect((await database.pages.groupByDue<Item, { oldest: Date }>(few, at(0), oldest)).later?.oldest).toBeInstanceOf(
      Date,
    );
  });

  it('values are found once, also those of very many documents', async () => {
    const values = async (after: string) =>
      (await Array.fromAsync(database.pages.values(collection, 'integration_id', after))).flat().sort();
    expect([await values(''), await values(first)]).toEqual([
      [first, second, third],
      [second, third],
    ]);
    const some = (after: string, before?: string) =>
      database.pages.someValues(collection, 'integration_id', { after, before });
    expect(await some(first, third)).toEqual([second]);
    expect(await some(third)).toEqual([]);
    expect(await some('')).toContain(first);
  });

  it('documents are fetched by id, in the order of the ids', async () => {
    const wanted = [idOf(7), randomUUID(), idOf(3)];
    const found = await Array.fromAsync(database.pages.fetch(collection, wanted, { projection: { number: 1 } }));
    expect(found.map(([id, item]) => [id, item?.number])).toEqual([
      [wanted[0], 8],
      [wanted[1], undefined],
      [wanted[2], 4],
    ]);
    expect(await database.pages.existing(collection, wanted)).toEqual(new Set([wanted[0], wanted[2]]));
  });

  it('removals leave everything else', async () => {
    let pauses = 0;
    const pause = (): Promise<void> => {
      pauses += 1;
      return Promise.resolve();
    };
    const left = () => collection.countDocuments();
    const of = (integrationId: string) => ({ collection, where: { integration_id: integrationId } });
    await database.pages.remove({ ...of(third), along: { number: 'number' } });
    expect(await left()).toBe(size - 5);
    await database.pages.remove({ ...of(second), along: { id: '_id' } }, pause);
    expect(await left()).toBe(size - 10);
    await database.pages.remove({ ...of(first), along: { time: 'created_at' } }, pause);
    expect(await left()).toBe(0);
    expect(pauses).toBeGreaterThan(0);
  });
});
