import type { AnyBulkWriteOperation, Collection, Db, Document } from 'mongodb';
import type { Database } from '../../src/storage/db/client.ts';
import { withWindowedPages } from '../../src/storage/db/windowed-pages.ts';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';

/** Counts the documents that commands make a server read. */
export interface MatchedDocuments {
  /** The same database as another one, but with counted commands of short reads. */
  readonly database: PagedDatabase;
  /** The highest number of documents that one command read since the last call, and the filter of that command. */
  most(): Promise<{ readonly documents: number; readonly filter: string }>;
}

/**
 * Counts the documents that each command makes a server read, for a server that reads everything that a filter matches,
 * whatever the limit, and that uses an index only for equalities followed by one range (see `src/storage/db/windowed-pages.ts`).
 */
export function countMatchedDocuments(database: Database): MatchedDocuments {
  let counts: Promise<{ documents: number; filter: string }>[] = [];
  const note = (collection: Collection, filter: Document): Promise<unknown> => {
    const counting = collection
      .countDocuments(reachOf(filter))
      .then((documents) => ({ documents, filter: `${collection.collectionName} ${JSON.stringify(filter)}` }));
    counts.push(counting);
    return counting;
  };
  const watched = (collection: Collection): unknown => ({
    collectionName: collection.collectionName,
    find: (filter: Document = {}, options?: Document) => {
      void note(collection, filter);
      return collection.find(filter, options);
    },
    findOne: async (filter: Document = {}, options?: Document) => {
      await note(collection, filter);
      return collection.findOne(filter, options);
    },
    aggregate: (stages: Document[]) => {
      void note(collection, (stages[0]?.['$match'] ?? {}) as Document);
      return collection.aggregate(stages);
    },
    updateMany: async (filter: Document, change: Document) => {
      await note(collection, filter);
      return collection.updateMany(filter, change);
    },
    deleteMany: async (filter: Document) => {
      await note(collection, filter);
      return collection.deleteMany(filter);
    },
    updateOne: async (filter: Document, change: Document, options?: Document) => {
      await note(collection, filter);
      return collection.updateOne(filter, change, options);
    },
    bulkWrite: async (operations: AnyBulkWriteOperation[], options?: Document) => {
      for (const operation of operations) {
        if ('updateMany' in operation) await note(collection, operation.updateMany.filter);
      }
      return collection.bulkWrite(operations, options);
    },
    insertMany: (documents: Document[], options?: Document) => collection.insertMany(documents, options),
    insertOne: (document: Document) => collection.insertOne(document),
  });
  return {
    database: withWindowedPages({
      ...database,
      db: { collection: (name: string) => watched(database.db.collection(name)) } as unknown as Db,
    }),
    async most() {
      const seen = await Promise.all(counts);
      counts = [];
      return seen.reduce((a, b) => (b.documents > a.documents ? b : a), { documents: 0, filter: '' });
    },
  };
}

/** The part of a filter for which such a server uses an index. */
function reachOf(filter: Document): Document {
  const [first] = Object.entries(filter);
  const ranges = Object.values(filter).filter((value) => isOperator(value)).length;
  if (first === undefined || (first[0] !== '_id' && ranges <= 1)) return filter;
  return Object.fromEntries([first]);
}

function isOperator(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).some((key) => key.startsWith('$'));
}
