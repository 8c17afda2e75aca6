import { isAbsolute, join } from 'node:path';
import { makeFolder } from '../../../base/runtime/data-dir.ts';
import { messageOf } from '../../../base/runtime/system-error.ts';
import type { DatabaseLog } from '../log.ts';
import type { Environment } from './processes.ts';

/** What downloads and installations need. */
export interface InstallContext {
  /** Downloads and installations, shared by all data folders of a user. */
  cacheDir: string;
  /** `process.env` or a replacement for it. */
  env: Environment;
  log: DatabaseLog;
  /** Ends downloads and installations; the next one starts again. */
  signal?: AbortSignal | undefined;
}

/**
 * Where downloads and installations are kept when nothing else is configured: `prompt-gateway` in the cache folder of
 * the XDG base directory specification, which says to ignore relative paths in XDG_CACHE_HOME.
 */
export function defaultCacheDir(env: Environment, home: string): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base !== undefined && isAbsolute(base) ? base : join(home, '.cache'), 'prompt-gateway');
}

/** Makes a folder for downloads and installations. @throws Error that says what to set */
export async function makeCacheFolder(path: string): Promise<void> {
  try {
    await makeFolder(path);
  } catch (cause) {
    throw new Error(
      `downloads and installations cannot be stored in ${path}: set CACHE_DIR to a folder that this user can write to (${messageOf(cause)})`,
      { cause },
    );
  }
}
