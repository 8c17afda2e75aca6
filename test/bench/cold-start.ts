import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { defaultCacheDir } from '../../src/storage/db/embedded/cache-dir.ts';
import { startFlags } from '../support/start-flags.ts';
import { startEmbeddedDatabase } from '../../src/storage/db/embedded/embedded-database.ts';
import { silentLog } from '../support/log.ts';
import { freePort } from '../../src/storage/db/embedded/server-process.ts';
import { startProgram, stopProgram } from './processes.ts';
import { median } from './statistics.ts';

/**
 * Time from the start of the process to the first 200 of `GET /health/ready`, with a database that is already running.
 */
export async function benchColdStart(rounds: number): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-'));
  const cacheDir = defaultCacheDir(process.env, homedir());
  const database = await startEmbeddedDatabase({ dataDir: folder, cacheDir, env: process.env, log: silentLog });
  const times: number[] = [];
  try {
    console.log(`Database of these benchmarks: ${database.engine}`);
    const environment = {
      MONGODB_URI: database.uri,
      MONGODB_DATABASE: `bench_${randomUUID().slice(0, 8)}`,
      DATA_DIR: folder,
      ADMIN_API_KEY: 'administrator-key-of-the-benchmark-0123456789',
    };
    for (let round = 0; round < rounds; round += 1) {
      const port = await freePort();
      const started = performance.now();
      const server = path.resolve(import.meta.dirname, '../../src/server.ts');
      const child = await startProgram(
        process.execPath,
        [...startFlags, server],
        `http://127.0.0.1:${port}/health/ready`,
        {
          ...environment,
          PORT: String(port),
        },
      );
      times.push(performance.now() - started);
      await stopProgram(child);
    }
  } finally {
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
  console.log(
    `Cold start to the first 200: ${Math.round(median(times))} ms (median of ${rounds}, polled every 100 ms)`,
  );
}
