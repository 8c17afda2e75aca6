import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BSON, type Db } from 'mongodb';
import { gatherReadsById, readByValue } from '../../../src/storage/db/raw-reads.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

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

it('reads by id for several callers with one command', async () => {
  const collection = database.db.collection<{ _id: string; text: string }>('by_id');
  await collection.insertMany(['a', 'b', 'c'].map((_id) => ({ _id, text: `text ${_id}` })));
  let commands = 0;
  const counted = {
    readConcern: database.db.readConcern,
    command: (command: object, options: object) => {
      commands += 1;
      return database.db.command(command, options);
    },
  } as unknown as Db;
  const { find, findAll } = gatherReadsById(counted, 'by_id', ({ text }: { _id: string; text: string }) => text);
  const found = await Promise.all([find('a'), findAll(['b', 'missing', 'a', 'b']), find('missing')]);
  expect(found).toEqual([
    'text a',
    new Map([
      ['b', 'text b'],
      ['a', 'text a'],
    ]),
    undefined,
  ]);
  expect(commands).toBe(1);
});
