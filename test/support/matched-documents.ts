import type { Collection, Db, Document } from 'mongodb';
import type { Database } from '../../src/db/client.ts';

/** What commands had a server go through. */
export interface MatchedDocuments {
  /** A database as another, whose commands are counted. */
  readonly database: Database;
  /** The most documents that one command went through since this was last asked, and the filter of that command. */
  most(): Promise<{ readonly documents: number; readonly filter: string }>;
}

/**
 * Counts the documents that each command has a server go through which fetches all that a filter matches, whatever limit
 * there is, and which finds no more in an index than equalities and one range behind them (see `src/db/narrow-reads.ts`).
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
    insertMany: (documents: Document[], options?: Document) => collection.insertMany(documents, options),
  });
  return {
    database: {
      ...database,
      db: { collection: (name: string) => watched(database.db.collection(name)) } as unknown as Db,
    },
    async most() {
      const seen = await Promise.all(counts);
      counts = [];
      return seen.reduce((a, b) => (b.documents > a.documents ? b : a), { documents: 0, filter: '' });
    },
  };
}

/** The part of a filter that such a server finds by an index. */
function reachOf(filter: Document): Document {
  const [first] = Object.entries(filter);
  const ranges = Object.values(filter).filter((value) => isOperator(value)).length;
  if (first === undefined || (first[0] !== '_id' && ranges <= 1)) return filter;
  return Object.fromEntries([first]);
}

function isOperator(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).some((key) => key.startsWith('$'));
}
