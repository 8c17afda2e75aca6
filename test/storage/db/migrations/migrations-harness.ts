import type { Collection, Db } from 'mongodb';
import { connectDatabase, type Database } from '../../../../src/storage/db/client.ts';
import type { CollectionIndexes } from '../../../../src/storage/db/indexes.ts';
import type { Migration } from '../../../../src/storage/db/migrations/migration.ts';
import type { MigratorTimes } from '../../../../src/storage/db/migrator.ts';
import { openData, type Data } from '../../../../src/storage/db/open-data.ts';
import type { PagedDatabase } from '../../../../src/storage/db/pages.ts';
import { systemClock } from '../../../../src/base/runtime/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { recordingLog } from '../../../support/log.ts';
import { until } from '../../../support/until.ts';

const quickTimes: MigratorTimes = {
  beatMs: 20,
  termMs: 250,
  pollMs: 10,
  pauseMs: 0,
  longestPauseMs: 0,
  retryMs: 20,
};

/** A process on the data. */
export interface DataProcess extends Data {
  readonly log: ReturnType<typeof recordingLog>;
  /** Resolves when the process has nothing left to migrate. */
  done(): Promise<unknown>;
}

export interface ProcessOptions {
  /** As a server of another kind than that of the tests would show it. */
  readonly database?: PagedDatabase;
  readonly release?: string;
  readonly migrations?: readonly Migration[];
  readonly indexes?: readonly CollectionIndexes[];
  /** The connections of long commands, to interrupt them. */
  readonly openLong?: () => Promise<Database>;
  readonly signal?: AbortSignal;
}

/** An empty database, and processes on it. */
export async function createMigrationWorld(): Promise<{
  readonly database: TestDatabase;
  open(options?: ProcessOptions): Promise<DataProcess>;
  schema(): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}> {
  const database = await createTestDatabase();
  const processes: DataProcess[] = [];
  return {
    database,
    async open({
      database: opened = database,
      release = '1.0.0',
      migrations = [],
      indexes = [],
      openLong,
      signal,
    } = {}) {
      const log = recordingLog();
      const connect = () => connectDatabase({ ...database, log, isForLongCommands: true });
      const data = await openData({
        database: opened,
        indexes,
        log,
        times: quickTimes,
        openLong: openLong ?? connect,
        signal,
        release: { name: release, migrations },
        ...systemClock,
      });
      const process = { ...data, log, done: () => until(() => data.progress() === undefined) };
      processes.push(process);
      return process;
    },
    async schema() {
      return (await database.db.collection<{ _id: string }>('schema').findOne({ _id: 'schema' })) ?? {};
    },
    async close() {
      await Promise.all(processes.map((process) => process.stop(0)));
      await database.drop();
    },
  };
}

/** A migration that adds its number to a list, once. */
export function addingMigration(version: number, more: Partial<Migration> = {}): Migration {
  return {
    version,
    title: `add ${version}`,
    run: async ({ change }) => {
      await change('numbers', (db) => numbers(db).updateOne({ _id: 'list' }, { $addToSet: { numbers: version } }));
    },
    ...more,
  };
}

export function numbers(db: Db): Collection<{ _id: string; numbers: number[] }> {
  return db.collection<{ _id: string; numbers: number[] }>('numbers');
}
