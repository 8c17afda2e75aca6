import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { connectDatabase } from '../../src/storage/db/client.ts';
import { defaultCacheDir } from '../../src/storage/db/embedded/cache-dir.ts';
import { startEmbeddedDatabase } from '../../src/storage/db/embedded/embedded-database.ts';
import { openPages } from '../../src/storage/db/open-pages.ts';
import type { PagedDatabase } from '../../src/storage/db/pages.ts';
import { silentLog } from '../support/log.ts';
import type { Target, World } from './hostile-world.ts';

/** Opens the database of a service under attack, to fill it faster than through the API. Close it before the world. */
export async function openDatabase(world: World, target: Target): Promise<PagedDatabase> {
  const embedded = await startEmbeddedDatabase({
    dataDir: target.folder.path,
    cacheDir: defaultCacheDir(process.env, homedir()),
    env: process.env,
    log: silentLog,
    engines: [world.engine],
  });
  const database = await openPages(
    await connectDatabase({ uri: embedded.uri, databaseName: 'prompt_gateway', log: silentLog }),
  );
  return {
    ...database,
    async close() {
      await database.close();
      await embedded.stop();
    },
  };
}

/** A UUID that is as evenly distributed as a random one, and always the same for the same number. */
export function uuid(number: number): string {
  const digits = createHash('sha256').update(String(number)).digest('hex');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
