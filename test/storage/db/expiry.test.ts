import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createExpiry } from '../../../src/storage/db/expiry.ts';
import { ensureIndexes, expiryIndex, type CollectionIndexes } from '../../../src/storage/db/indexes.ts';
import { withWindowedPages } from '../../../src/storage/db/windowed-pages.ts';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import { withPlainPages } from '../../../src/storage/db/plain-pages.ts';
import { silentLog } from '../../support/log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const indexes: readonly CollectionIndexes[] = [
  { collection: 'first', indexes: [expiryIndex] },
  { collection: 'second', indexes: [expiryIndex] },
  { collection: 'lasting', indexes: [{ name: 'other', key: { other: 1 } }] },
];
const start = Date.parse('2026-11-06T08:30:00Z');
const hour = 3_600_000;

let database: TestDatabase;
let now: Date;
beforeAll(async () => {
  database = await createTestDatabase();
  await ensureIndexes(database.db, indexes);
});
afterAll(() => database.drop());
beforeEach(async () => {
  for (const name of ['first', 'second', 'lasting', 'expiry']) await database.db.collection(name).deleteMany({});
  now = new Date(start);
});

async function insert(collection: string, times: readonly (number | undefined)[]): Promise<void> {
  await database.db.collection<{ _id: string }>(collection).insertMany(
    times.map((at, index) => ({
      _id: `${collection}-${at ?? 'never'}-${index}`,
      ...(at === undefined ? {} : { expires_at: new Date(at) }),
    })),
  );
}

async function timesOf(collection: string): Promise<unknown[]> {
  const documents = await database.db.collection(collection).find().sort({ _id: 1 }).toArray();
  return documents.map((document) => (document['expires_at'] as Date | undefined)?.getTime());
}

const servers: [string, () => PagedDatabase][] = [
  ['reads in the order of an index', () => withPlainPages(database)],
  ['fetches whatever a filter matches', () => withWindowedPages(database)],
];

describe.each(servers)('expiry on a server that %s', (_name, open) => {
  const expiry = (log = silentLog) => createExpiry({ database: open(), indexes, now: () => now, log, tellEveryMs: 0 });

  it('removes expired documents, and no others', async () => {
    for (const name of ['first', 'second', 'lasting'])
      await insert(name, [0, start - 40 * 24 * hour, start - 1, start, start + 1, undefined]);
    await expiry()();
    expect(await timesOf('first')).toEqual([start, start + 1, undefined]);
    expect(await timesOf('second')).toEqual([start, start + 1, undefined]);
    expect(await timesOf('lasting')).toHaveLength(6);
  });

  it('continues where this process or another one stopped, at any time', async () => {
    const sweep = expiry();
    await sweep();
    const times = Array.from({ length: 500 }, (_, index) => start + index * 3_000);
    await insert('first', [...times, start + 5 * hour]);
    now = new Date(start + hour / 5);
    await sweep();
    expect(await timesOf('first')).toHaveLength(501 - 240);
    now = new Date(start + 2 * hour);
    await expiry()();
    expect(await timesOf('first')).toEqual([start + 5 * hour]);
  });

  it('removes any number of documents that expire at once', async () => {
    await insert(
      'first',
      Array.from({ length: 1_050 }, () => start - 1),
    );
    await expiry()();
    expect(await timesOf('first')).toEqual([]);
  });

  it('says how far it is, and needs few commands after days without a process', async () => {
    await expiry()();
    await insert(
      'first',
      Array.from({ length: 1_050 }, (_, index) => start + (index % 10) * 24 * hour + index),
    );
    now = new Date(start + 10 * 24 * hour);
    const lines: Record<string, unknown>[] = [];
    const note = (fields: Record<string, unknown>): void => void lines.push(fields);
    await expiry({ info: note, warn: note })();
    expect(await timesOf('first')).toEqual([]);
    const told = lines.filter(({ collection }) => collection === 'first').map(({ removed }) => removed as number);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(new Set(told).size).toBeGreaterThan(2);
    expect(told.at(-1)).toBe(1_050);
    expect(told.length).toBeLessThan(500);
  });

  it('finds documents before the position of an earlier process', async () => {
    await expiry()();
    await insert('first', [start - 10 * hour]);
    await expiry()();
    expect(await timesOf('first')).toEqual([]);
  });
});
