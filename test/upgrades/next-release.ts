import type { Migration } from '../../src/storage/db/migrations/migration.ts';
import { migrations } from '../../src/storage/db/migrations/migrations.ts';
import type { MigratorTimes } from '../../src/storage/db/migrator.ts';
import { knownVersion } from '../../src/storage/db/schema.ts';

export const nextVersion = knownVersion({ name: '', migrations }) + 1;
/** Fields that the next release adds, one command for each. */
export const addedFields = ['added_0', 'added_1', 'added_2'] as const;
export const quickTimes: MigratorTimes = {
  ...{ beatMs: 100, termMs: 5_000, pollMs: 20, pauseMs: 0, longestPauseMs: 0, retryMs: 50 },
};

/** The migrations of the next release, which adds to the data. @param mayGoOn called before each field */
export function nextMigrations(mayGoOn: (field: string) => Promise<void>): readonly Migration[] {
  const addFields: Migration = {
    version: nextVersion,
    title: 'add fields to prompts',
    async run({ change }) {
      for (const field of addedFields) {
        await mayGoOn(field);
        await change('prompts', (db) =>
          db.collection('prompts').updateMany({ [field]: { $exists: false } }, { $set: { [field]: 'new' } }),
        );
      }
    },
  };
  return [...migrations, addFields];
}
