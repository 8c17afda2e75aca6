import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { defaultCacheDir } from '../../src/storage/db/embedded/cache-dir.ts';
import type { EngineId } from '../../src/storage/db/embedded/engines.ts';
import { startEmbeddedDatabase } from '../../src/storage/db/embedded/embedded-database.ts';
import { silentLog } from '../support/log.ts';

/** A data folder of its own for a service process. */
export interface DataFolder {
  readonly path: string;
  /** Process id of its database server. */
  databasePid(): Promise<number>;
  remove(): Promise<void>;
}

/** Creates a data folder. @param engine of its database; without it the service chooses */
export async function createDataFolder(engine?: EngineId, parent = tmpdir()): Promise<DataFolder> {
  const folder = await mkdtemp(path.join(parent, 'prompt-gateway-faults-'));
  if (engine !== undefined) {
    const cacheDir = defaultCacheDir(process.env, homedir());
    const settings = { dataDir: folder, cacheDir, env: process.env, log: silentLog, engines: [engine] };
    const database = await startEmbeddedDatabase(settings);
    await database.stop();
  }
  return {
    path: folder,
    async databasePid() {
      const record = await readFile(path.join(folder, 'database', 'server.json'), 'utf8');
      return (JSON.parse(record) as { pid: number }).pid;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
