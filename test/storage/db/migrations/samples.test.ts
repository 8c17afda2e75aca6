import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connectDatabase, type Database } from '../../../../src/storage/db/client.ts';
import { dropIndex, indexNames } from '../../../../src/storage/db/indexes.ts';
import { markSamples } from '../../../../src/storage/db/migrations/0002-samples.ts';
import { removeSamples } from '../../../../src/storage/db/migrations/0004-no-samples.ts';
import type { MigrationTools } from '../../../../src/storage/db/migrations/migration.ts';
import type { Pages } from '../../../../src/storage/db/pages.ts';
import { testDatabaseUri } from '../../../support/database.ts';
import { silentLog } from '../../../support/log.ts';

let database: Database;
beforeAll(async () => {
  database = await connectDatabase({ uri: testDatabaseUri(), databaseName: `test_${randomUUID()}`, log: silentLog });
});
afterAll(() => database.close());

const toolsOf = (readsInOrder: boolean): MigrationTools => ({
  pages: { readsInOrder },
  change: (_subject, command) => command(database.db),
  dropIndex: (collection, name) => dropIndex(database.db, collection, name),
});
const [ordered, other] = [{ readsInOrder: true }, { readsInOrder: false }] as [Pages, Pages];

it('data that moves between servers of both kinds loses its samples, and gets them again', async () => {
  const { db } = database;
  const keys = db.collection<{ _id: string; sample?: string }>('api_keys');
  const deliveries = db.collection<{ _id: string }>('deliveries');
  const marked = { _id: '01', lane: 'l', sample: 'i', list_sample: 'all', lane_sample: 'l' };
  await deliveries.insertMany([marked, { _id: 'ff' }]);
  await keys.insertMany([{ _id: '02', sample: 'all' }, { _id: 'fe' }]);
  await keys.createIndex({ sample: 1, created_at: 1 }, { name: 'sample_1_created_at_1' });
  expect(await Promise.all([removeSamples.isUndone?.(db, ordered), removeSamples.isUndone?.(db, other)])).toEqual([
    true,
    false,
  ]);

  await removeSamples.run(toolsOf(false));
  expect(await deliveries.findOne({ _id: '01' })).toEqual(marked);
  await removeSamples.run(toolsOf(true));
  expect(await deliveries.find().sort({ _id: 1 }).toArray()).toEqual([{ _id: '01', lane: 'l' }, { _id: 'ff' }]);
  expect(await keys.findOne({ _id: '02' })).toEqual({ _id: '02' });
  expect([...(await indexNames(db, 'api_keys'))]).toEqual(['_id_']);
  expect(await Promise.all([markSamples.isUndone?.(db, ordered), markSamples.isUndone?.(db, other)])).toEqual([
    false,
    true,
  ]);

  await markSamples.run(toolsOf(true));
  expect(await keys.findOne({ _id: '02' })).toEqual({ _id: '02' });
  await markSamples.run(toolsOf(false));
  expect(await keys.find().sort({ _id: 1 }).toArray()).toEqual([{ _id: '02', sample: 'all' }, { _id: 'fe' }]);
});
