import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import type { Config } from './config/config.ts';
import { checkDatabase } from './storage/db/check.ts';
import { connectDatabase, DatabaseStartError } from './storage/db/client.ts';
import { startEmbeddedDatabase, type EmbeddedDatabase } from './storage/db/embedded/embedded-database.ts';
import { hasDatabase } from './storage/db/embedded/folder.ts';
import type { CollectionIndexes } from './storage/db/indexes.ts';
import { ensureInstallation, findInstallation, type Installation } from './storage/db/installation.ts';
import type { Migration } from './storage/db/migrations/migration.ts';
import { migrations } from './storage/db/migrations/migrations.ts';
import type { MigratorTimes } from './storage/db/migrator.ts';
import { openData, openDataToRead, type Data } from './storage/db/open-data.ts';
import { openPages } from './storage/db/open-pages.ts';
import type { PagedDatabase } from './storage/db/pages.ts';
import { isTemporary, patiently } from './storage/db/patience.ts';
import type { DatabaseObserver } from './storage/db/pool-watch.ts';
import { reasonOf } from './base/errors/problem-error.ts';
import { abortable } from './base/runtime/abortable.ts';
import { system } from './base/runtime/system.ts';
import { within } from './base/runtime/within.ts';

export interface DatabaseStartOptions {
  readonly config: Config;
  /** For the embedded database: `PATH`, proxies, pip settings. */
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Prints lines for the operator; not a log. */
  readonly print: (line: string) => void;
  /** Cancels the start. After the start it has no effect. */
  readonly signal?: AbortSignal;
  /** Other migrations for tests. */
  readonly migrations?: readonly Migration[];
  /** Shorter times for tests. */
  readonly migratorTimes?: MigratorTimes;
}

export interface StartedDatabase {
  readonly database: PagedDatabase;
  readonly data: Data;
  readonly installation: Installation;
  /** Whether its disk is full, if this process can check it. */
  readonly isFull: (() => Promise<boolean>) | undefined;
  /** Repeats a part of the start while the database is unavailable, until the start is stopped. */
  readonly patience: Patience;
}

type Patience = <Result>(part: () => Promise<Result>) => Promise<Result>;

/**
 * Connects the database, which is embedded if none is configured, and makes its data ready to be served.
 *
 * @param cleanups gets what must be done to stop it, in the reverse order
 * @throws DatabaseStartError; the reason of the signal when that is aborted
 */
export async function startDatabase(
  options: DatabaseStartOptions,
  indexes: readonly CollectionIndexes[],
  observer: DatabaseObserver,
  cleanups: (() => Promise<void>)[],
): Promise<StartedDatabase> {
  const { config, log, signal } = options;
  const { readOnly } = config;
  const embedded = config.database.uri === undefined ? await startOwnDatabase(options, cleanups) : undefined;
  const uri = config.database.uri ?? embedded?.uri ?? '';
  const connection = await connectDatabase({
    uri,
    databaseName: config.database.name,
    log,
    signal,
    observer,
    isReadOnly: readOnly,
  });
  cleanups.push(() => connection.close());
  // What is interrupted in these ends when the connections are closed.
  const patience = patienceOf(options, embedded !== undefined);
  const release = { name: packageJson.version, migrations: options.migrations ?? migrations };
  const isFull = embedded && (() => embedded.isFull());
  if (readOnly) {
    const installation = await patience(() => findInstallation(connection));
    if (installation === undefined) throw new DatabaseStartError(noData('the database'));
    const database = await patience(() => openPages(connection, true));
    const data = await patience(() => openDataToRead({ database, indexes, release }));
    return { database, data, installation, patience, isFull };
  }
  if (config.database.check) await patience(() => checkDatabase(connection.db));
  const database = await patience(() => openPages(connection));
  let opening: Promise<unknown> = Promise.resolve();
  // A start that is stopped gives back the lease of a migration, so that no other process has to wait for it.
  const isOpen = (): Promise<unknown> => opening.catch(() => undefined);
  cleanups.push(async () => {
    await within(migrationStopMs, isOpen(), () => undefined);
  });
  const data = await patience(
    () =>
      (opening = openData({
        database,
        indexes,
        log,
        onFailure: () => {
          observer.migrationFailed();
        },
        signal,
        openLong: () =>
          connectDatabase({ uri, databaseName: config.database.name, log, signal, isForLongCommands: true }),
        release,
        times: options.migratorTimes,
        ...system.clock,
      })),
  );
  cleanups.push(() => data.stop(migrationStopMs));
  const installation = await patience(() => ensureInstallation(database));
  return { database, data, installation, patience, isFull };
}

/** The first start creates data, and `READ_ONLY` changes nothing. */
function noData(place: string): string {
  return `There is no data of an earlier start in ${place}, and READ_ONLY=on creates none. Check the settings of the database, or start without READ_ONLY.`;
}

/**
 * Milliseconds for which a start waits for a database that stops answering. An embedded one may be building an index for
 * another process, and is replaced if it fails.
 */
const remotePatienceMs = 30_000;
const embeddedPatienceMs = 30 * 60_000;
/** Milliseconds between two messages while something of the start lasts. */
const remindEveryMs = 5_000;
/** Milliseconds for the command of a migration that is in progress when the process stops. */
const migrationStopMs = 1_000;

function patienceOf({ print, signal }: DatabaseStartOptions, isEmbedded: boolean): Patience {
  const limitMs = isEmbedded ? embeddedPatienceMs : remotePatienceMs;
  const limit = limitMs < 60_000 ? `${limitMs / 1_000} s` : `${limitMs / 60_000} min`;
  return async (part) => {
    let last = '';
    try {
      const waiting = patiently(part, {
        limitMs,
        isOver: () => signal?.aborted === true,
        onWait(reason) {
          last = `: ${reason}`;
        },
      });
      return await reminding(
        (seconds) => {
          print(`Waiting for the database, which is busy or does not answer, for ${seconds} s of ${limit}${last}`);
        },
        abortable(waiting, signal),
      );
    } catch (error) {
      if (error instanceof DatabaseStartError || !isTemporary(error)) throw error;
      throw new DatabaseStartError(`The database stopped answering while the service started: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  };
}

/** Calls `remind` again and again until the work ends. */
async function reminding<Result>(remind: (seconds: number) => void, work: Promise<Result>): Promise<Result> {
  const began = performance.now();
  const timer = setInterval(() => {
    remind(Math.round((performance.now() - began) / 1_000));
  }, remindEveryMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

async function startOwnDatabase(
  options: DatabaseStartOptions,
  cleanups: (() => Promise<void>)[],
): Promise<EmbeddedDatabase> {
  const { config, environment, log, print } = options;
  const { dataDir, cacheDir } = config.database;
  if (config.readOnly && !hasDatabase(dataDir)) throw new DatabaseStartError(noData(`DATA_DIR (${dataDir})`));
  print('Database: starting an embedded server (the first start may take a minute) …');
  const embedded = await reminding(
    (seconds) => {
      print(`Database: the embedded server is not ready after ${seconds} s; each attempt to start it ends after 90 s`);
    },
    startEmbeddedDatabase({ dataDir, cacheDir, env: environment, log, signal: options.signal }),
  );
  cleanups.push(() => embedded.stop());
  print(`Database: ${embedded.engine}, data in ${dataDir}`);
  if (embedded.engine.startsWith('SecantusDB')) {
    print('Database: it is for trying out. Beyond some ten thousand orders or deliveries, use MongoDB (MONGODB_URI).');
  }
  if (!embedded.isProtected) {
    print('Warning: the embedded database has no password. Every user of this machine can read and change the data.');
  }
  return embedded;
}
