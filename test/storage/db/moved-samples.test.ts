import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { indexNames } from '../../../src/storage/db/indexes.ts';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import { createMigrationWorld } from './migrations/migrations-harness.ts';

let world: Awaited<ReturnType<typeof createMigrationWorld>>;
beforeEach(async () => {
  world = await createMigrationWorld();
});
afterEach(() => world.close());

/** Starts on the data as on a server of the other kind, until nothing is left to do. */
async function startOn(readsInOrder: boolean): Promise<readonly string[]> {
  const { database } = world;
  const moved: PagedDatabase = { ...database, pages: { ...database.pages, readsInOrder } };
  const process = await world.open({ database: moved });
  process.start();
  await process.done();
  await process.stop(0);
  return process.log.lines;
}

it('data that moves between servers of both kinds loses its samples, and gets them again', async () => {
  const { db } = world.database;
  const named = (name: string) => db.collection<{ _id: string; [field: string]: string }>(name);
  const [keys, deliveries, invocations] = [named('api_keys'), named('deliveries'), named('invocations_20261101')];
  await startOn(false);
  const marked = { _id: '01', integration_id: 'i', lane: 'l', sample: 'i', list_sample: 'all', lane_sample: 'l' };
  const ended = { _id: '02', integration_id: 'i', sample: 'i', list_sample: 'all' };
  await deliveries.insertMany([marked, ended, { _id: 'ff' }]);
  await keys.insertMany([{ _id: '02', sample: 'all' }, { _id: 'fe' }]);
  await invocations.insertOne({ _id: 'x', sample: 'all' });
  await keys.createIndex({ sample: 1, created_at: 1 }, { name: 'sample_1_created_at_1' });
  const all = async () =>
    Promise.all([deliveries, keys, invocations].map((some) => some.find().sort({ _id: 1 }).toArray()));
  const before = await all();

  expect((await startOn(false)).join('\n')).not.toContain('samples');
  expect(await all()).toEqual(before);

  expect((await startOn(true)).join('\n')).toContain('remove samples, which this server does not need');
  expect(await all()).toEqual([
    [{ _id: '01', integration_id: 'i', lane: 'l' }, { _id: '02', integration_id: 'i' }, { _id: 'ff' }],
    [{ _id: '02' }, { _id: 'fe' }],
    [{ _id: 'x' }],
  ]);
  expect([...(await indexNames(db, 'api_keys'))]).toEqual(['_id_']);
  expect(await world.schema()).toMatchObject({ has_samples: false });

  expect((await startOn(false)).join('\n')).toContain('mark samples, which this server needs');
  expect((await all()).slice(0, 2)).toEqual(before.slice(0, 2));
  expect(await world.schema()).toMatchObject({ has_samples: true });
});
