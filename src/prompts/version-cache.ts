import { LRUCache } from 'lru-cache';
import type { PromptVersion } from './prompt.ts';

/** Caches archived versions, which never change. Bounded by size. */
export interface VersionCache {
  /** The cached version, or the one that `find` finds. */
  get(
    promptId: string,
    version: number,
    find: () => Promise<PromptVersion | undefined>,
  ): Promise<PromptVersion | undefined>;
}

/** About the memory that all versions together can take, in bytes. */
const maxSize = 16 * 1024 * 1024;

export function createVersionCache(): VersionCache {
  const versions = new LRUCache<string, PromptVersion>({ maxSize, sizeCalculation: memoryOf });
  return {
    async get(promptId, version, find) {
      const key = `${promptId}:${version}`;
      const kept = versions.get(key);
      if (kept !== undefined) return kept;
      const found = await find();
      if (found !== undefined) versions.set(key, found);
      return found;
    },
  };
}

/** A rough upper bound: strings take one or two bytes for each UTF-16 unit. */
function memoryOf(version: PromptVersion): number {
  return 500 + 2 * JSON.stringify(version).length;
}
