import { describe, expect, it } from '@jest/globals';
import { createStaleRuns } from '../../../src/prompts/test-runs/stale-runs.ts';

const term = 30_000;
/** Looks at runs a and b every 10 s of its own clock. */
function observeAll(beats: readonly (Record<string, number> | 'not looking')[]): string[][] {
  let now = 1_000_000;
  const staleRuns = createStaleRuns(term, () => now);
  return beats.map((beat) => {
    now += 10_000;
    if (beat === 'not looking') return [];
    return staleRuns.observe(Object.entries(beat).map(([id, count]) => ({ id, beat: count }))).map(({ id }) => id);
  });
}

describe('createStaleRuns', () => {
  it('reports a run whose heartbeat did not change for the full term', () => {
    expect(observeAll([{ a: 4 }, { a: 4 }, { a: 4 }, { a: 4 }])).toEqual([[], [], [], ['a']]);
  });

  it('restarts the term with every heartbeat', () => {
    const beats = [{ a: 4 }, { a: 4 }, { a: 4 }, { a: 5 }, { a: 5 }, { a: 5 }, { a: 5 }];
    expect(observeAll(beats)).toEqual([[], [], [], [], [], [], ['a']]);
  });

  it('watches each run separately', () => {
    const beats = [{ a: 1 }, { a: 1, b: 1 }, { a: 1, b: 1 }, { a: 1, b: 1 }, { b: 1 }];
    expect(observeAll(beats)).toEqual([[], [], [], ['a'], ['b']]);
  });

  it('continues to report the run while it exists', () => {
    expect(observeAll([{ a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }]).slice(3)).toEqual([['a'], ['a']]);
  });

  it('forgets runs that it no longer sees', () => {
    expect(observeAll([{ a: 1 }, { a: 1 }, {}, { a: 1 }, { a: 1 }]).flat()).toEqual([]);
  });

  it('starts again after a long pause, because its cause may have stopped the heartbeat', () => {
    const outage = ['not looking', 'not looking'] as const;
    expect(observeAll([{ a: 1 }, { a: 1 }, ...outage, { a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }])).toEqual([
      ...Array.from({ length: 7 }, () => []),
      ['a'],
    ]);
  });

  it('tolerates one missed look', () => {
    expect(observeAll([{ a: 1 }, 'not looking', { a: 1 }, { a: 1 }])).toEqual([[], [], [], ['a']]);
  });
});
