import { indexNames } from '../indexes.ts';
import type { Migration } from './migration.ts';

/** The fields by which earlier releases marked samples, on every server, by the date in their index. */
const marks: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  categories: { sample: 'created_at' },
  deliveries: { sample: 'created_at', list_sample: 'created_at', lane_sample: 'next_attempt_at' },
  events: { sample: 'created_at' },
  fiscal_days: { sample: 'cut_at' },
  integrations: { sample: 'created_at' },
  locations: { sample: 'created_at' },
  orders: { sample: 'created_at' },
  products: { sample: 'created_at' },
  prompts: { sample: 'updated_at' },
  replays: { sample: 'created_at' },
  test_runs: { sample: 'created_at' },
  // The last one, so that it still shows an interruption.
  api_keys: { sample: 'created_at' },
};

/** A server that reads in the order of an index needs no samples. Releases that read by them find few, and need none. */
export const removeSamples: Migration = {
  version: 4,
  title: 'remove samples from a server that does not need them',
  async run({ pages, change, dropIndex }) {
    if (!pages.readsInOrder) return;
    for (const [collection, fields] of Object.entries(marks)) {
      for (const [field, date] of Object.entries(fields)) {
        await change(collection, (db) =>
          db.collection(collection).updateMany({ [field]: { $gt: '' } }, { $unset: { [field]: '' } }),
        );
        await dropIndex(collection, `${field}_1_${date}_1`);
      }
    }
  },
  async isUndone(db, { readsInOrder }) {
    return readsInOrder && (await indexNames(db, 'api_keys')).has('sample_1_created_at_1');
  },
};
