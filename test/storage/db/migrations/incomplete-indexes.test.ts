import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Collection, CountDocumentsOptions, Db, Document } from 'mongodb';
import { connectDatabase, type Database } from '../../../../src/storage/db/client.ts';
import { dropIndex, indexNames } from '../../../../src/storage/db/indexes.ts';
import { dropIncompleteIndexes } from '../../../../src/storage/db/migrations/0005-incomplete-indexes.ts';
import { testDatabaseUri } from '../../../support/database.ts';
import { silentLog } from '../../../support/log.ts';

let database: Database;
beforeAll(async () => {
  database = await connectDatabase({ uri: testDatabaseUri(), databaseName: `test_${randomUUID()}`, log: silentLog });
  const things = database.db.collection<{ _id: string }>('things');
  await things.createIndexes([
    { key: { time: 1 }, name: 'time_1' },
    { key: { name: 1, time: 1 }, name: 'name_1_time_1' },
    { key: { rare: 1 }, name: 'rare_1', sparse: true },
    { key: { tag: 1 }, name: 'tag_1', partialFilterExpression: { tag: { $gt: '' } } },
    { key: { 'list.id': 1 }, name: 'list.id_1' },
  ]);
  await things.insertMany(
    Array.from({ length: 40 }, (_, time) => ({
      _id: `${time}`,
      time,
      ...(time % 2 === 0 && { name: `name ${time}` }),
      ...(time % 4 === 0 && { rare: time, tag: `tag ${time}` }),
      list: Array.from({ length: time % 3 }, (_each, id) => ({ id })),
    })),
  );
});
afterAll(() => database.close());

/** A database in which an index has one document less than it should have. */
function lacking(db: Db, index: string): Db {
  const count =
    (things: Collection) =>
    async (filter: Document, options: CountDocumentsOptions = {}): Promise<number> =>
      (await things.countDocuments(filter, options)) - (options.hint === index ? 1 : 0);
  const collection = (name: string): Collection => {
    const real = db.collection(name);
    return Object.assign(Object.create(real) as Collection, { countDocuments: count(real) });
  };
  return Object.assign(Object.create(db) as Db, { collection });
}

async function namesAfter(readsInOrder: boolean, incomplete: string): Promise<string[]> {
  const { db } = database;
  await dropIncompleteIndexes.run({
    pages: { readsInOrder },
    change: (_subject, command) => command(lacking(db, incomplete)),
    dropIndex: (collection, name) => dropIndex(db, collection, name),
  });
  return [...(await indexNames(db, 'things'))].map(String).sort();
}

it('drops only indexes that lack documents, on servers that can leave such', async () => {
  const all = ['_id_', 'list.id_1', 'name_1_time_1', 'rare_1', 'tag_1', 'time_1'];
  expect(await namesAfter(false, 'none')).toEqual(all);
  expect(await namesAfter(true, 'time_1')).toEqual(all);
  expect(await namesAfter(false, 'time_1')).toEqual(all.slice(0, -1));
  expect(await namesAfter(false, 'tag_1')).toEqual(all.slice(0, -2));
});
