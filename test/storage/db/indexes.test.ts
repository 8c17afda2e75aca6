import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createIndex, ensureIndexes, expiryIndex, type CollectionIndexes } from '../../../src/storage/db/indexes.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const prompts: CollectionIndexes = {
  collection: 'prompts',
  indexes: [
    { name: 'slug_unique', key: { slug: 1 }, unique: true },
    { name: 'newest_first', key: { updated_at: -1, _id: 1 } },
    expiryIndex,
  ],
};

describe('ensureIndexes', () => {
  it('creates indexes once, even if several processes start together', async () => {
    await Promise.all([1, 2, 3].map(() => ensureIndexes(database.db, [prompts])));
    await ensureIndexes(database.db, [prompts]);
    const names = (await database.db.collection('prompts').indexes()).map(({ name }) => name);
    expect(names.sort()).toEqual(['_id_', 'expires_at_1__id_1', 'newest_first', 'slug_unique']);
  });

  it('leaves the missing indexes of a collection with documents to the migrator', async () => {
    const events = database.db.collection('events');
    await events.insertOne({ slug: 'a' });
    const declared = { collection: 'events', indexes: [{ name: 'slug', key: { slug: 1 } }, expiryIndex] };
    await events.createIndex({ slug: 1 }, { name: 'slug' });
    expect(await ensureIndexes(database.db, [declared])).toEqual([{ collection: 'events', index: expiryIndex }]);
    expect((await events.indexes()).map(({ name }) => name)).toEqual(['_id_', 'slug']);
  });

  it('names collection and index when an index exists with other options', async () => {
    await ensureIndexes(database.db, [{ collection: 'other', indexes: [{ name: 'slug', key: { slug: 1 } }] }]);
    const conflicting = { collection: 'other', indexes: [{ name: 'slug', key: { slug: 1 }, unique: true }] };
    await expect(ensureIndexes(database.db, [conflicting])).rejects.toThrow(
      /Index "slug" of collection "other" exists with other keys or options/,
    );
  });
});

describe('createIndex', () => {
  it('applies to the writes that follow, on every connection, and so does dropping an index', async () => {
    const slugs = database.db.collection('slugs');
    const together = (count: number): Promise<unknown> =>
      Promise.all(Array.from({ length: count }, () => slugs.insertOne({ slug: 'a' })));
    await together(5);
    await createIndex(database.db, { collection: 'slugs', index: { name: 'slug', key: { slug: 1 } } });
    await together(5);
    await slugs.updateMany({}, { $set: { slug: 'b' } });
    expect(await slugs.countDocuments({ slug: 'b' }, { hint: 'slug' })).toBe(10);
    await slugs.dropIndex('slug');
    await slugs.deleteMany({});
    await slugs.insertOne({ slug: 'a' });
    await createIndex(database.db, { collection: 'slugs', index: { name: 'slug', key: { slug: 1 }, unique: true } });
    await expect(together(1)).rejects.toThrow(/duplicate key/i);
    await slugs.dropIndex('slug');
    await together(5);
    expect(await slugs.countDocuments()).toBe(6);
  });

  it('reports documents that violate a unique index', async () => {
    await database.db.collection('twins').insertMany([{ slug: 'a' }, { slug: 'a' }]);
    const unique = { collection: 'twins', index: { name: 'slug', key: { slug: 1 }, unique: true } };
    await expect(createIndex(database.db, unique)).rejects.toThrow(
      'Index "slug" of collection "twins" must be unique, but documents in the collection share a value.',
    );
  });
});
