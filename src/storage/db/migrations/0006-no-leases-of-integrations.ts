import type { Migration } from './migration.ts';

/**
 * Before partitions, each integration had a lease with a token of its own. The tokens of partitions are larger, so an
 * earlier release could not send what this one has begun to send.
 */
export const removeLeasesOfIntegrations: Migration = {
  version: 6,
  title: 'remove the leases of integrations',
  oldestReader: 6,
  async run({ change }) {
    await change('lanes', (db) =>
      db.collection('lanes').updateMany({ token: { $exists: true } }, { $unset: { holder: '', token: '', beat: '' } }),
    );
  },
};
