/**
 * Brings the data to the schema version of this release: missing indexes, then migrations. One process at a time does
 * it, under a lease; the others serve and wait. Everything can be interrupted: the next process repeats the migration
 * that was not completed, and builds an index again whose build was not completed.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Database } from './client.ts';
import {
  createIndex,
  dropIndex,
  missingIndexes,
  type CollectionIndexes,
  type DeclaredIndex,
  type IndexName,
} from './indexes.ts';
import type { DatabaseLog } from './log.ts';
import type { Migration, MigrationTools } from './migrations/migration.ts';
import type { PagedDatabase } from './pages.ts';
import { isTemporary, patiently } from './patience.ts';
import { knownVersion, type Schema, type SchemaDocument } from './schema.ts';
import type { Change } from './writes.ts';
import { createStalenessWatch } from '../../base/runtime/staleness-watch.ts';
import { within } from '../../base/runtime/within.ts';

/** Milliseconds. */
export interface MigratorTimes {
  /** Between two signs of life of the process that migrates. */
  readonly beatMs: number;
  /** Without a sign of life, after which another process takes over. */
  readonly termMs: number;
  /** Between two looks at what another process does. */
  readonly pollMs: number;
  /** The least pause after a command. It is at least as long as the command took, so that half of the time is left. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** After a failure. */
  readonly retryMs: number;
}

const usualTimes: MigratorTimes = {
  beatMs: 5_000,
  termMs: 30_000,
  pollMs: 2_000,
  pauseMs: 200,
  longestPauseMs: 30_000,
  retryMs: 60_000,
};

/** Milliseconds between two messages while the database does not answer. */
const remindEveryMs = 30_000;

/** What is under way, as answers show it. */
export interface MigrationProgress {
  readonly status: 'running' | 'waiting' | 'failing';
  /** What this process does, such as `build index "expires_at_1__id_1" of deliveries`. */
  readonly task?: string | undefined;
  /** Tasks of this process that are complete, of all. */
  readonly done: number;
  readonly total: number;
}

export interface Migrator {
  /** Does what must be complete before requests are served, after another process if one does it already. */
  prepare(): Promise<void>;
  /** Does the rest in the background. */
  start(): void;
  /** Undefined when nothing is left to do. */
  progress(): MigrationProgress | undefined;
  /** Interrupts the work, after the command in progress or this many milliseconds. */
  stop(limitMs: number): Promise<void>;
}

export interface MigratorDependencies {
  readonly database: PagedDatabase;
  /** Opens connections that wait for answers without a limit. */
  readonly openLong: () => Promise<Database>;
  readonly schema: Schema;
  readonly indexes: readonly CollectionIndexes[];
  /** The declared indexes that were missing at start. */
  readonly missing: readonly DeclaredIndex[];
  readonly log: DatabaseLog;
  /** Called when a migration failed that will be repeated. */
  readonly onFailure?: (() => void) | undefined;
  /** Shorter times for tests. */
  readonly times?: MigratorTimes | undefined;
  readonly monotonic: () => number;
}

/** The lease was lost, or the process stops. */
class InterruptedError extends Error {}

interface Task {
  readonly title: string;
  run(lease: Lease): Promise<void>;
}

/** The right to migrate. */
interface Lease {
  /** Changes the schema document. @throws InterruptedError when another process has the lease */
  change(change: Change<SchemaDocument>): Promise<void>;
  release(): Promise<void>;
}

export function createMigrator(dependencies: MigratorDependencies): Migrator {
  const { database, openLong, schema, indexes, log, monotonic, times = usualTimes } = dependencies;
  const { migrations } = schema.release;
  const watch = createStalenessWatch(monotonic);
  const stopping = new AbortController();
  let long: Database | undefined;
  let progress: MigrationProgress | undefined;
  let work: Promise<void> = Promise.resolve();
  let mayBeMissing = dependencies.missing.length > 0;

  const pause = async (milliseconds: number): Promise<void> => {
    await sleep(milliseconds, undefined, { signal: stopping.signal }).catch(() => undefined);
  };
  const checkStopping = (): void => {
    if (stopping.signal.aborted) throw new InterruptedError('the process stops');
  };

  /** Runs a command however long the database is unavailable, then pauses. */
  const runLong = async <Result>(subject: string, command: (db: Db) => Promise<Result>): Promise<Result> => {
    checkStopping();
    const { db } = (long ??= await openLong());
    const begin = monotonic();
    let reminded = 0;
    const result = await patiently(
      async () => {
        checkStopping();
        return await command(db);
      },
      {
        limitMs: Infinity,
        isOver: () => stopping.signal.aborted,
        onWait(reason, waitedMs) {
          if (waitedMs < reminded * remindEveryMs) return;
          reminded += 1;
          log.warn({ subject, reason }, 'the database does not answer a migration; it is repeated');
        },
      },
    );
    const tookMs = monotonic() - begin;
    log.info({ subject, ms: Math.round(tookMs) }, 'a command of a migration is complete');
    await pause(Math.min(Math.max(times.pauseMs, tookMs), times.longestPauseMs));
    return result;
  };

  const dropOne = (collection: string, name: string): Promise<void> =>
    runLong(`${collection}.${name}`, (db) => dropIndex(db, collection, name));

  const buildOne = async (lease: Lease, wanted: DeclaredIndex): Promise<void> => {
    const { collection, index } = wanted;
    await lease.change({ $set: { building: { collection, index: index.name } } });
    let isUnknown = false;
    try {
      await runLong(`${collection}.${index.name}`, async (db) => {
        // A server that was killed during the build may have left an incomplete index.
        if (isUnknown) await dropIndex(db, collection, index.name);
        isUnknown = true;
        await createIndex(db, wanted);
      });
    } catch (error) {
      if (!isTemporary(error) && !(error instanceof InterruptedError)) await lease.change(notBuilding);
      throw error;
    }
    await lease.change(notBuilding);
  };

  const migrate = async (lease: Lease, migration: Migration): Promise<void> => {
    const tools: MigrationTools = { pages: database.pages, change: runLong, dropIndex: dropOne };
    await migration.run(tools);
    const { version, oldestReader } = migration;
    await lease.change({
      $set: { version },
      ...(oldestReader === undefined ? {} : { $max: { oldest_reader: oldestReader } }),
    });
    log.info({ schema_version: version }, `migrated: ${migration.title}`);
  };

  /** What is to do, in order. @param only what must be done before requests are served */
  const plan = async (document: SchemaDocument, isBeforeServing: boolean): Promise<Task[]> => {
    // A release that is older than the data leaves the indexes to the newer one, which may have dropped some.
    if (knownVersion(schema.release) < document.version) return [];
    const pending = migrations.filter(({ version }) => version > document.version);
    const urgent = pending.slice(0, pending.findLastIndex((migration) => migration.isBeforeServing === true) + 1);
    const declared = mayBeMissing ? await missingIndexes(database.db, indexes) : [];
    const isDue = (index: DeclaredIndex['index'] | undefined): boolean => !isBeforeServing || index?.unique === true;
    const { building } = document;
    return [
      ...(building !== undefined && isDue(findDeclared(building)) ? [repairTask(building)] : []),
      ...declared.filter(({ index }) => isDue(index)).map(buildTask),
      ...(isBeforeServing ? urgent : pending).map(migrationTask),
    ];
  };
  const buildTask = (wanted: DeclaredIndex): Task => ({
    title: `build index "${wanted.index.name}" of ${wanted.collection}`,
    run: (lease) => buildOne(lease, wanted),
  });
  const migrationTask = (migration: Migration): Task => ({
    title: migration.title,
    run: (lease) => migrate(lease, migration),
  });
  const repairTask = (interrupted: IndexName): Task => ({
    title: `rebuild index "${interrupted.index}" of ${interrupted.collection}, whose build was interrupted`,
    async run(lease) {
      const { collection } = interrupted;
      await dropOne(collection, interrupted.index);
      const index = findDeclared(interrupted);
      if (index === undefined) await lease.change(notBuilding);
      else await buildOne(lease, { collection, index });
    },
  });
  const findDeclared = ({ collection, index }: IndexName): DeclaredIndex['index'] | undefined =>
    indexes.find((declaration) => declaration.collection === collection)?.indexes.find(({ name }) => name === index);

  /** Does what is to do. @param isBeforeServing only what must be done before requests are served */
  const doAll = async (isBeforeServing: boolean): Promise<void> => {
    for (;;) {
      checkStopping();
      const readAt = monotonic();
      const seen = await schema.read().catch((error: unknown) => {
        // The holder of the lease cannot write either while the database does not answer.
        watch.forget('lease');
        throw error;
      });
      const tasks = await plan(seen, isBeforeServing);
      if (tasks.length === 0) return;
      const lease = await acquire(seen, readAt);
      if (lease === undefined) {
        if (progress?.status !== 'waiting') {
          const term = `${times.termMs / 1_000} s`;
          log.info({}, `another process migrates the data; waiting until it ends or gives no sign of life for ${term}`);
        }
        progress = { status: 'waiting', done: 0, total: tasks.length };
        await pause(times.pollMs);
        continue;
      }
      try {
        log.info({ schema_version: seen.version, tasks: tasks.map(({ title }) => title) }, 'migrating the data');
        for (const [done, task] of tasks.entries()) {
          progress = { status: 'running', task: task.title, done, total: tasks.length };
          await task.run(lease);
        }
      } catch (error) {
        if (!(error instanceof InterruptedError)) throw error;
      } finally {
        await lease.release().catch(() => undefined);
      }
    }
  };

  /** Takes the lease, unless another process has it. */
  const acquire = async (seen: SchemaDocument, readAt: number): Promise<Lease | undefined> => {
    const isFree =
      seen.holder === undefined || watch.observe('lease', `${seen.revision}`, readAt).unchangedMs >= times.termMs;
    if (!isFree) return undefined;
    const holder = randomUUID();
    const taken = await schema.change(seen, { $set: { holder } });
    return taken?.holder === holder ? hold(taken) : undefined;
  };

  const hold = (taken: SchemaDocument): Lease => {
    const { holder = '' } = taken;
    let current = taken;
    let writing: Promise<unknown> = Promise.resolve();
    const write = async (change: Change<SchemaDocument>): Promise<void> => {
      // The revision of a document that another process holds must not be used: that process would lose its lease.
      while (current.holder === holder) {
        const after = await schema.change(current, change);
        current = after ?? (await schema.read());
        if (after !== undefined) return;
      }
      throw new InterruptedError('another process migrates');
    };
    /** One write after the other, because each needs the revision of the one before. */
    const enqueue = (change: Change<SchemaDocument>): Promise<void> => {
      const written = writing.then(() => write(change));
      writing = written.catch(() => undefined);
      return written;
    };
    let isBeating = false;
    const beat = setInterval(() => {
      if (isBeating || stopping.signal.aborted) return;
      isBeating = true;
      void enqueue({})
        .catch(() => undefined)
        .finally(() => (isBeating = false));
    }, times.beatMs).unref();
    return {
      change: (change) =>
        patiently(() => enqueue(change), {
          limitMs: Infinity,
          isOver: () => stopping.signal.aborted,
          onWait: () => undefined,
        }),
      async release() {
        clearInterval(beat);
        await enqueue({ $unset: { holder: '' } });
      },
    };
  };

  /** Does the rest until nothing is left, whatever fails. */
  const keepWorking = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await doAll(false);
        break;
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (isTemporary(error)) {
          await pause(times.pollMs);
          continue;
        }
        const { done = 0, total = 0, task } = progress ?? {};
        progress = { status: 'failing', task, done, total };
        log.warn({ error, task }, 'a migration failed; it will be repeated');
        dependencies.onFailure?.();
        await pause(times.retryMs);
      }
    }
    if (progress !== undefined) log.info({ schema_version: schema.version() }, 'the data is migrated');
    progress = undefined;
    await closeLong();
  };
  const closeLong = async (): Promise<void> => {
    const closing = long;
    long = undefined;
    await closing?.close().catch(() => undefined);
  };

  return {
    async prepare() {
      await doAll(true);
      const left = await plan(await schema.read(), false);
      mayBeMissing ||= left.length > 0;
      progress = left.length === 0 ? undefined : { status: 'waiting', done: 0, total: left.length };
    },
    start() {
      if (progress !== undefined) work = keepWorking();
      else work = closeLong();
    },
    progress: () => progress,
    async stop(limitMs) {
      stopping.abort();
      await within(limitMs, work, () => undefined);
      // Ends the command in progress for this process. The server may complete it.
      await closeLong();
    },
  };
}

const notBuilding: Change<SchemaDocument> = { $unset: { building: '' } };
