import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { DatabaseLog } from '../log.ts';
import { makeCacheFolder } from './cache-dir.ts';
import { readJson, writeJson } from './json-file.ts';
import { installerEnvironment, type Environment } from './processes.ts';
import { CommandError, runCommand } from './run-command.ts';

/**
 * The release that is fetched. 7.0 and not 8: a standalone mongod 8.0 is reported to lose journaled majority writes on
 * SIGKILL (SERVER-139311).
 */
export const MONGOD_VERSION = '7.0.28';

/** A host that cannot be reached is not asked again for this long. */
const FAILURE_REMEMBERED_MS = 24 * 60 * 60_000;
/** Milliseconds to the first bytes, and without further bytes (unpacking counts too). */
const FIRST_BYTES_MS = 8_000;
const SILENCE_MS = 60_000;
const LIMIT_MS = 15 * 60_000;

const failureSchema = z.object({ version: z.string(), at: z.iso.datetime(), reason: z.string() });

export interface DownloadOptions {
  cacheDir: string;
  env: Environment;
  log: DatabaseLog;
  version: string;
  now: () => Date;
}

/**
 * Fetches a real mongod into the cache folder, or finds it there. The work is done by mongodb-memory-server-core in a
 * process of its own, because its attempts cannot be cancelled: a machine without access to the download host finds out
 * within seconds, and the failure is remembered for a day.
 *
 * @returns the path of the executable
 * @throws Error with the reason
 */
export async function downloadMongod({ cacheDir, env, log, version, now }: DownloadOptions): Promise<string> {
  const downloadDir = join(cacheDir, `mongod-${version}`);
  const failureFile = join(cacheDir, 'mongod-download-failed.json');
  await makeCacheFolder(downloadDir);
  const failure = failureSchema.safeParse(await readJson(failureFile).catch(() => undefined)).data;
  const age = failure === undefined ? NaN : now().getTime() - Date.parse(failure.at);
  // A failure of the future is from before the clock was set back.
  if (failure?.version === version && age >= 0 && age < FAILURE_REMEMBERED_MS) {
    throw new Error(`the download failed at ${failure.at} and is tried once a day (${failure.reason})`);
  }
  try {
    return await download(downloadDir, version, env, log);
  } catch (error) {
    const reason = reasonOf(error);
    // Whatever came must not be taken for a good download the next time.
    await rm(downloadDir, { recursive: true, force: true });
    await writeJson(failureFile, { version, at: now().toISOString(), reason });
    throw new Error(`the download failed: ${reason}`, { cause: error });
  }
}

async function download(downloadDir: string, version: string, env: Environment, log: DatabaseLog): Promise<string> {
  const script = fileURLToPath(new URL('./download-mongod.ts', import.meta.url));
  const lines = await runCommand(process.execPath, [script, downloadDir, version], {
    env: {
      ...installerEnvironment(env),
      // One attempt: whoever starts a service waits. Certificates are checked only when this says so.
      MONGOMS_MAX_RETRIES: '1',
      npm_config_strict_ssl: 'true',
    },
    limitMs: LIMIT_MS,
    firstLineMs: FIRST_BYTES_MS,
    silenceMs: SILENCE_MS,
    onLine: (line) => {
      if (line.startsWith('Downloading')) log.info({ engine: 'mongod' }, line.trim());
    },
  });
  const path = lines.at(-1)?.replace(/^path: /, '');
  if (path === undefined) throw new Error('it printed no path');
  return path;
}

function reasonOf(error: unknown): string {
  const failed = error instanceof CommandError ? /^failed: (.*)/.exec(error.lastLine ?? '')?.[1] : undefined;
  return failed ?? (error instanceof Error ? error.message : String(error));
}
