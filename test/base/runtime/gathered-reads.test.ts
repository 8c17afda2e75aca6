import { describe, expect, it } from '@jest/globals';
import { gatherReads } from '../../../src/base/runtime/gathered-reads.ts';

/** A store whose reads end on request. A document contains its key and the number of the read. */
function controlled(): {
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  end: (fails?: boolean) => Promise<void>;
  begun: () => Promise<(readonly string[])[]>;
} {
  const begun: (readonly string[])[] = [];
  const endings: ((fails: boolean) => void)[] = [];
  return {
    read: (keys) => {
      const number = begun.push(keys);
      return new Promise((resolve, reject) => {
        endings.push((fails) => {
          if (fails) reject(new Error(`read ${number} failed`));
          else resolve(new Map(keys.filter((key) => key !== 'absent').map((key) => [key, `${key}${number}`])));
        });
      });
    },
    async end(fails = false) {
      endings.shift()?.(fails);
      await new Promise(setImmediate);
    },
    async begun() {
      await new Promise(setImmediate);
      return begun;
    },
  };
}

const asItIs = (document: string): string => document;

describe('gathered reads', () => {
  it('read keys that are requested together with one command, each key once', async () => {
    const { read, end, begun } = controlled();
    const get = gatherReads(read, asItIs, { largest: 10 });
    const all = Promise.all([get('a'), get('b'), get('a'), get('absent')]);
    expect(await begun()).toEqual([['a', 'b', 'absent']]);
    await end();
    expect(await all).toEqual(['a1', 'b1', 'a1', undefined]);
  });

  it('never return data that was read before the request', async () => {
    const { read, end, begun } = controlled();
    const get = gatherReads(read, asItIs, { largest: 10, patienceMs: 60_000 });
    const first = get('a');
    await begun();
    const late = Promise.all([get('a'), get('b')]);
    expect(await begun()).toEqual([['a']]);
    await end();
    expect(await first).toBe('a1');
    expect(await begun()).toEqual([['a'], ['a', 'b']]);
    // A caller that comes now was not there when the second read began.
    const later = get('b');
    await end();
    expect(await late).toEqual(['a2', 'b2']);
    await end();
    expect(await later).toBe('b3');
  });

  it('use several commands when there are too many keys for one', async () => {
    const { read, end, begun } = controlled();
    const get = gatherReads(read, asItIs, { largest: 2, patienceMs: 60_000 });
    const all = Promise.all(['a', 'b', 'c'].map(get));
    expect(await begun()).toEqual([['a', 'b'], ['c']]);
    // The next ones wait for both.
    const next = get('d');
    await end();
    expect(await begun()).toHaveLength(2);
    await end();
    expect(await all).toEqual(['a1', 'b1', 'c2']);
    expect(await begun()).toHaveLength(3);
    await end();
    expect(await next).toBe('d3');
  });

  it('do not wait for a read that hangs', async () => {
    const { read, end, begun } = controlled();
    const get = gatherReads(read, asItIs, { largest: 10, patienceMs: 1 });
    const hanging = get('a');
    await begun();
    const next = get('b');
    while ((await begun()).length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    await end();
    await end();
    expect(await Promise.all([hanging, next])).toEqual(['a1', 'b2']);
  });

  it('fail for the callers of a failed read, and continue', async () => {
    const { read, end, begun } = controlled();
    const get = gatherReads(read, asItIs, { largest: 10, patienceMs: 60_000 });
    const both = Promise.allSettled([get('a'), get('b')]);
    await begun();
    const next = get('a');
    await end(true);
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await end();
    expect(await next).toBe('a2');
  });

  it('fail only for a document that cannot be read', async () => {
    const { read, end, begun } = controlled();
    const broken = (document: string): string => {
      if (document.startsWith('b')) throw new Error('not understood');
      return document;
    };
    const get = gatherReads(read, broken, { largest: 10 });
    const both = Promise.allSettled([get('a'), get('b')]);
    await begun();
    await end();
    expect((await both).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});
