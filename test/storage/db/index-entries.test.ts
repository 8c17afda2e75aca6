import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MongoServerError, type Collection, type Document } from 'mongodb';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

interface Item extends Document {
  readonly _id: string;
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const values = ['a', 'b', 'c', 1, 1.5, true, null, new Date(0), new Date(1), ['a', 'b'], [], ['c', ['a']], { in: 'a' }];
const value = fc.constantFrom(...values);
const field = fc.constantFrom('plain', 'sparse', 'part', 'state', 'many', 'descending', 'expires');
const id = fc.constantFrom('1', '2', '3', '4', '5');
const fields = fc.dictionary(field, value, { maxKeys: 5 });
const code = fc.constantFrom('x', 'y', 'z', undefined);
const nested = fc.constantFrom('a', 'b', null);

/** Some documents have no code, or the same nested values. */
const content = fc.record({ fields, code, nested }).map(({ fields: some, code: unique, nested: text }) => ({
  ...some,
  ...(unique === undefined ? {} : { code: unique }),
  list: [{ text }, { text: 'c' }],
}));

type Step = (collection: Collection<Item>) => Promise<unknown>;
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(id, content).map(
    ([_id, all]): Step =>
      (items) =>
        items.insertOne({ _id, ...all }),
  ),
  fc.tuple(id, content).map(
    ([_id, all]): Step =>
      (items) =>
        items.replaceOne({ _id }, all),
  ),
  fc.tuple(id, fields, field).map(
    ([_id, set, unset]): Step =>
      (items) =>
        items.updateOne({ _id }, { $set: { ...set, touched: true }, $unset: { [unset]: '' } }).catch(conflicting),
  ),
  fc.tuple(fc.array(id), field, value).map(
    ([ids, name, set]): Step =>
      (items) =>
        items.updateMany({ _id: { $in: ids } }, { $set: { [name]: set } }),
  ),
  fc.tuple(id, fc.constantFrom('x', 'y', 'z')).map(
    ([_id, unique]): Step =>
      (items) =>
        items.updateOne({ _id }, { $set: { code: unique } }),
  ),
  fc.tuple(id, nested).map(
    ([_id, text]): Step =>
      (items) =>
        items.updateOne({ _id }, { $set: { 'list.0.text': text } }),
  ),
  id.map(
    (_id): Step =>
      (items) =>
        items.deleteOne({ _id }),
  ),
);

/** The same field set and unset. */
function conflicting(error: unknown): void {
  if (!(error instanceof MongoServerError && error.code === 40)) throw error;
}

const searches: readonly Document[] = [
  ...['plain', 'sparse', 'many', 'descending'].flatMap((name) => [
    ...values.map((each) => ({ [name]: each })),
    { [name]: { $gt: 'a' } },
    { [name]: { $lte: new Date(1) } },
    { [name]: { $in: ['a', 'c', 1] } },
    { [name]: { $exists: true } },
  ]),
  ...['a', 'b', 'c'].map((each) => ({ part: each, state: 'b' })),
  ...['a', 'b'].map((each) => ({ part: { $gte: each }, state: { $gt: 'a' } })),
  { 'list.text': 'a' },
  { 'list.text': null },
  { code: 'x' },
  { code: null },
  { expires: { $lt: new Date(1) } },
];

it('finds the same by its indexes, after any changes, as without them', async () => {
  const indexed: Collection<Item> = database.db.collection('indexed');
  const bare: Collection<Item> = database.db.collection('bare');
  await indexed.createIndexes([
    { key: { plain: 1 }, name: 'plain' },
    { key: { sparse: 1, _id: 1 }, name: 'sparse', sparse: true },
    { key: { part: 1 }, name: 'part', partialFilterExpression: { state: { $gt: 'a' } } },
    { key: { many: 1, state: 1 }, name: 'many' },
    { key: { descending: -1, _id: 1 }, name: 'descending' },
    { key: { 'list.text': 1 }, name: 'list' },
    { key: { code: 1 }, name: 'code', unique: true, partialFilterExpression: { code: { $gt: '' } } },
    // None expires during the test.
    { key: { expires: 1 }, name: 'expires', expireAfterSeconds: 2_000_000_000 },
  ]);
  const find = async (items: Collection<Item>, search: Document): Promise<string[]> =>
    (await items.find(search).toArray()).map(({ _id }) => _id).sort();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await Promise.all([indexed.deleteMany({}), bare.deleteMany({})]);
      for (const change of steps) {
        const before = await bare.find().toArray();
        const [refusal] = await Promise.all([
          change(indexed).then(() => undefined, duplicateOf),
          change(bare).catch(duplicateOf),
        ]);
        const codes = (await bare.find({ code: { $gt: '' } }).toArray()).map(({ code: unique }) => String(unique));
        const isTaken = new Set(codes).size < codes.length;
        if (isTaken) {
          expect(refusal).toBeDefined();
          await bare.deleteMany({});
          await bare.insertMany(before);
        }
      }
      expect(await indexed.find().sort({ _id: 1 }).toArray()).toEqual(await bare.find().sort({ _id: 1 }).toArray());
      for (const search of searches) {
        expect({ search, found: await find(indexed, search) }).toEqual({ search, found: await find(bare, search) });
      }
    }),
    { numRuns: 10, seed: 20 },
  );
});

function duplicateOf(error: unknown): MongoServerError {
  if (error instanceof MongoServerError && error.code === 11_000) return error;
  throw error;
}
