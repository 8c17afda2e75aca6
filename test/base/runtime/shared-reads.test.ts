import { describe, expect, it } from '@jest/globals';
import { shareReads } from '../../../src/base/runtime/shared-reads.ts';

/** A read that ends on request, and its results so far. */
function controlled(): { read: () => Promise<number>; end: (fails?: boolean) => Promise<void>; begun: () => number } {
  let begun = 0;
  const endings: ((fails: boolean) => void)[] = [];
  return {
    read: () => {
      begun += 1;
      const value = begun;
      return new Promise((resolve, reject) => {
        endings.push((fails) => {
          if (fails) reject(new Error(`read ${value} failed`));
          else resolve(value);
        });
      });
    },
    async end(fails = false) {
      endings.shift()?.(fails);
      await new Promise(setImmediate);
    },
    begun: () => begun,
  };
}

describe('shared reads', () => {
  it('never return data that was read before the request', async () => {
    const { read, end, begun } = controlled();
    const get = shareReads(read);
    const first = get('a');
    const late = [get('a'), get('a'), get('a')];
    expect(begun()).toBe(1);
    await end();
    expect(await first).toBe(1);
    expect(begun()).toBe(2);
    // A caller that comes now was not there when the second read began.
    const later = get('a');
    await end();
    expect(await Promise.all(late)).toEqual([2, 2, 2]);
    await end();
    expect(await later).toBe(3);
    const alone = get('a');
    await end();
    expect(await alone).toBe(4);
  });

  it('fail for the callers of a failed read, and continue', async () => {
    const { read, end } = controlled();
    const get = shareReads(read);
    const both = Promise.allSettled([get('a'), get('a')]);
    await end(true);
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const later = get('a');
    await end();
    expect(await later).toBe(2);
  });

  it('do not mix different keys', async () => {
    const { read, begun } = controlled();
    const get = shareReads(read);
    void get('a');
    void get('b');
    expect(begun()).toBe(2);
    return Promise.resolve();
  });
});
