/**
 * How the structure of the data changes from release to release.
 *
 * The data has a schema version, stored in the database (`schema.ts`), 7 in 1.0.0. A migration brings it from one version
 * to the next. To add one, add a file here with the next number, append it to the list in `migrations.ts`, and test it in
 * `test/storage/db/migrations/`. Indexes need no migration: a declared index that is missing is built (`migrator.ts`).
 *
 * - A migration can be interrupted at any command and is then run again from its beginning, so every command must be
 *   repeatable. Another process may be serving requests at the same time.
 * - Two neighbouring releases can run side by side. So a release first adds: it writes the new form, and still what the
 *   release before reads. Its migration has no `oldestReader`. The next release removes the old form, and names the
 *   version that introduced the new one as `oldestReader`: releases that do not know it refuse to start from then on.
 */
import type { Db } from 'mongodb';

export interface Migration {
  /** The schema version of the data after it: that of the migration before, plus 1. */
  readonly version: number;
  /** What it does, for the log and the operator, such as `add the language of prompts`. */
  readonly title: string;
  /** The service does not listen before it is done. Otherwise it runs while requests are served. */
  readonly isBeforeServing?: true;
  /** The smallest schema version that a release must know to read the data afterwards. Only if it removes something. */
  readonly oldestReader?: number;
  run(tools: MigrationTools): Promise<void>;
}

/** What a migration changes data with. */
export interface MigrationTools {
  /**
   * Runs one command that can be repeated. It may take minutes. It is repeated while the database is unavailable, and
   * followed by a pause, so that requests are served in between.
   *
   * @param subject what is changed, for the log, such as the name of the collection
   */
  change<Result>(subject: string, command: (db: Db) => Promise<Result>): Promise<Result>;
  /** Drops an index, if it exists. */
  dropIndex(collection: string, name: string): Promise<void>;
}
