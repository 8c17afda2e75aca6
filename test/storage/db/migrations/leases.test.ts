import { expect, it } from '@jest/globals';
import { removeLeasesOfIntegrations } from '../../../../src/storage/db/migrations/0006-no-leases-of-integrations.ts';
import { createTestDatabase } from '../../../support/database.ts';

it('leases of integrations are removed, and the health of their receivers stays', async () => {
  const { db, drop } = await createTestDatabase();
  const lanes = db.collection<{ _id: string }>('lanes');
  const kept = { health: { settings_revision: 3, failures_in_a_row: 2 }, last_attempt_at: new Date(0) };
  const leased = { holder: 'x', token: 7, beat: 9 };
  await lanes.insertMany([
    { _id: 'a', ...leased, ...kept },
    { _id: 'b', token: 1, beat: 2 },
    { _id: 'c', ...kept },
  ] as { _id: string }[]);
  // Twice, as after an interruption.
  for (let run = 0; run < 2; run += 1) {
    await removeLeasesOfIntegrations.run({
      pages: { readsInOrder: false },
      change: (_subject, command) => command(db),
      dropIndex: () => Promise.resolve(),
    });
    expect(await lanes.find().sort({ _id: 1 }).toArray()).toEqual([
      { _id: 'a', ...kept },
      { _id: 'b' },
      { _id: 'c', ...kept },
    ]);
  }
  await drop();
});
