import { LRUCache } from 'lru-cache';
import type { PromptVersion } from './prompt.ts';

/** Keeps archived versions, which never change, in memory. Bounded by size. */
export interface VersionCache {
  /** The kept version, or else what `find` finds. */
  get(
    promptId: string,
    version: number,
    find: () => Promise<PromptVersion | undefined>,
  ): Promise<PromptVersion | undefined>;
}

/** @param bytes about as much memory as the versions may take together */
export function createVersionCache(bytes: number = 16 * 1024 * 1024): VersionCache {
  const versions = new LRUCache<string, PromptVersion>({ maxSize: bytes, sizeCalculation: memoryOf });
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
