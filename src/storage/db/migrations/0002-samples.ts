import type { Document } from 'mongodb';
import { indexNames } from '../indexes.ts';
import type { Migration } from './migration.ts';

/**
 * Releases without samples wrote documents that `narrow/narrow-pages.ts` would leave out of its estimates. What the
 * samples of a list have in common, by collection; an expression for each field.
 */
const sampleFields: Readonly<Record<string, Document>> = {
  api_keys: { sample: 'all' },
  events: { sample: 'all' },
  integrations: { sample: 'all' },
  locations: { sample: 'all' },
  orders: { sample: 'all' },
  products: { sample: 'all' },
  prompts: { sample: 'all' },
  replays: { sample: '$integration_id' },
  test_runs: { sample: '$prompt_id' },
  deliveries: {
    sample: '$integration_id',
    list_sample: 'all',
    // Only pending deliveries are in a lane.
    lane_sample: { $ifNull: ['$lane', '$$REMOVE'] },
  },
};

/** The first 64th of all UUIDs. */
const sampledIds = { $gte: '00', $lt: '04' } as const;

export const markSamples: Migration = {
  version: 2,
  title: 'mark one document of 64 as a sample',
  async run({ pages, change }) {
    if (pages.readsInOrder) return;
    for (const [collection, fields] of Object.entries(sampleFields)) {
      await change(collection, (db) =>
        db
          .collection<{ _id: string; sample?: string }>(collection)
          .updateMany({ _id: sampledIds, sample: { $exists: false } }, [{ $set: fields }]),
      );
    }
  },
  // The collection has documents since the first start.
  async isUndone(db, { readsInOrder }) {
    const names = await indexNames(db, 'api_keys');
    return !readsInOrder && names.size > 0 && !names.has('sample_1_created_at_1');
  },
};
