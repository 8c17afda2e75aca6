import { DatabaseStartError, type Database } from './client.ts';
import { ensureIndexes, missingIndexes, type CollectionIndexes } from './indexes.ts';
import type { DatabaseLog } from './log.ts';
import { Migrator, type MigratorTimes } from './migrator.ts';
import type { PagedDatabase } from './pages.ts';
import { knownVersion, openSchema, readSchema, type Release } from './schema.ts';

export interface OpenDataOptions {
  readonly database: PagedDatabase;
  /** Opens connections that wait for answers without a limit. */
  readonly openLong: () => Promise<Database>;
  readonly release: Release;
  /** The indexes of the stores. */
  readonly indexes: readonly CollectionIndexes[];
  readonly log: DatabaseLog;
  /** Called when a migration failed that will be repeated. */
  readonly onFailure?: (() => void) | undefined;
  /** Shorter times for tests. */
  readonly times?: MigratorTimes | undefined;
  /** Interrupts what must be done before requests are served, and gives the lease back. */
  readonly signal?: AbortSignal | undefined;
  readonly now: () => Date;
  readonly monotonic: () => number;
}

/** The data of a database, ready to be served. */
export interface Data extends Pick<Migrator, 'start' | 'stop' | 'progress'> {
  /** The schema version of the data, and the smallest one that a release must know to read it. */
  schema(): { readonly version: number; readonly oldestReader: number };
}

/**
 * Checks that this release can read the data, and does what must be done before requests are served. What else is to be
 * done begins with `start`. Can be repeated.
 *
 * @throws The reason of the signal when that is aborted
 * @throws DatabaseStartError when the release is too old for the data, or an index cannot be created
 * @throws ProblemError `database-unavailable`
 */
export async function openData(options: OpenDataOptions): Promise<Data> {
  const { database, release, signal, now } = options;
  const indexes = database.pages.indexes(options.indexes);
  const schema = await openSchema(database, release, now());
  const isOlder = knownVersion(release) < schema.version();
  // A newer release has dropped indexes that this one would create again.
  const missing = isOlder ? [] : await ensureIndexes(database.db, indexes, (await schema.read()).building);
  const migrator = new Migrator({ ...options, indexes, schema, missing });
  const interrupt = (): void => {
    void migrator.stop(0);
  };
  signal?.addEventListener('abort', interrupt, { once: true });
  try {
    signal?.throwIfAborted();
    await migrator.prepare();
  } catch (error) {
    await migrator.stop(0);
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
  return {
    start: () => {
      migrator.start();
    },
    stop: (limitMs) => migrator.stop(limitMs),
    progress: () => migrator.progress(),
    schema: () => ({ version: schema.version(), oldestReader: schema.oldestReader() }),
  };
}

/**
 * The same for a process that changes nothing.
 *
 * @throws DatabaseStartError when the release is too old for the data, or has to migrate it first
 * @throws ProblemError `database-unavailable`
 */
export async function openDataToRead({
  database,
  release,
  indexes,
}: Pick<OpenDataOptions, 'database' | 'release' | 'indexes'>): Promise<Data> {
  const schema = await readSchema(database, release);
  const isComplete =
    schema !== undefined &&
    // A newer release has dropped indexes that this one declares.
    (schema.version > knownVersion(release) ||
      (await missingIndexes(database.db, database.pages.indexes(indexes))).length === 0);
  if (!isComplete) {
    throw new DatabaseStartError(
      `prompt-gateway ${release.name} has to migrate the data before it can serve them, and READ_ONLY=on changes ` +
        'nothing. Nothing was changed. Start this release once without READ_ONLY (WEBHOOKS=off sends no webhooks), or ' +
        'start the release that wrote the data.',
    );
  }
  const { version, oldest_reader: oldestReader } = schema;
  return {
    start: () => undefined,
    stop: () => Promise.resolve(),
    progress: () => undefined,
    schema: () => ({ version, oldestReader }),
  };
}
