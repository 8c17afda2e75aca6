import { indexNames } from '../indexes.ts';
import type { Migration } from './migration.ts';

/** Indexes that releases without schema versions created and that nothing uses any more. Each costs at every write. */
const formerIndexes: readonly (readonly [collection: string, name: string])[] = [
  ['fiscal_days', 'location_id_1_date_-1'],
  ['replays', 'integration_id_1'],
  ['orders', 'uncounted_location_id_1_created_at_1'],
  // With these the server removed expired documents. Now `expiry.ts` does.
  ['replays', 'expires_at_1'],
  ['events', 'expires_at_1'],
  ['deliveries', 'expires_at_1'],
  ['attempts', 'expires_at_1'],
  ['idempotency_keys', 'expires_at_1'],
];

/** The last one, so that it still shows an interruption. */
const [markedCollection, markedIndex] = ['idempotency_keys', 'expires_at_1'];

export const dropFormerIndexes: Migration = {
  version: 1,
  title: 'drop indexes of earlier releases',
  async run({ dropIndex }) {
    for (const [collection, name] of formerIndexes) await dropIndex(collection, name);
  },
  isUndone: async (db) => (await indexNames(db, markedCollection)).has(markedIndex),
};
