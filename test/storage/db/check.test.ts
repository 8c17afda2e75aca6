import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Collection, Db, IndexDescription } from 'mongodb';
import { checkDatabase } from '../../../src/storage/db/check.ts';
import { connectDatabase } from '../../../src/storage/db/client.ts';
import { createTestDatabase, testDatabaseUri, type TestDatabase } from '../../support/database.ts';
import { silentLog } from '../../support/log.ts';
import { LossyProxy } from '../../support/lossy-proxy.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** The database, with one changed behaviour of its collections. */
function deviating(changes: (collection: Collection) => Partial<Record<keyof Collection, unknown>>): Db {
  const override = <T extends object>(target: T, own: object): T =>
    new Proxy(target, {
      get(object, name) {
        const value: unknown = Reflect.get({ ...own, __proto__: object }, name);
        return typeof value === 'function' ? value.bind(object) : value;
      },
    });
  return override(database.db, {
    collection: (name: string) => {
      const collection = database.db.collection(name);
      return override(collection, changes(collection));
    },
  });
}

describe('checkDatabase', () => {
  it('accepts a working database, leaves nothing behind, and can run several times at once', async () => {
    await Promise.all([1, 2, 3, 4].map(() => checkDatabase(database.db)));
    expect(await database.db.collection('database_check').countDocuments()).toBe(0);
  });

  it('begins again when the connection breaks during a check', async () => {
    const proxy = await LossyProxy.start(testDatabaseUri());
    const { db, close } = await connectDatabase({
      uri: proxy.uri,
      databaseName: database.db.databaseName,
      log: silentLog,
    });
    const lost = proxy.lose({ of: 'request', collection: 'database_check', commands: ['insert'] });
    await expect(checkDatabase(db)).resolves.toBeUndefined();
    await lost;
    await close();
    await proxy.stop();
  });

  it('reports a unique index that is not unique', async () => {
    await database.db.dropDatabase();
    const db = deviating((collection) => ({
      createIndexes: (indexes: IndexDescription[]) =>
        collection.createIndexes(
          indexes.map((index) => ('value' in index.key ? { key: index.key, name: 'any' } : index)),
        ),
    }));
    await expect(checkDatabase(db)).rejects.toThrow(
      /does not work as this service requires:\n- unique index: two documents may have the same value\nUse MongoDB .*DATABASE_CHECK=off/s,
    );
    await database.db.dropDatabase();
  });

  it('reports a value that cannot be used again after it was replaced', async () => {
    // Imitates a server that keeps the former value in its index.
    const db = deviating((collection) => ({
      updateOne: async (filter: object, change: { $set?: { value?: string } }, options: object) => {
        if (change.$set?.value === undefined) return collection.updateOne(filter, change, options);
        const value: unknown = (await collection.findOne(filter))?.['value'];
        const result = await collection.updateOne(filter, change, options);
        await collection.insertOne({ _id: `${String(value)}-kept` as never, value });
        return result;
      },
    }));
    await expect(checkDatabase(db)).rejects.toThrow(/- unique index: a value that was replaced stays taken\n/);
  });

  it('reports a unique index that does not see the values of arrays', async () => {
    await database.db.dropDatabase();
    const db = deviating((collection) => ({
      createIndexes: (indexes: IndexDescription[]) =>
        collection.createIndexes(indexes.filter(({ key }) => 'value' in key)),
    }));
    await expect(checkDatabase(db)).rejects.toThrow(
      /\n- unique index over arrays: arrays of two documents may have the same value\n/,
    );
    await database.db.dropDatabase();
  });

  it('reports several problems, one on each line', async () => {
    const db = deviating((collection) => ({
      createIndexes: () => Promise.reject(new Error('partial indexes are not supported')),
      updateOne: () => Promise.resolve({ matchedCount: 1, upsertedCount: 1 }),
      insertMany: () => collection.insertOne({ _id: 'something else' as never }),
    }));
    const failure: unknown = await checkDatabase(db).catch((error: unknown) => error);
    expect((failure as Error).name).toBe('DatabaseStartError');
    const lines = (failure as Error).message.split('\n').filter((line) => line.startsWith('- '));
    expect(lines).toEqual(
      expect.arrayContaining([
        '- unique index with a filter: partial indexes are not supported',
        '- compare-and-set: not exactly one of two writers won',
        '- upsert: the second of two upserts inserted too',
        '- array push and pull: the array is [] instead of [2,4]',
        expect.stringMatching(/^- sorted range read: the read found .* instead of 5,4,3$/),
      ]),
    );
    await database.db.dropDatabase();
  });
});
