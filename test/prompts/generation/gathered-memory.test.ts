import { describe, expect, it } from '@jest/globals';
import { createGatheredMemory } from '../../../src/prompts/generation/gathered-memory.ts';
import { createMemoryBudget } from '../../../src/base/limits/memory-budget.ts';

const step = 64 * 1024;

describe('the memory of a streamed answer', () => {
  it('is counted from the second 64 KiB on, and refused above the share of the key', () => {
    // Of these, large requests of a key have ten.
    const memory = createMemoryBudget({ perKey: 16 * step, perProcess: 100 * step });
    const gathered = createGatheredMemory(memory, 'key');
    gathered.add(step);
    gathered.add(2 * step);
    expect(() => {
      gathered.add(1);
    }).toThrow(expect.objectContaining({ type: 'too-much-in-progress' }));
    expect(memory.use.reserved).toBe(8 * step);
    gathered.release();
    expect(memory.use.reserved).toBe(0);
  });
});
