import { isAbsolute, join } from 'node:path';
import type { Environment } from './processes.ts';

/**
 * Where downloads and installations are kept when nothing else is configured: `prompt-gateway` in the cache folder of
 * the XDG base directory specification, which has relative paths in XDG_CACHE_HOME ignored.
 */
export function defaultCacheDir(env: Environment, home: string): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base !== undefined && isAbsolute(base) ? base : join(home, '.cache'), 'prompt-gateway');
}
