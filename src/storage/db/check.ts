import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { CHECK_COLLECTION, DatabaseStartError } from './client.ts';
import { reasonOf } from '../../base/errors/problem-error.ts';
import { isDuplicateKey, isUnavailable } from './database-errors.ts';
import { withRetry } from './retry.ts';

/** A later check removes documents that a failed check left behind, once they are this many milliseconds old. */
const LEFT_FOR_MS = 60 * 60_000;
/** Milliseconds that a check and its repetitions may take together. */
const BUDGET_MS = 30_000;

interface Probe {
  _id: string;
  value?: string;
  names?: string[];
  number: number;
  list: number[];
  expires_at: Date;
}

/**
 * Checks the database features that the service needs, in its own collection, within some milliseconds. A server, proxy
 * or release that behaves differently is found at start and not in the first incident. Several processes can check at
 * the same time.
 *
 * @throws DatabaseStartError that names each failed check
 */
export async function checkDatabase(db: Db): Promise<void> {
  const collection = db.collection<Probe>(CHECK_COLLECTION);
  let failures: string[];
  try {
    failures = await withRetry(() => findFailures(collection), { budgetMs: BUDGET_MS, attempts: 3 });
  } catch (error) {
    throw new DatabaseStartError(`The database stopped answering while it was checked: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  if (failures.length === 0) return;
  throw new DatabaseStartError(
    `The database does not work as this service requires:\n${failures.join('\n')}\n` +
      'Use MongoDB 6.0 or later. DATABASE_CHECK=off starts without this check, at the risk of wrong or lost data.',
  );
}

/** Each run has ids of its own, so the checks can be repeated after the database stalled. */
async function findFailures(collection: Collection<Probe>): Promise<string[]> {
  await collection.deleteMany({ expires_at: { $lt: new Date() } });
  const failures = await attempt('unique index with a filter', makeIndexes, collection);
  const results = Object.entries(checks).map(([name, check]) => attempt(name, check, collection));
  failures.push(...(await Promise.all(results)).flat());
  return failures;
}

type Check = (collection: Collection<Probe>, run: string) => Promise<void>;

/** @returns what failed, in one line */
async function attempt(name: string, check: Check, collection: Collection<Probe>): Promise<string[]> {
  const run = randomUUID();
  try {
    await check(collection, run);
    return [];
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return [`- ${name}: ${reasonOf(error)}`];
  } finally {
    await collection.deleteMany({ _id: { $gte: run, $lt: `${run}~` } }).catch(() => undefined);
  }
}

async function makeIndexes(collection: Collection<Probe>): Promise<void> {
  await collection.createIndexes([
    { key: { value: 1 }, name: 'value_unique', unique: true, partialFilterExpression: { value: { $type: 'string' } } },
    { key: { names: 1 }, name: 'names_unique', unique: true, partialFilterExpression: { names: { $gt: '' } } },
  ]);
}

/** The checks, by the names that messages use. Ids and values begin with the run's id. */
const checks: Readonly<Record<string, Check>> = {
  'unique index': async (collection, run) => {
    await collection.insertOne(probe(`${run}-a`, { value: `${run}-1` }));
    const again = await isRefused(() => collection.insertOne(probe(`${run}-b`, { value: `${run}-1` })));
    expect(again, 'two documents may have the same value');
    await collection.updateOne({ _id: `${run}-a` }, { $set: { value: `${run}-2` } });
    const replaced = await isRefused(() => collection.insertOne(probe(`${run}-b`, { value: `${run}-1` })));
    expect(!replaced, 'a value that was replaced stays taken');
    await collection.deleteOne({ _id: `${run}-b` });
    const deleted = await isRefused(() => collection.insertOne(probe(`${run}-c`, { value: `${run}-1` })));
    expect(!deleted, 'the value of a document that was deleted stays taken');
  },
  'unique index over arrays': async (collection, run) => {
    const [one, two, three] = [`${run}-1`, `${run}-2`, `${run}-3`];
    await collection.insertOne(probe(`${run}-a`, { names: [one, two] }));
    await collection.insertOne(probe(`${run}-b`));
    const again = await isRefused(() => collection.insertOne(probe(`${run}-c`, { names: [three, two] })));
    expect(again, 'arrays of two documents may have the same value');
    const set = await isRefused(() => collection.updateOne({ _id: `${run}-b` }, { $set: { names: [two] } }));
    expect(set, 'an update may give a document the value of an array of another');
    const kept = await isRefused(() => collection.updateOne({ _id: `${run}-a` }, { $set: { names: [two, three] } }));
    expect(!kept, 'a document cannot keep a value of its array');
    const replaced = await isRefused(() => collection.insertOne(probe(`${run}-c`, { names: [one] })));
    expect(!replaced, 'a value that was removed from an array stays taken');
    await collection.deleteOne({ _id: `${run}-a` });
    const deleted = await isRefused(() => collection.insertOne(probe(`${run}-d`, { names: [two, three] })));
    expect(!deleted, 'a value of an array of a document that was deleted stays taken');
    const found = await collection.find({ names: { $in: [one, two] } }).toArray();
    const ids = found.map(({ _id }) => _id.slice(-1)).sort();
    expect(ids.join() === 'c,d', `a read by values of arrays found ${ids.join() || 'nothing'} instead of c,d`);
  },
  'duplicate _id': async (collection, run) => {
    await collection.insertOne(probe(`${run}-a`));
    const again = await isRefused(() => collection.insertOne(probe(`${run}-a`)));
    expect(again, 'two documents may have the same _id');
  },
  'compare-and-set': async (collection, run) => {
    const filter = { _id: `${run}-a`, number: 1 };
    await collection.insertOne(probe(`${run}-a`));
    const results = await Promise.all([1, 2].map(() => collection.updateOne(filter, { $inc: { number: 1 } })));
    expect(results.filter(({ matchedCount }) => matchedCount === 1).length === 1, 'not exactly one of two writers won');
    const found = await collection.findOne({ _id: `${run}-a` });
    expect(found?.number === 2, 'the document is not as the winner left it');
  },
  upsert: async (collection, run) => {
    const { _id, ...content } = probe(`${run}-a`);
    const upsert = (number: number) =>
      collection.updateOne({ _id }, { $setOnInsert: { ...content, number } }, { upsert: true });
    const [first, second] = [await upsert(1), await upsert(2)];
    expect(first.upsertedCount === 1 && second.upsertedCount === 0, 'the second of two upserts inserted too');
    expect((await collection.findOne({ _id }))?.number === 1, '$setOnInsert changed an existing document');
  },
  'array push and pull': async (collection, run) => {
    const _id = `${run}-a`;
    await collection.insertOne(probe(_id));
    await collection.updateOne({ _id }, { $push: { list: { $each: [1, 2, 3, 4], $slice: -3 } } });
    await collection.updateOne({ _id }, { $pull: { list: 3 } });
    const found = await collection.findOne({ _id });
    expect(found?.list.join() === '2,4', `the array is [${String(found?.list)}] instead of [2,4]`);
  },
  'sorted range read': async (collection, run) => {
    await collection.insertMany([3, 1, 5, 2, 4].map((number) => probe(`${run}-${number}`, { number })));
    const range = { _id: { $gt: `${run}-1`, $lte: `${run}-5` } };
    const found = await collection.find(range).sort({ _id: -1 }).limit(3).toArray();
    const numbers = found.map(({ number }) => number).join();
    expect(numbers === '5,4,3', `the read found ${numbers} instead of 5,4,3`);
  },
  'journaled majority write and read': async (collection, run) => {
    const writeConcern = { w: 'majority', journal: true } as const;
    const { acknowledged } = await collection.insertOne(probe(`${run}-a`), { writeConcern });
    expect(acknowledged, 'the write was not acknowledged');
    const found = await collection.findOne({ _id: `${run}-a` }, { readConcern: { level: 'majority' } });
    expect(found !== null, 'a majority read does not find what a majority confirmed');
  },
};

function probe(_id: string, members: Partial<Probe> = {}): Probe {
  return { _id, number: 1, list: [], expires_at: new Date(Date.now() + LEFT_FOR_MS), ...members };
}

/** Whether a unique index refused a write. */
async function isRefused(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return false;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return true;
  }
}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
