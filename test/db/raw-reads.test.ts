import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BSON, type Db } from 'mongodb';
import { readByValue } from '../../src/db/raw-reads.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

interface Page {
  readonly slug: string;
  readonly text: string;
}

let database: TestDatabase;
const place = { collection: 'pages', field: 'slug' } as const;
const parse = (bytes: Uint8Array): Page => BSON.deserialize(bytes) as Page;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('reads again for what an answer of the server could not hold', async () => {
  const slugs = ['a', 'b', 'c', 'd', 'e'];
  const pages = slugs.map((slug) => ({ slug, text: 'x'.repeat(600 * 1024) }));
  await database.db.collection<Page>('pages').insertMany(pages);
  const asked: string[][] = [];
  /** A server whose answers hold two of the documents. Not every engine has the limit of 16 MiB. */
  const narrow = {
    readConcern: database.db.readConcern,
    command: (command: { filter: { slug: { $in: string[] } }; limit: number }, options: object) => {
      asked.push(command.filter.slug.$in);
      return database.db.command({ ...command, limit: Math.min(command.limit, 2) }, options);
    },
  } as unknown as Db;
  const found = await readByValue(narrow, place, [...slugs, 'missing'], parse);
  expect([...found.values()].map(({ slug }) => slug).sort()).toEqual(slugs);
  // The last answer has less than a megabyte, so that nothing can be left out.
  expect(asked.map((values) => values.length)).toEqual([6, 4, 2]);
});

it('reads nothing for no values, and finds nothing in a collection that does not exist', async () => {
  expect((await readByValue(database.db, place, [], parse)).size).toBe(0);
  expect((await readByValue(database.db, { ...place, collection: 'none' }, ['a'], parse)).size).toBe(0);
});
