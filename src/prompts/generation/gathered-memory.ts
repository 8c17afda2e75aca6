import type { MemoryBudget } from '../../base/limits/memory-budget.ts';

/** Characters of an answer that are counted together. Every call counts this much from its beginning. */
const stepLength = 64 * 1024;
/** Bytes for a character: the parts of a streamed answer are joined for its end, the cache and a repetition. */
const copies = 4;

/** Counts the memory of a streamed answer while it grows. */
export interface GatheredMemory {
  /** @throws {ProblemError} too-much-in-progress, overloaded */
  add(characters: number): void;
  release(): void;
}

export function createGatheredMemory(memory: MemoryBudget, family: string): GatheredMemory {
  const held: (() => void)[] = [];
  let length = 0;
  return {
    add(characters) {
      length += characters;
      while (length > (held.length + 1) * stepLength) held.push(memory.reserveLarge(family, stepLength * copies));
    },
    release() {
      for (const release of held) release();
    },
  };
}
