import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hasCode, messageOf } from '../../../base/runtime/system-error.ts';
import { engineIdSchema, type EngineId } from './engines.ts';

/**
 * No embedded database could be started. The message is for the operator and says what was attempted and what to do.
 */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
}

/** What an operator can do about a folder that cannot be used. */
export const WHAT_TO_DO = 'Restore it, set DATA_DIR to another folder, or set MONGODB_URI to your own MongoDB.';

const folderRecordSchema = z.object({
  /** Also stored in the database: distinguishes this folder's server from another one on the same port. */
  id: z.uuid(),
  engine: engineIdSchema,
  /** The release that was downloaded for this folder; absent for a server of the machine. */
  version: z.string().optional(),
});
/** The engine that a data folder was created with. Written once. */
export type FolderRecord = z.infer<typeof folderRecordSchema>;

const serverRecordSchema = z.object({ pid: z.int().positive(), port: z.int().positive(), storagePath: z.string() });
/** The server that was started last on a data folder. It may have ended since. */
export type ServerRecord = z.infer<typeof serverRecordSchema>;

/** With less space than this no storage engine can start, and a running one stops soon. */
const LEAST_BYTES = 4 * 1_048_576;

/** Whether a data folder has a database. */
export function hasDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, 'database', 'engine.json'));
}

/**
 * The database part of a data folder:
 *
 *     database/engine.json     the folder's id and engine
 *     database/server.json     process and port of the last server
 *     database/password        of the server's only user; only the owner can read it
 *     database/starting.lock   held while a server is looked for, started or stopped
 *     database/users.lock      shared by the service processes that use the server
 *     database/lifeline        a pipe that these have open; the server ends with the last of them
 *     database/server.log      the server's output since its start; server.log.previous is that of the server before
 *     database/secantusd.toml  empty: without it SecantusDB looks for settings elsewhere
 *     database/<engine>/       the engine's own files
 */
export class DatabaseFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * Opens the folder below a data folder. A missing one is created; only its owner can read it.
   *
   * @throws EmbeddedDatabaseError
   */
  static async open(dataDir: string): Promise<DatabaseFolder> {
    const path = join(dataDir, 'database');
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await writeFile(join(path, 'secantusd.toml'), '');
      return new DatabaseFolder(await realpath(path));
    } catch (cause) {
      throw new EmbeddedDatabaseError(
        `The folder of the database cannot be used (${messageOf(cause)}). Set DATA_DIR to a folder that this user can write to, or set MONGODB_URI to your own MongoDB.`,
        { cause },
      );
    }
  }

  /** The path of one of the files that are described above. */
  pathOf(name: 'starting.lock' | 'users.lock' | 'lifeline' | 'server.log' | 'password' | EngineId): string {
    return join(this.path, name);
  }

  /** @throws EmbeddedDatabaseError when the record cannot be read: guessing an engine could begin a second database */
  async readRecord(): Promise<FolderRecord | undefined> {
    const path = join(this.path, 'engine.json');
    try {
      const text = await this.read('engine.json');
      if (text !== undefined) return folderRecordSchema.parse(JSON.parse(text));
    } catch (cause) {
      throw new EmbeddedDatabaseError(
        `${path} cannot be read. It names the engine that this data folder was made with. ${WHAT_TO_DO}`,
        { cause },
      );
    }
    const orphan = (await readdir(this.path)).find((name) => engineIdSchema.safeParse(name).success);
    if (orphan === undefined) return undefined;
    throw new EmbeddedDatabaseError(
      `${path} is missing, but there are files of a database in ${join(this.path, orphan)}. ${WHAT_TO_DO}`,
    );
  }

  writeRecord(record: FolderRecord): Promise<void> {
    return this.write('engine.json', JSON.stringify(record, null, 2));
  }

  /** The password of the server's user; undefined if no server has run with one yet. */
  async readPassword(): Promise<string | undefined> {
    return (await this.read('password'))?.trim();
  }

  writePassword(password: string): Promise<void> {
    return this.write('password', password);
  }

  /** Removes the record of an engine that did not start, so that the next one can be tried. */
  async discard(engine: EngineId): Promise<void> {
    for (const name of [engine, 'password', 'engine.json']) {
      await rm(join(this.path, name), { recursive: true, force: true });
    }
  }

  /** The last server; undefined if the record came from another folder as a copy. */
  async readServer(): Promise<ServerRecord | undefined> {
    const record = serverRecordSchema.safeParse(JSON.parse((await this.read('server.json')) ?? 'null')).data;
    return record?.storagePath.startsWith(this.path) === true ? record : undefined;
  }

  writeServer(record: ServerRecord): Promise<void> {
    return this.write('server.json', JSON.stringify(record, null, 2));
  }

  async removeServer(): Promise<void> {
    for (const name of ['server.json', 'lifeline']) await rm(join(this.path, name), { force: true });
  }

  /** True when the file system is almost full. */
  async isFull(): Promise<boolean> {
    const space = await statfs(this.path).catch(() => undefined);
    return space !== undefined && space.bavail * space.bsize < LEAST_BYTES;
  }

  private async read(name: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.path, name), 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** Replaces a file in one step: a reader, and a crash, leaves the old one or the new one. */
  private async write(name: string, text: string): Promise<void> {
    const path = join(this.path, name);
    const temporary = `${path}.${randomUUID()}`;
    await writeFile(temporary, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    await rename(temporary, path);
  }
}
