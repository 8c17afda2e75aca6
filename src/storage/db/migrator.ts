/**
 * Brings the data to the schema version of this release: missing indexes, then migrations. One process at a time does
 * it, under a lease; the others serve and wait. Everything can be interrupted: the next process repeats the migration
 * that was not completed, and builds an index again whose build was not completed.
 */
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
import { InterruptedError, LeaseTaker, type Lease, type LeaseTimes } from './migration-lease.ts';
import type { Migration, MigrationTools } from './migrations/migration.ts';
import type { PagedDatabase } from './pages.ts';
import { isTemporary, patiently } from './patience.ts';
import { knownVersion, type Schema, type SchemaDocument } from './schema.ts';
import type { Change } from './writes.ts';
import { within } from '../../base/runtime/within.ts';

/** Milliseconds. */
export interface MigratorTimes extends LeaseTimes {
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

interface Task {
  readonly title: string;
  run(lease: Lease): Promise<void>;
}

const notBuilding: Change<SchemaDocument> = { $unset: { building: '' } };

/** Does what is to do, as tasks in order, as long as this process has the lease. */
export class Migrator {
  readonly #with: MigratorDependencies;
  readonly #times: MigratorTimes;
  readonly #stopping = new AbortController();
  readonly #leases: LeaseTaker;
  /** A connection of its own. */
  #long: Database | undefined;
  #progress: MigrationProgress | undefined;
  #work: Promise<void> = Promise.resolve();
  #mayBeMissing: boolean;
  readonly #tools: MigrationTools = {
    change: (subject, command) => this.#run(subject, command),
    dropIndex: (collection, name) => this.#drop(collection, name),
  };

  constructor(dependencies: MigratorDependencies) {
    const { missing, times = usualTimes } = dependencies;
    this.#with = dependencies;
    this.#times = times;
    this.#mayBeMissing = missing.length > 0;
    this.#leases = new LeaseTaker({ ...dependencies, times, signal: this.#stopping.signal });
  }

  /** Does what must be complete before requests are served, after another process if one does it already. */
  async prepare(): Promise<void> {
    await this.#doAll(true);
    const left = await this.#plan(await this.#with.schema.read(), false);
    this.#mayBeMissing ||= left.length > 0;
    this.#progress = left.length === 0 ? undefined : { status: 'waiting', done: 0, total: left.length };
  }

  /** Does the rest in the background. */
  start(): void {
    this.#work = this.#progress === undefined ? this.#closeLong() : this.#keepWorking();
  }

  /** Undefined when nothing is left to do. */
  progress(): MigrationProgress | undefined {
    return this.#progress;
  }

  /** Interrupts the work, after the command in progress or this many milliseconds. */
  async stop(limitMs: number): Promise<void> {
    this.#stopping.abort();
    await within(limitMs, this.#work, () => undefined);
    await this.#closeLong();
  }

  /** Does the rest until nothing is left, whatever fails. */
  async #keepWorking(): Promise<void> {
    const { schema, log } = this.#with;
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#doAll(false);
        break;
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        if (isTemporary(error)) {
          await this.#pause(this.#times.pollMs);
          continue;
        }
        const { done = 0, total = 0, task } = this.#progress ?? {};
        this.#progress = { status: 'failing', task, done, total };
        log.warn({ error, task }, 'a migration failed; it will be repeated');
        this.#with.onFailure?.();
        await this.#pause(this.#times.retryMs);
      }
    }
    if (this.#progress !== undefined) log.info({ schema_version: schema.version() }, 'the data is migrated');
    this.#progress = undefined;
    await this.#closeLong();
  }

  /** Does what is to do. @param isBeforeServing only what must be done before requests are served */
  async #doAll(isBeforeServing: boolean): Promise<void> {
    const { log } = this.#with;
    for (;;) {
      this.#checkStopping();
      const { document, take } = await this.#leases.read();
      const tasks = await this.#plan(document, isBeforeServing);
      if (tasks.length === 0) return;
      const lease = await take();
      if (lease === undefined) {
        if (this.#progress?.status !== 'waiting') {
          const term = `${this.#times.termMs / 1_000} s`;
          log.info({}, `another process migrates the data; waiting until it ends or gives no sign of life for ${term}`);
        }
        this.#progress = { status: 'waiting', done: 0, total: tasks.length };
        await this.#pause(this.#times.pollMs);
        continue;
      }
      try {
        log.info({ schema_version: document.version, tasks: tasks.map(({ title }) => title) }, 'migrating the data');
        for (const [done, task] of tasks.entries()) {
          this.#progress = { status: 'running', task: task.title, done, total: tasks.length };
          await task.run(lease);
        }
      } catch (error) {
        if (!(error instanceof InterruptedError)) throw error;
      } finally {
        await lease.release().catch(() => undefined);
      }
    }
  }

  // Tasks --------------------------------------------------------------------------------------------------------

  /** What is to do, in order. */
  async #plan(document: SchemaDocument, isBeforeServing: boolean): Promise<Task[]> {
    const { database, schema, indexes } = this.#with;
    const { version: present, building } = document;
    // A release that is older than the data leaves the indexes to the newer one, which may have dropped some.
    if (knownVersion(schema.release) < present) return [];
    const pending = schema.release.migrations.filter(({ version }) => version > present);
    const urgent = pending.slice(0, pending.findLastIndex((migration) => migration.isBeforeServing === true) + 1);
    const declared = this.#mayBeMissing ? await missingIndexes(database.db, indexes) : [];
    const isDue = (index: DeclaredIndex['index'] | undefined): boolean => !isBeforeServing || index?.unique === true;
    return [
      ...(building !== undefined && isDue(this.#findDeclared(building)) ? [this.#repairTask(building)] : []),
      ...declared.filter(({ index }) => isDue(index)).map((index) => this.#buildTask(index)),
      ...(isBeforeServing ? urgent : pending).map((migration) => this.#migrationTask(migration)),
    ];
  }

  #buildTask(wanted: DeclaredIndex): Task {
    return {
      title: `build index "${wanted.index.name}" of ${wanted.collection}`,
      run: (lease) => this.#build(lease, wanted),
    };
  }

  #repairTask({ collection, index: name }: IndexName): Task {
    return {
      title: `rebuild index "${name}" of ${collection}, whose build was interrupted`,
      run: async (lease) => {
        await this.#drop(collection, name);
        const index = this.#findDeclared({ collection, index: name });
        if (index === undefined) await lease.change(notBuilding);
        else await this.#build(lease, { collection, index });
      },
    };
  }

  #migrationTask(migration: Migration): Task {
    const { log } = this.#with;
    const { title, version, oldestReader } = migration;
    return {
      title,
      run: async (lease) => {
        await migration.run(this.#tools);
        await lease.change({
          $set: { version },
          ...(oldestReader === undefined ? {} : { $max: { oldest_reader: oldestReader } }),
        });
        log.info({ schema_version: version }, `migrated: ${title}`);
      },
    };
  }

  async #build(lease: Lease, wanted: DeclaredIndex): Promise<void> {
    const { collection, index } = wanted;
    await lease.change({ $set: { building: { collection, index: index.name } } });
    let isUnknown = false;
    try {
      await this.#run(`${collection}.${index.name}`, async (db) => {
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
  }

  async #drop(collection: string, name: string): Promise<void> {
    await this.#run(`${collection}.${name}`, (db) => dropIndex(db, collection, name));
  }

  #findDeclared({ collection, index }: IndexName): DeclaredIndex['index'] | undefined {
    const declaration = this.#with.indexes.find((each) => each.collection === collection);
    return declaration?.indexes.find(({ name }) => name === index);
  }

  // Commands -----------------------------------------------------------------------------------------------------

  /** Runs a command however long the database is unavailable, then pauses. */
  async #run<Result>(subject: string, command: (db: Db) => Promise<Result>): Promise<Result> {
    const { openLong, log, monotonic } = this.#with;
    const { pauseMs, longestPauseMs } = this.#times;
    this.#checkStopping();
    const { db } = (this.#long ??= await openLong());
    const begin = monotonic();
    let reminded = 0;
    const attempt = async (): Promise<Result> => {
      this.#checkStopping();
      return await command(db);
    };
    const result = await patiently(attempt, {
      limitMs: Infinity,
      isOver: () => this.#stopping.signal.aborted,
      onWait(reason, waitedMs) {
        if (waitedMs < reminded * remindEveryMs) return;
        reminded += 1;
        log.warn({ subject, reason }, 'the database does not answer a migration; it is repeated');
      },
    });
    const tookMs = monotonic() - begin;
    log.info({ subject, ms: Math.round(tookMs) }, 'a command of a migration is complete');
    await this.#pause(Math.min(Math.max(pauseMs, tookMs), longestPauseMs));
    return result;
  }

  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  #checkStopping(): void {
    if (this.#stopping.signal.aborted) throw new InterruptedError('the process stops');
  }

  /** Ends the command in progress for this process. The server may complete it. */
  async #closeLong(): Promise<void> {
    const closing = this.#long;
    this.#long = undefined;
    await closing?.close().catch(() => undefined);
  }
}
