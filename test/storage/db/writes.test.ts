import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Collection } from 'mongodb';
import { gatherInserts } from '../../../src/storage/db/bulk-writes.ts';
import { ensureIndexes } from '../../../src/storage/db/indexes.ts';
import {
  compareAndSet,
  insertOnce,
  read,
  upsertOnce,
  writeIdempotently,
  type StampedDocument,
} from '../../../src/storage/db/writes.ts';
import { ProblemError } from '../../../src/base/errors/problem-error.ts';
import { createTestDatabase, testDatabaseUri, type TestDatabase } from '../../support/database.ts';
import { LossyProxy } from '../../support/lossy-proxy.ts';

interface Note extends StampedDocument {
  slug: string;
  text?: string;
  count?: number;
  tags?: string[];
}

let proxy: LossyProxy;
let database: TestDatabase;
let notes: Collection<Note>;

beforeAll(async () => {
  proxy = await LossyProxy.start(testDatabaseUri());
  database = await createTestDatabase(proxy.uri);
  notes = database.db.collection<Note>('notes');
  await ensureIndexes(database.db, [
    { collection: 'notes', indexes: [{ name: 'slug_unique', key: { slug: 1 }, unique: true }] },
  ]);
});
afterEach(() => {
  proxy.forget();
});
afterAll(async () => {
  await database.drop();
  await proxy.stop();
});

const seen = (name: string): number => proxy.seen.filter((command) => command.name === name).length;

/** Fails the test if nothing is thrown. */
async function thrownBy(action: Promise<unknown>): Promise<unknown> {
  return action.then(
    () => {
      throw new Error('nothing was thrown');
    },
    (error: unknown) => error,
  );
}

async function expectUnavailable(action: Promise<unknown>): Promise<void> {
  const error = await thrownBy(action);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ type: 'database-unavailable', status: 503, headers: { 'Retry-After': '2' } });
}

describe('insertOnce', () => {
  it('stores the document with revision 1 and its write id', async () => {
    expect(await insertOnce(notes, { _id: 'a', slug: 'a' }, { writeId: 'w1' })).toEqual({ outcome: 'done' });
    expect(await notes.findOne({ _id: 'a' })).toEqual({ _id: 'a', slug: 'a', revision: 1, writes: ['w1'] });
  });

  it('names the fields of the unique index that refuses the document', async () => {
    await insertOnce(notes, { _id: 'b', slug: 'b' });
    expect(await insertOnce(notes, { _id: 'b2', slug: 'b' })).toEqual({ outcome: 'duplicate' });
    expect(await insertOnce(notes, { _id: 'b', slug: 'b2' })).toEqual({ outcome: 'duplicate' });
    expect(await notes.countDocuments({ slug: { $in: ['b', 'b2'] } })).toBe(1);
  });

  it('succeeds when its answer was lost, and does not count its own document as a duplicate', async () => {
    const lost = proxy.lose({ commands: ['insert'] });
    expect(await insertOnce(notes, { _id: 'c', slug: 'c' })).toEqual({ outcome: 'done' });
    await lost;
    expect(seen('insert')).toBe(2);
    expect(await notes.findOne({ _id: 'c' })).toMatchObject({ revision: 1, slug: 'c' });
  });

  it('succeeds when the request was lost before the server received it', async () => {
    const lost = proxy.lose({ of: 'request', commands: ['insert'] });
    expect(await insertOnce(notes, { _id: 'd', slug: 'd' })).toEqual({ outcome: 'done' });
    await lost;
    expect(await notes.countDocuments({ _id: 'd' })).toBe(1);
  });

  it('is repeated and succeeds when the server could not confirm the write', async () => {
    const lost = proxy.lose({ of: 'confirmation', commands: ['insert'], times: 2 });
    expect(await insertOnce(notes, { _id: 'd2', slug: 'd2' })).toEqual({ outcome: 'done' });
    await lost;
    expect(seen('insert')).toBe(3);
  });

  it('fails with 503 while the server cannot confirm', async () => {
    const lost = proxy.lose({ of: 'confirmation', commands: ['insert'], times: 3 });
    await expectUnavailable(insertOnce(notes, { _id: 'd3', slug: 'd3' }, { attempts: 3 }));
    await lost;
  });

  it('does not mistake the document of another write for its own after a lost request', async () => {
    const lost = proxy.lose({ of: 'request', commands: ['insert'] });
    await notes.updateOne({ _id: 'e' }, { $set: { slug: 'e' } }, { upsert: true });
    expect(await insertOnce(notes, { _id: 'e', slug: 'e2' })).toEqual({ outcome: 'duplicate' });
    await lost;
  });

  it('recognises a write id that the caller chose, in several calls', async () => {
    const write = { writeId: 'stable' };
    expect(await insertOnce(notes, { _id: 'f', slug: 'f' }, write)).toEqual({ outcome: 'done' });
    expect(await insertOnce(notes, { _id: 'f', slug: 'f' }, write)).toEqual({ outcome: 'done' });
  });
});

describe('gathered inserts', () => {
  const gathered = () => database.db.collection<Note>('gathered');
  const of = (ids: readonly string[]) => {
    const insert = gatherInserts(gathered());
    return Promise.all(ids.map(async (_id, index) => (await insert({ _id, slug: String(index) })).outcome));
  };

  it('write the documents of many callers by one command', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `many-${index}`);
    expect(new Set(await of(ids))).toEqual(new Set(['done']));
    expect(seen('insert')).toBe(1);
    const stored = await gathered()
      .find({ _id: { $in: ids } })
      .toArray();
    expect(stored.map(({ revision, writes }) => [revision, writes.length])).toEqual(ids.map(() => [1, 1]));
  });

  it('tell callers with the same id apart, in one command and in two', async () => {
    expect((await of(['same', 'same', 'other'])).sort()).toEqual(['done', 'done', 'duplicate']);
    expect(await of(['same', 'third'])).toEqual(['duplicate', 'done']);
  });

  it('succeed when their answer was lost, or could not be confirmed', async () => {
    for (const kind of ['answer', 'request', 'confirmation'] as const) {
      const lost = proxy.lose({ of: kind, commands: ['insert'] });
      expect(await of([`${kind}-1`, `${kind}-2`])).toEqual(['done', 'done']);
      await lost;
    }
    expect(await gathered().countDocuments({ _id: /-[12]$/, revision: 1 })).toBeGreaterThanOrEqual(6);
  });
});

describe('compareAndSet', () => {
  it('changes the document and increments the revision', async () => {
    await insertOnce(notes, { _id: 'g', slug: 'g', text: 'old' }, { writeId: 'w1' });
    const change = { $set: { slug: 'g2' }, $unset: { text: true } } as const;
    const result = await compareAndSet(notes, { id: 'g', revision: 1, change }, { writeId: 'w2' });
    expect(result).toEqual({ outcome: 'done', revision: 2 });
    expect(await notes.findOne({ _id: 'g' })).toEqual({ _id: 'g', slug: 'g2', revision: 2, writes: ['w1', 'w2'] });
  });

  it("keeps the caller's own $inc and $push", async () => {
    await insertOnce(notes, { _id: 'h', slug: 'h', count: 1, tags: [] });
    await compareAndSet(notes, { id: 'h', revision: 1, change: { $inc: { count: 2 }, $push: { tags: 'x' } } });
    expect(await notes.findOne({ _id: 'h' })).toMatchObject({ count: 3, tags: ['x'], revision: 2 });
  });

  it('accepts an update pipeline', async () => {
    await insertOnce(notes, { _id: 'i', slug: 'i', count: 4 }, { writeId: 'w1' });
    const change = [{ $set: { count: { $multiply: ['$count', 2] }, text: { $literal: '$count' } } }];
    await compareAndSet(notes, { id: 'i', revision: 1, change }, { writeId: 'w2' });
    expect(await notes.findOne({ _id: 'i' })).toMatchObject({
      count: 8,
      text: '$count',
      revision: 2,
      writes: ['w1', 'w2'],
    });
  });

  it('is lost when another write was first, and returns the current document', async () => {
    await insertOnce(notes, { _id: 'j', slug: 'j' });
    await compareAndSet(notes, { id: 'j', revision: 1, change: { $set: { text: 'first' } } });
    const result = await compareAndSet(notes, { id: 'j', revision: 1, change: { $set: { text: 'second' } } });
    expect(result).toMatchObject({ outcome: 'lost', document: { text: 'first', revision: 2 } });
  });

  it('is lost when an additional condition is false', async () => {
    await insertOnce(notes, { _id: 'k', slug: 'k', text: 'closed' });
    const attempt = { id: 'k', revision: 1, where: { text: 'open' }, change: { $set: { count: 1 } } };
    expect(await compareAndSet(notes, attempt)).toMatchObject({ outcome: 'lost', document: { revision: 1 } });
  });

  it('reports that the document does not exist', async () => {
    const result = await compareAndSet(notes, { id: 'nobody', revision: 1, change: { $set: { count: 1 } } });
    expect(result).toEqual({ outcome: 'missing' });
  });

  it('names the fields of the unique index that refuses the change', async () => {
    await insertOnce(notes, { _id: 'l', slug: 'l' });
    await insertOnce(notes, { _id: 'm', slug: 'm' });
    const result = await compareAndSet(notes, { id: 'm', revision: 1, change: { $set: { slug: 'l' } } });
    expect(result).toEqual({ outcome: 'duplicate' });
    expect(await notes.findOne({ _id: 'm' })).toMatchObject({ slug: 'm', revision: 1 });
  });

  it.each(['answer', 'request', 'confirmation'] as const)(
    'applies the change once when the %s was lost',
    async (of) => {
      const id = `n-${of}`;
      await insertOnce(notes, { _id: id, slug: id, count: 0 });
      const lost = proxy.lose({ of, commands: ['update'], times: 2 });
      const result = await compareAndSet(notes, { id, revision: 1, change: { $inc: { count: 1 } } });
      await lost;
      expect(result).toEqual({ outcome: 'done', revision: 2 });
      expect(await notes.findOne({ _id: id })).toMatchObject({ count: 1, revision: 2 });
    },
  );

  it('succeeds when its answer was lost and others have written since', async () => {
    await insertOnce(notes, { _id: 'o', slug: 'o', count: 0 });
    const lost = proxy.lose({ commands: ['update'] });
    const slow = compareAndSet(notes, { id: 'o', revision: 1, change: { $inc: { count: 1 } } }, { writeId: 'mine' });
    await lost;
    const other = { id: 'o', revision: 2, change: { $inc: { count: 10 } } };
    const [first, second] = await Promise.all([slow, compareAndSet(notes, other)]);
    expect(first).toEqual({ outcome: 'done', revision: 2 });
    expect(second).toEqual({ outcome: 'done', revision: 3 });
    expect(await notes.findOne({ _id: 'o' })).toMatchObject({ count: 11, revision: 3 });
  });

  it('loses no update and counts no revision twice with twenty writers and lost answers', async () => {
    await insertOnce(notes, { _id: 'p', slug: 'p', count: 0 });
    const lost = proxy.lose({ commands: ['update'], times: 10 });
    const revisions = await Promise.all(Array.from({ length: 20 }, () => increment('p')));
    await lost;
    expect(revisions.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 2));
    const document = await notes.findOne({ _id: 'p' });
    expect(document).toMatchObject({ count: 20, revision: 21 });
    expect(document?.writes).toHaveLength(16);
  });
});

/** Reads, adds one, and writes. Starts again if another write was first. */
async function increment(id: string): Promise<number> {
  for (;;) {
    const document = await read(() => notes.findOne({ _id: id }));
    if (document === null) throw new Error('gone');
    const { revision, count = 0 } = document;
    const result = await compareAndSet(notes, { id, revision, change: { $set: { count: count + 1 } } });
    if (result.outcome === 'done') return result.revision;
  }
}

describe('upsertOnce', () => {
  it('stores the first content of an id and does not change it', async () => {
    const snapshots = database.db.collection<{ _id: string; content: string }>('snapshots');
    expect(await upsertOnce(snapshots, { _id: 'x:1', content: 'first' })).toEqual({ outcome: 'done' });
    expect(await upsertOnce(snapshots, { _id: 'x:1', content: 'second' })).toEqual({ outcome: 'done' });
    expect(await snapshots.find().toArray()).toEqual([{ _id: 'x:1', content: 'first' }]);
  });

  it('survives lost answers and simultaneous calls', async () => {
    const snapshots = database.db.collection<{ _id: string; content: string }>('simultaneous');
    const lost = proxy.lose({ commands: ['update'], times: 3 });
    const calls = Array.from({ length: 10 }, () => upsertOnce(snapshots, { _id: 'y:1', content: 'same' }));
    expect(new Set((await Promise.all(calls)).map(({ outcome }) => outcome))).toEqual(new Set(['done']));
    await lost;
    expect(await snapshots.countDocuments()).toBe(1);
  });

  it('reports another unique index that refuses the document', async () => {
    await insertOnce(notes, { _id: 'q', slug: 'q' });
    const result = await upsertOnce(notes, { _id: 'q2', slug: 'q', revision: 1, writes: [] });
    expect(result).toEqual({ outcome: 'duplicate' });
  });
});

describe('reads and idempotent writes', () => {
  it('reads again after a lost answer', async () => {
    await insertOnce(notes, { _id: 'r', slug: 'r' });
    const lost = proxy.lose({ commands: ['find'] });
    expect(await read(() => notes.findOne({ _id: 'r' }))).toMatchObject({ slug: 'r' });
    await lost;
  });

  it('repeats a delete after a lost answer', async () => {
    await insertOnce(notes, { _id: 's', slug: 's' });
    const lost = proxy.lose({ commands: ['delete'] });
    await writeIdempotently(() => notes.deleteOne({ _id: 's' }));
    await lost;
    expect(await notes.countDocuments({ _id: 's' })).toBe(0);
  });

  it('rethrows other errors', async () => {
    const error = await thrownBy(read(() => notes.find({ $nonsense: 1 }).toArray()));
    expect(error).not.toBeInstanceOf(ProblemError);
  });
});

/** Less than the 15 s after which the driver itself gives up. */
const patienceMs = 14_000;

describe('an outage', () => {
  const everyHelper = (): Promise<unknown>[] => [
    insertOnce(notes, { _id: 't', slug: 't' }),
    compareAndSet(notes, { id: 'a', revision: 1, change: { $set: { count: 1 } } }),
    upsertOnce(notes, { _id: 't2', slug: 't2', revision: 1, writes: [] }),
    writeIdempotently(() => notes.deleteOne({ _id: 'nobody' })),
    read(() => notes.findOne({ _id: 'a' })),
    database.ping(),
  ];

  it('leads to a 503 within seconds when the server has stopped, and ends without a restart when it is back', async () => {
    await proxy.stop();
    const started = performance.now();
    await Promise.all(everyHelper().map(expectUnavailable));
    expect(performance.now() - started).toBeLessThan(patienceMs);
    await proxy.restart();
    await database.ping();
    expect(await insertOnce(notes, { _id: 'u', slug: 'u' })).toEqual({ outcome: 'done' });
  });

  it('leads to a 503 within seconds when the server hangs, and ends when it continues', async () => {
    proxy.pause();
    const started = performance.now();
    await Promise.all(everyHelper().map(expectUnavailable));
    expect(performance.now() - started).toBeLessThan(patienceMs);
    proxy.resume();
    await database.ping();
    expect(await insertOnce(notes, { _id: 'v', slug: 'v' })).toEqual({ outcome: 'done' });
  });

  it('of one second does not fail a write', async () => {
    await proxy.stop();
    const write = insertOnce(notes, { _id: 'w', slug: 'w' });
    setTimeout(() => void proxy.restart(), 1_000);
    expect(await write).toEqual({ outcome: 'done' });
  });
});
