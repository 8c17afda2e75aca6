/**
 * Data can be moved from one kind of server to the other: its documents then have no samples where they are needed, or
 * samples that nothing needs and that each write would cost. The schema document says which it is (`schema.ts`).
 */
import type { Document } from 'mongodb';
import type { MigrationTools } from '../migrations/migration.ts';
import { samplesIn } from './samples.ts';

/** The first 64th of all UUIDs and hashes. */
const sampledIds = { $gte: '00', $lt: '04' } as const;

/**
 * Marks the samples of each collection, after a move to a server that needs them. Documents whose ids do not begin with
 * a random part (categories, fiscal days, invocations) are left without: their newer ones get samples when written.
 */
export async function addSamples(tools: MigrationTools): Promise<void> {
  for (const name of await collectionNames(tools)) {
    const decidedById = samplesIn(name).filter(({ isSample }) => isSample === undefined);
    const marks = decidedById.map(({ field, group }): [string, unknown] => [
      field,
      group === undefined ? 'all' : { $ifNull: [`$${group}`, '$$REMOVE'] },
    ]);
    if (marks.length === 0) continue;
    await tools.change(name, (db) =>
      db.collection<{ _id: string }>(name).updateMany({ _id: sampledIds }, [{ $set: Object.fromEntries(marks) }]),
    );
  }
}

/** Removes all marks and their indexes, after a move to a server that reads in the order of an index. */
export async function removeSamples(tools: MigrationTools): Promise<void> {
  for (const name of await collectionNames(tools)) {
    for (const { field, time } of samplesIn(name)) {
      const marked: Document = { [field]: { $gt: '' } };
      await tools.change(name, (db) => db.collection(name).updateMany(marked, { $unset: { [field]: '' } }));
      await tools.dropIndex(name, `${field}_1_${time}_1`);
    }
  }
}

async function collectionNames({ change }: MigrationTools): Promise<string[]> {
  const found = await change('collections', (db) => db.listCollections({}, { nameOnly: true }).toArray());
  return found.map(({ name }) => name);
}
