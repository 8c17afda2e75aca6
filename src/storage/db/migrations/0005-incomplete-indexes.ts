import type { CountDocumentsOptions, Document, IndexDescriptionInfo } from 'mongodb';
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
      const counted = new Map<string, number>();
      for (const index of await change(name, (db) => db.collection(name).indexes())) {
        const { name: indexName = '' } = index;
        const filter = filterOf(index);
        // Each count is a command of its own: at many documents it holds up requests for a second or two.
        const count = (options: CountDocumentsOptions = {}): Promise<number> =>
          change(name, (db) => db.collection(name).countDocuments(filter, options));
        const byIndex = (): Promise<number> => count({ hint: indexName });
        const all = counted.get(JSON.stringify(filter)) ?? (await count());
        counted.set(JSON.stringify(filter), all);
        if ((await byIndex()) >= all) continue;
        // Documents come and go meanwhile, so it is counted between two counts of them.
        const [before, indexed, after] = [await count(), await byIndex(), await count()];
        if (indexed < before && indexed < after) await dropIndex(name, indexName);
      }
    }
  },
};

/** What an index has an entry for. */
function filterOf({ key, sparse, partialFilterExpression }: IndexDescriptionInfo): Document {
  if (partialFilterExpression !== undefined) return partialFilterExpression;
  return sparse === true ? { $or: Object.keys(key).map((field) => ({ [field]: { $exists: true } })) } : {};
}
