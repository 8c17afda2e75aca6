/**
 * Where to divide a long list into parts is not known beforehand, and finding it out would read everything. So one
 * document of 64, chosen by its id, is also in a small index of samples. Samples show how a collection is distributed
 * over time, at a 64th of the cost. Stores do not know about them: they are added here on the way to the server.
 */
import type { AnyBulkWriteOperation, Collection, Db, Document } from 'mongodb';
import type { CollectionIndexes } from '../indexes.ts';
import { overriding } from '../../../base/runtime/overriding.ts';

/** One of this many documents is a sample. */
export const sampling = 64;

/** Samples of the lists of a collection that are ordered by the same time. */
export interface Samples {
  /** The field that marks a sample. */
  readonly field: string;
  readonly time: string;
  /** The field of which the mark has the value, if each list has samples of its own. Otherwise the mark is `all`. */
  readonly group?: string;
  /** Samples in a part, about a 64th of its documents. 4 when left out; fewer where documents are large. */
  readonly perPart?: number;
  /** Whether a document is a sample. By default the beginning of its id decides, which is a UUID or a hash. */
  readonly isSample?: (document: Document) => boolean;
}

const byCreation = { field: 'sample', time: 'created_at' } as const;
const dayMs = 86_400_000;

/** The samples of each collection. */
const samplesOf: Readonly<Record<string, readonly Samples[]>> = {
  api_keys: [byCreation],
  audit_log: [{ field: 'sample', time: 'at' }],
  // A UUID follows `cat_`.
  categories: [{ ...byCreation, isSample: ({ _id }) => isSample(String(_id).slice(4)) }],
  deliveries: [
    { ...byCreation, group: 'integration_id' },
    { field: 'list_sample', time: 'created_at' },
    // A little more than a lane reads at once. Only pending deliveries are in a lane.
    { field: 'lane_sample', time: 'next_attempt_at', group: 'lane', perPart: 6 },
  ],
  events: [byCreation],
  // Their ids contain no random part.
  fiscal_days: [
    {
      field: 'sample',
      time: 'cut_at',
      group: 'location_id',
      perPart: 1,
      isSample: ({ date }) => (Date.parse(String(date)) / dayMs) % sampling === 0,
    },
  ],
  integrations: [{ ...byCreation, perPart: 1 }],
  // Their ids begin with the time.
  invocations: [{ ...byCreation, isSample: ({ _id }) => isSample(String(_id).slice(-2)) }],
  locations: [{ ...byCreation, perPart: 1 }],
  orders: [byCreation],
  products: [byCreation],
  prompts: [{ field: 'sample', time: 'updated_at', perPart: 1 }],
  replays: [{ ...byCreation, group: 'integration_id' }],
  test_runs: [{ ...byCreation, group: 'prompt_id' }],
};

/** The samples of a collection. Those of each day have the same. */
export function samplesIn(collection: string): readonly Samples[] {
  return samplesOf[collection.replace(/_\d{8}$/, '')] ?? [];
}

/** The samples that show how a list is distributed: its own, or those of all lists that are ordered by this time. */
export function findSamples(collection: string, where: Document, time: string): Samples | undefined {
  const candidates = samplesIn(collection).filter((samples) => samples.time === time);
  return (
    candidates.find(({ group }) => group !== undefined && group in where) ??
    candidates.find(({ group }) => group === undefined)
  );
}

/** The samples of a collection that are marked with the value of a field. */
export function findSamplesOfGroup(collection: string, group: string): Samples | undefined {
  return samplesIn(collection).find((samples) => samples.group === group);
}

/** What the samples of a list have in common. */
export function markOf({ group }: Samples, document: Document): unknown {
  return group === undefined ? 'all' : document[group];
}

/** Adds the indexes of samples to the declared ones. */
export function withSampleIndexes(declared: readonly CollectionIndexes[]): CollectionIndexes[] {
  return declared.map(({ collection, indexes }) => {
    const added = samplesIn(collection).map(({ field, time }) => ({
      key: { [field]: 1, [time]: 1 },
      name: `${field}_1_${time}_1`,
      partialFilterExpression: { [field]: { $gt: '' } },
    }));
    return { collection, indexes: [...indexes, ...added] };
  });
}

/** The same database, but samples among inserted documents are marked, and lose the mark with the value it has. */
export function withSamples(db: Db): Db {
  return overriding(db, {
    collection: (name: string) => {
      const collection = db.collection(name);
      const all = samplesIn(name);
      return all.length === 0 ? collection : markingSamples(collection, all);
    },
  });
}

function markingSamples(collection: Collection, all: readonly Samples[]): Collection {
  const marked = (document: Document): Document => {
    let result = document;
    for (const samples of all) {
      const { isSample: decide = hasSampleId } = samples;
      const mark = decide(document) ? markOf(samples, document) : undefined;
      if (mark !== undefined) result = { ...result, [samples.field]: mark };
    }
    return result;
  };
  const unmarked = (update: Document): Document => {
    const unset = update['$unset'] as Document | undefined;
    const gone = all.filter(({ group }) => group !== undefined && unset !== undefined && group in unset);
    if (gone.length === 0) return update;
    return { ...update, $unset: { ...unset, ...Object.fromEntries(gone.map(({ field }) => [field, ''])) } };
  };
  return overriding(collection, {
    insertOne: (document: Document, options?: Document) => collection.insertOne(marked(document), options),
    insertMany: (documents: readonly Document[], options?: Document) =>
      collection.insertMany(documents.map(marked), options),
    updateMany: (filter: Document, update: Document, options?: Document) =>
      collection.updateMany(filter, unmarked(update), options),
    bulkWrite: (operations: readonly AnyBulkWriteOperation[], options?: Document) =>
      collection.bulkWrite(
        operations.map((operation) => {
          if ('updateMany' in operation) {
            const { update, ...rest } = operation.updateMany;
            return { updateMany: { ...rest, update: unmarked(update as Document) } };
          }
          if ('updateOne' in operation) {
            const { update, ...rest } = operation.updateOne;
            return { updateOne: { ...rest, update: unmarked(update as Document) } };
          }
          return operation;
        }),
        options,
      ),
  });
}

function hasSampleId({ _id }: Document): boolean {
  return isSample(String(_id));
}

function isSample(id: string): boolean {
  return Number.parseInt(id.slice(0, 2), 16) < 256 / sampling;
}
