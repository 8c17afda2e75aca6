import { mkdir, readdir, realpath, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { engineIdSchema, type EngineId } from './engines.ts';
import { readIfThere, readJson, writeJson, writePrivately } from './json-file.ts';

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

/**
 * The database part of a data folder:
 *
 *     database/engine.json     the folder's id and engine
 *     database/server.json     process and port of the last server
 *     database/password        of the server's only user; only the owner can read it
 *     database/starting.lock   held while a server is looked for, started or stopped
 *     database/users.lock      shared by the service processes that use the server
 *     database/server.log      the server's output since its start; server.log.previous is that of the server before
 *     database/secantusd.toml  empty: without it SecantusDB looks for settings elsewhere
 *     database/<engine>/       the engine's own files
 */
export class DatabaseFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Opens the folder below a data folder. A missing one is created; only its owner can read it. */
  static async open(dataDir: string): Promise<DatabaseFolder> {
    const path = join(dataDir, 'database');
    await mkdir(path, { recursive: true, mode: 0o700 });
    await writeFile(join(path, 'secantusd.toml'), '');
    return new DatabaseFolder(await realpath(path));
  }

  /** The path of one of the files that are described above. */
  pathOf(name: 'starting.lock' | 'users.lock' | 'server.log' | 'password' | EngineId): string {
    return join(this.path, name);
  }

  /** @throws Error when the record cannot be read: guessing an engine could begin a second database */
  async readRecord(): Promise<FolderRecord | undefined> {
    const path = join(this.path, 'engine.json');
    try {
      const content = await readJson(path);
      if (content !== undefined) return folderRecordSchema.parse(content);
    } catch (error) {
      throw new Error(`${path} cannot be read. It names the engine that this data folder was made with.`, {
        cause: error,
      });
    }
    const orphan = (await readdir(this.path)).find((name) => engineIdSchema.safeParse(name).success);
    if (orphan === undefined) return undefined;
    throw new Error(`${path} is missing, but there are files of a database in ${join(this.path, orphan)}.`);
  }

  writeRecord(record: FolderRecord): Promise<void> {
    return writeJson(join(this.path, 'engine.json'), record);
  }

  /** The password of the server's user; undefined if no server has run with one yet. */
  async readPassword(): Promise<string | undefined> {
    return (await readIfThere(this.pathOf('password')))?.trim();
  }

  writePassword(password: string): Promise<void> {
    return writePrivately(this.pathOf('password'), `${password}\n`);
  }

  /** Removes the record of an engine that did not start, so that the next one can be tried. */
  async discard(engine: EngineId): Promise<void> {
    for (const name of [engine, 'password', 'engine.json']) {
      await rm(join(this.path, name), { recursive: true, force: true });
    }
  }

  /** The last server; undefined if the record is unreadable or came from another folder as a copy. */
  async readServer(): Promise<ServerRecord | undefined> {
    const content = await readJson(join(this.path, 'server.json')).catch(() => undefined);
    const record = serverRecordSchema.safeParse(content).data;
    return record?.storagePath.startsWith(this.path) === true ? record : undefined;
  }

  writeServer(record: ServerRecord): Promise<void> {
    return writeJson(join(this.path, 'server.json'), record);
  }

  async removeServer(): Promise<void> {
    await rm(join(this.path, 'server.json'), { force: true });
  }

  /** True when the file system is almost full. */
  async isFull(): Promise<boolean> {
    try {
      const { bavail, bsize } = await statfs(this.path);
      return bavail * bsize < LEAST_BYTES;
    } catch {
      return false;
    }
  }
}
