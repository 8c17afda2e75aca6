import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../../base/runtime/system-error.ts';
import { makeCacheFolder, type InstallContext } from './cache-dir.ts';
import { installerEnvironment } from './processes.ts';
import { runCommand } from './run-command.ts';

/**
 * The release that is downloaded. Not 8.0: a report says that a standalone mongod 8.0 loses journaled majority writes
 * on SIGKILL (SERVER-139311).
 */
export const MONGOD_VERSION = '7.0.28';

/** After a failure, no download is attempted for this time. */
const FAILURE_REMEMBERED_MS = 24 * 60 * 60_000;
/** Milliseconds until the first bytes, and the longest pause between bytes (which includes unpacking). */
const FIRST_BYTES_MS = 8_000;
const SILENCE_MS = 60_000;

/**
 * Downloads a mongod into the cache folder, or finds it there. mongodb-memory-server-core does this in a separate
 * process, because its attempts cannot be canceled. On a machine without access to the download host it fails within
 * seconds, and the failure is remembered for a day.
 *
 * @returns the path of the executable
 * @throws Error with the reason
 */
export async function downloadMongod(
  { cacheDir, env, log, signal }: InstallContext,
  version = MONGOD_VERSION,
): Promise<string> {
  const downloadDir = join(cacheDir, `mongod-${version}`);
  /** Contains the reason of the last failure, and was written when that happened. */
  const failureFile = `${downloadDir}-failed`;
  await makeCacheFolder(downloadDir);
  const failedAt = await stat(failureFile).catch(() => undefined);
  // A later time is from before the clock was set back.
  if (failedAt !== undefined && Math.abs(Date.now() - failedAt.mtimeMs) < FAILURE_REMEMBERED_MS) {
    const reason = await readFile(failureFile, 'utf8');
    throw new Error(`the download failed at ${failedAt.mtime.toISOString()} and is attempted once a day (${reason})`);
  }
  const script = fileURLToPath(new URL('./download-mongod.ts', import.meta.url));
  try {
    const lines = await runCommand(process.execPath, [script, downloadDir, version], {
      env: {
        ...installerEnvironment(env),
        // One attempt, because the start of the service waits for it. Certificates are checked only if this is set.
        MONGOMS_MAX_RETRIES: '1',
        npm_config_strict_ssl: 'true',
      },
      signal,
      firstLineMs: FIRST_BYTES_MS,
      silenceMs: SILENCE_MS,
      onLine: (line) => {
        if (line.startsWith('Downloading')) log.info({ engine: 'mongod' }, line.trim());
      },
    });
    return (lines.at(-1) ?? '').replace(/^path: /, '');
  } catch (error) {
    const message = messageOf(error);
    const reason = /^failed: (.*)$/m.exec(message)?.[1] ?? message;
    // The next attempt must not mistake an incomplete file for a good download.
    await rm(downloadDir, { recursive: true, force: true });
    signal?.throwIfAborted();
    await writeFile(failureFile, reason);
    throw new Error(`the download failed: ${reason}`, { cause: error });
  }
}
