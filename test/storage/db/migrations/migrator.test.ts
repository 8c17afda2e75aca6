import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MongoNetworkError, type Db, type IndexDescription } from 'mongodb';
import { connectDatabase, type Database } from '../../../../src/storage/db/client.ts';
import type { Migration } from '../../../../src/storage/db/migrations/migration.ts';
import { Migrator } from '../../../../src/storage/db/migrator.ts';
import type { Schema } from '../../../../src/storage/db/schema.ts';
import { openDataToRead } from '../../../../src/storage/db/open-data.ts';
import { silentLog } from '../../../support/log.ts';
import { until } from '../../../support/until.ts';
import { addingMigration, createMigrationWorld, numbers } from './migrations-harness.ts';

let world: Awaited<ReturnType<typeof createMigrationWorld>>;
beforeEach(async () => {
  world = await createMigrationWorld();
});
afterEach(() => world.close());

/** Data of the first schema version. */
const addFormerData = async () => {
  const first = await world.open();
  await first.stop(0);
  await numbers(world.database.db).insertOne({ _id: 'list', numbers: [] });
};
const listed = async () => (await numbers(world.database.db).findOne({ _id: 'list' }))?.numbers;

const three = [8, 9, 10].map((version) => addingMigration(version));

/** A migration that waits at a gate. */
function gated(version: number): { migration: Migration; began: Promise<unknown>; open: () => void } {
  const began = Promise.withResolvers<undefined>();
  const gate = Promise.withResolvers<undefined>();
  const { run } = addingMigration(version);
  return {
    migration: addingMigration(version, {
      async run(tools) {
        began.resolve(undefined);
        await gate.promise;
        await run(tools);
      },
    }),
    began: began.promise,
    open: () => {
      gate.resolve(undefined);
    },
  };
}

describe('the schema version', () => {
  it('is that of the release in a new database, where no migration runs', async () => {
    const process = await world.open({ migrations: [...three, addingMigration(11, { oldestReader: 10 })] });
    process.start();
    expect(process.progress()).toBeUndefined();
    expect(process.schema()).toEqual({ version: 11, oldestReader: 10 });
    expect(await listed()).toBeUndefined();
    expect(await world.schema()).toMatchObject({ releases: [{ release: '1.0.0', schema_version: 11 }] });
  });

  it('rises with each migration, and lists the releases that used the data', async () => {
    await addFormerData();
    const first = await world.open({ release: '1.1.0', migrations: three.slice(0, 2) });
    expect(first.progress()).toEqual({ status: 'waiting', done: 0, total: 2 });
    first.start();
    await first.done();
    const second = await world.open({ release: '1.2.0', migrations: three });
    second.start();
    await second.done();
    await world.open({ release: '1.2.0', migrations: three });
    expect(await listed()).toEqual([8, 9, 10]);
    expect(await world.schema()).toMatchObject({
      version: 10,
      oldest_reader: 7,
      releases: [
        { release: '1.0.0', schema_version: 7 },
        { release: '1.1.0', schema_version: 9 },
        { release: '1.2.0', schema_version: 10 },
      ],
    });
  });
});

describe('data of before the first schema version', () => {
  const refused =
    'a development version before 1.0.0 wrote it, and this release cannot read it. Nothing was changed. Commit 6a63eef0 ' +
    'is the last that reads such data.';
  const schemas = () => world.database.db.collection<{ _id: string }>('schema');

  it.each([0, 1, 6])('is refused, and is not changed: schema version %i', async (version) => {
    await addFormerData();
    const releases = [{ release: '1.0.0-beta.1', schema_version: version, since: new Date(0) }];
    await schemas().updateOne({ _id: 'schema' }, { $set: { version, oldest_reader: version, releases } });
    const before = await world.schema();
    const process = world.open({ migrations: three, indexes: [{ collection: 'numbers', indexes: [byName] }] });
    await expect(process).rejects.toThrow(`The data has schema version ${version}: ${refused}`);
    const reading = openDataToRead({
      database: world.database,
      indexes: [],
      release: { name: '1.0.0', migrations: [] },
    });
    await expect(reading).rejects.toThrow(refused);
    expect(await world.schema()).toEqual(before);
    expect(await numbers(world.database.db).indexes()).toHaveLength(1);
  });

  it('is refused if it has no schema version at all', async () => {
    await numbers(world.database.db).insertOne({ _id: 'list', numbers: [] });
    await expect(world.open()).rejects.toThrow(`The data has no schema version: ${refused}`);
    const reading = openDataToRead({
      database: world.database,
      indexes: [],
      release: { name: '1.0.0', migrations: [] },
    });
    await expect(reading).rejects.toThrow(refused);
    expect(await schemas().countDocuments()).toBe(0);
  });

  it('is not mixed up with that of this release: commits that know versions up to 6 refuse version 7', async () => {
    await world.open();
    expect(await world.schema()).toMatchObject({ version: 7, oldest_reader: 7 });
  });
});

describe('a release that is older than the data', () => {
  it('refuses to start when it cannot read the data, says what to do, and changes nothing', async () => {
    await world.open({ release: '2.0.0', migrations: [...three, addingMigration(11, { oldestReader: 10 })] });
    const before = await world.schema();
    await expect(
      world.open({ migrations: three.slice(0, 2), indexes: [{ collection: 'more', indexes: [byName] }] }),
    ).rejects.toThrow(
      'The data has schema version 11, written by prompt-gateway 2.0.0. Releases that do not know version 10 cannot ' +
        'read it; this is prompt-gateway 1.0.0, which knows versions up to 9. Nothing was changed. Start ' +
        'prompt-gateway 2.0.0 or a later one, or restore a backup from before that upgrade',
    );
    expect(await world.schema()).toEqual(before);
    expect(await world.database.db.listCollections({ name: 'more' }).toArray()).toEqual([]);
  });

  it('starts when it can read the data, and leaves indexes to the newer one', async () => {
    await world.open({ release: '2.0.0', migrations: [...three, addingMigration(11, { oldestReader: 10 })] });
    const older = await world.open({ migrations: three, indexes: [{ collection: 'more', indexes: [byName] }] });
    expect(older.schema()).toEqual({ version: 11, oldestReader: 10 });
    expect(older.progress()).toBeUndefined();
    expect(await world.database.db.listCollections({ name: 'more' }).toArray()).toEqual([]);
  });
});

const byName = { name: 'name_1', key: { name: 1 } };

describe('migrations', () => {
  it('that must be complete before requests are served run first, with those before them', async () => {
    await addFormerData();
    const migrations = [addingMigration(8), addingMigration(9, { isBeforeServing: true }), addingMigration(10)];
    const process = await world.open({ migrations });
    expect([await listed(), process.progress()]).toEqual([[8, 9], { status: 'waiting', done: 0, total: 1 }]);
  });

  it('that run before requests are served end with an aborted start, which gives back the lease', async () => {
    await addFormerData();
    const { migration, began, open } = gated(8);
    const start = new AbortController();
    const opened = world.open({
      migrations: [migration, addingMigration(9, { isBeforeServing: true })],
      signal: start.signal,
    });
    await began;
    start.abort(new Error('stopped'));
    open();
    await expect(opened).rejects.toThrow('stopped');
    expect(await listed()).not.toContain(9);
    expect(await world.schema()).not.toHaveProperty('holder');
  });

  it.each([8, 9, 10])('are resumed after a failure in migration %i', async (failing) => {
    await addFormerData();
    let failures = 0;
    const migrations = three.map((migration) =>
      migration.version !== failing
        ? migration
        : addingMigration(failing, {
            async run(tools) {
              await migration.run(tools);
              failures += 1;
              if (failures < 3) throw new Error('injected');
            },
          }),
    );
    const process = await world.open({ migrations });
    process.start();
    await until(() => process.progress()?.status === 'failing');
    expect(process.progress()?.task).toBe(`add ${failing}`);
    await process.done();
    expect([await listed(), failures]).toEqual([[8, 9, 10], 3]);
    expect(process.log.lines.join('\n')).toContain('a migration failed; it will be repeated');
  });

  it('are repeated while the database is unavailable', async () => {
    await addFormerData();
    let calls = 0;
    const migration = addingMigration(8, {
      async run({ change }) {
        await change('numbers', async () => {
          calls += 1;
          if (calls < 3) throw new MongoNetworkError('injected');
          return Promise.resolve();
        });
      },
    });
    const process = await world.open({ migrations: [migration] });
    process.start();
    await process.done();
    expect([calls, process.schema().version]).toEqual([3, 8]);
  });

  it('run in one process at a time; the others serve and see when it is done', async () => {
    await addFormerData();
    const gates = [gated(8), gated(8), gated(8)];
    const processes = await Promise.all(gates.map(({ migration }) => world.open({ migrations: [migration] })));
    for (const process of processes) process.start();
    await Promise.race(gates.map(({ began }) => began));
    await until(() => processes.filter((process) => process.progress()?.status === 'waiting').length === 2);
    expect(processes.filter((process) => process.progress()?.status === 'running')).toHaveLength(1);
    for (const { open } of gates) open();
    await Promise.all(processes.map((process) => process.done()));
    const runs = processes.flatMap(({ log }) => log.lines).filter((line) => line.includes('migrated: add 8'));
    expect([await listed(), runs.length]).toEqual([[8], 1]);
  });

  it('are taken over from a process that has ended', async () => {
    await addFormerData();
    const dead = gated(8);
    const process = await world.open({ migrations: [dead.migration] });
    process.start();
    await dead.began;
    // As after a kill: it gives no sign of life and does not release its lease.
    await process.stop(0);
    expect(await world.schema()).toMatchObject({ version: 7, holder: expect.any(String) });
    const next = await world.open({ migrations: three });
    next.start();
    await next.done();
    expect([await listed(), next.schema().version]).toEqual([[8, 9, 10], 10]);
    dead.open();
  });
});

describe('the lease', () => {
  const schemas = () => world.database.db.collection<{ _id: string }>('schema');
  const takeOver = () =>
    schemas().updateOne({ _id: 'schema' }, { $set: { holder: 'another process' }, $inc: { revision: 1 } });

  it.each([
    ['in the background', {}],
    ['before requests are served', { isBeforeServing: true }],
  ] as const)('is left to the process that has taken it, and awaited: %s', async (_when, more) => {
    await addFormerData();
    const { migration, began, open } = gated(8);
    const opening = world.open({ migrations: [{ ...migration, ...more }] });
    void opening.then((process) => {
      process.start();
    });
    await began;
    await takeOver();
    open();
    const process = await opening;
    await process.done();
    expect(process.log.lines.join('\n')).toContain('another process migrates the data; waiting until');
    expect([await listed(), process.schema().version]).toEqual([[8], 8]);
  });

  it('is not taken because the database did not answer for longer than its term', async () => {
    const [waiting, taken] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let now = 0;
    let reads = 0;
    let changes = 0;
    const held = {
      _id: 'schema',
      revision: 5,
      writes: [],
      version: 7,
      oldest_reader: 7,
      releases: [],
      holder: 'alive',
    };
    const schema: Schema = {
      release: { name: '1.0.0', migrations: [addingMigration(8)] },
      version: () => 7,
      oldestReader: () => 7,
      read() {
        reads += 1;
        if (reads === 4) {
          now += 60_000;
          return Promise.reject(new MongoNetworkError('injected'));
        }
        if (reads < 6) return Promise.resolve(held);
        waiting.resolve(undefined);
        return Promise.resolve({ ...held, version: 8 });
      },
      change() {
        changes += 1;
        taken.resolve(undefined);
        return Promise.resolve(undefined);
      },
    };
    const migrator = new Migrator({
      database: world.database,
      openLong: () => Promise.reject(new Error('not used')),
      schema,
      indexes: [],
      missing: [],
      log: silentLog,
      monotonic: () => now,
      times: { beatMs: 20, termMs: 30_000, pollMs: 1, pauseMs: 0, longestPauseMs: 0, retryMs: 1 },
    });
    await migrator.prepare();
    migrator.start();
    await Promise.race([waiting.promise, taken.promise]);
    await migrator.stop(1_000);
    expect(changes).toBe(0);
  });
});

describe('a missing index of a collection with documents', () => {
  const indexes = [{ collection: 'numbers', indexes: [byName] }];
  const names = async () =>
    (await numbers(world.database.db).indexes()).map(({ name }) => name).filter((name) => name !== '_id_');

  it('is built in the background', async () => {
    await addFormerData();
    const process = await world.open({ indexes });
    expect([await names(), process.progress()?.total]).toEqual([[], 1]);
    process.start();
    await process.done();
    expect(await names()).toEqual(['name_1']);
  });

  it('is built before requests are served if it is unique', async () => {
    await addFormerData();
    const process = await world.open({ indexes: [{ collection: 'numbers', indexes: [{ ...byName, unique: true }] }] });
    expect([await names(), process.progress()]).toEqual([['name_1'], undefined]);
  });

  it('is built again if another process was killed during the build', async () => {
    await addFormerData();
    const killed = await world.open();
    await killed.stop(0);
    // What it leaves behind: a note of what it built, and an index that may be incomplete.
    await numbers(world.database.db).createIndex(byName.key, { name: byName.name });
    await world.database.db
      .collection<{ _id: string }>('schema')
      .updateOne({ _id: 'schema' }, { $set: { building: { collection: 'numbers', index: 'name_1' } } });
    const process = await world.open({ indexes });
    process.start();
    await process.done();
    const commands = process.log.lines.filter((line) => line.includes('"subject":"numbers.name_1"'));
    expect([await names(), commands.length]).toEqual([['name_1'], 2]);
    expect(await world.schema()).not.toHaveProperty('building');
  });

  it('is left alone by a process that starts during the build', async () => {
    await addFormerData();
    const first = await world.open();
    await first.stop(0);
    // Some servers list it already, and let a command that creates it wait for the build. Here the command would fail.
    await numbers(world.database.db).createIndex({ other: 1 }, { name: byName.name });
    const building = { collection: 'numbers', index: byName.name };
    await world.database.db
      .collection<{ _id: string }>('schema')
      .updateOne({ _id: 'schema' }, { $set: { building, holder: 'another process' } });
    const process = await world.open({ indexes });
    expect(process.progress()).toEqual({ status: 'waiting', done: 0, total: 1 });
    process.start();
    await process.done();
    expect(await numbers(world.database.db).indexes()).toMatchObject([{}, byName]);
  });

  it('is built again if the server was killed during the build', async () => {
    await addFormerData();
    const calls: string[] = [];
    const openLong = async (): Promise<Database> => {
      const { db, ...rest } = await connectDatabase({ ...world.database, log: silentLog, isForLongCommands: true });
      const collection = (name: string) => ({
        async createIndexes(specs: IndexDescription[]) {
          await db.collection(name).createIndexes(specs);
          calls.push('build');
          if (calls.length === 1) throw new MongoNetworkError('injected');
        },
        async dropIndex(index: string) {
          await db.collection(name).dropIndex(index);
          calls.push('drop');
        },
      });
      return { ...rest, db: { collection } as unknown as Db };
    };
    const process = await world.open({ indexes, openLong });
    process.start();
    await process.done();
    expect([await names(), calls]).toEqual([['name_1'], ['build', 'drop', 'build']]);
  });

  it('is reported, and does not stop the service, if it cannot be built', async () => {
    await addFormerData();
    await numbers(world.database.db).createIndex(byName.key, { name: 'another_name' });
    const process = await world.open({ indexes });
    process.start();
    await until(() => process.progress()?.status === 'failing');
    expect(process.progress()).toEqual({
      status: 'failing',
      task: 'build index "name_1" of numbers',
      done: 0,
      total: 1,
    });
    await numbers(world.database.db).dropIndex('another_name');
    await process.done();
    expect(await names()).toEqual(['name_1']);
  });
});
