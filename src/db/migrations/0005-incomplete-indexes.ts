import type { Db } from 'mongodb';
import type { Migration } from './migration.ts';

/**
 * SecantusDB lists an index as soon as its build begins. If it is killed then, it keeps a part of the index, and reads by
 * it. Since there are schema versions, a build is noted (`migrator.ts`); whether one was interrupted before, only
 * counting shows. What is dropped here is built again as a missing index.
 */
export const dropIncompleteIndexes: Migration = {
  version: 5,
  title: 'drop indexes whose build was interrupted',
  async run({ pages, change, dropIndex }) {
    if (pages.readsInOrder) return;
    const collections = await change('collections', (db) => db.listCollections({}, { nameOnly: true }).toArray());
    for (const { name } of collections) {
      const incomplete = await change(name, (db) => findIncomplete(db, name));
      for (const index of incomplete) await dropIndex(name, index);
    }
  },
};

async function findIncomplete(db: Db, name: string): Promise<string[]> {
  const collection = db.collection(name);
  const incomplete: string[] = [];
  for (const { name: index = '', key, sparse, partialFilterExpression } of await collection.indexes()) {
    const anyField = { $or: Object.keys(key).map((field) => ({ [field]: { $exists: true } })) };
    const filter = partialFilterExpression ?? (sparse === true ? anyField : {});
    const before = await collection.countDocuments(filter);
    const indexed = await collection.countDocuments(filter, { hint: index });
    // Documents come and go meanwhile.
    if (indexed < before && indexed < (await collection.countDocuments(filter))) incomplete.push(index);
  }
  return incomplete;
}
