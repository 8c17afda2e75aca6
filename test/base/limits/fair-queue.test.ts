import { describe, expect, it } from '@jest/globals';
import {
  createFairQueue,
  type Entrant,
  type FairQueue,
  type FairQueueOptions,
  type CrowdedError,
} from '../../../src/base/limits/fair-queue.ts';

/** A queue, and the entrants in the order of their admission. */
function watched(options: FairQueueOptions): {
  queue: FairQueue;
  entered: string[];
  enter: (name: string, entrant: Entrant) => Promise<() => void>;
} {
  const queue = createFairQueue(options);
  const entered: string[] = [];
  return {
    queue,
    entered,
    enter: async (name, entrant) => {
      const leave = await queue.enter(entrant);
      entered.push(name);
      return leave;
    },
  };
}

/** Waits until everything that is ready has happened. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a fair queue', () => {
  it('admits as many as there are places, and one more for each returned place', async () => {
    const { queue, entered, enter } = watched({ places: 2 });
    const leaves = await Promise.all([enter('a', { key: 'k' }), enter('b', { key: 'k' })]);
    const third = enter('c', { key: 'k' });
    await settle();
    expect([entered, queue.waiting]).toEqual([['a', 'b'], 1]);
    leaves[0]?.();
    leaves[0]?.(); // The second call has no effect.
    const fourth = enter('d', { key: 'k' });
    await settle();
    expect([entered, queue.waiting]).toEqual([['a', 'b', 'c'], 1]);
    (await third)();
    await fourth;
    expect(queue.waiting).toBe(0);
  });

  it('serves a key with few entrants next, even if another key has many', async () => {
    const { entered, enter } = watched({ places: 1 });
    const first = await enter('crowd 0', { key: 'crowd' });
    const all = Array.from({ length: 100 }, (_, each) => enter(`crowd ${each + 1}`, { key: 'crowd' }));
    all.push(enter('one', { key: 'one' }));
    for (const leave of all) void leave.then((done) => setImmediate(done));
    first();
    await Promise.all(all);
    expect(entered.indexOf('one')).toBeLessThan(3);
    expect(entered.filter((name) => name !== 'one')).toEqual(Array.from({ length: 101 }, (_, each) => `crowd ${each}`));
  });

  it('shares places equally between keys that want more', async () => {
    const { entered, enter } = watched({ places: 4 });
    const leaves = await Promise.all(Array.from({ length: 4 }, () => enter('a', { key: 'a' })));
    for (let each = 0; each < 10; each += 1) {
      void enter('a', { key: 'a' });
      void enter('b', { key: 'b' });
    }
    for (const leave of leaves.slice(0, 2)) leave();
    await settle();
    expect(entered.slice(4)).toEqual(['b', 'b']);
    // Two of each key hold a place now. The key that returns one holds fewer.
    leaves[2]?.();
    await settle();
    expect(entered.slice(6)).toEqual(['a']);
  });

  it('reserves some places for keys that hold few', async () => {
    const { queue, entered, enter } = watched({ places: 8, reserved: 2 });
    for (let each = 0; each < 10; each += 1) void enter('hog', { key: 'hog' });
    await settle();
    expect([entered.length, queue.waiting]).toEqual([6, 4]);
    await enter('other', { key: 'other' });
    await enter('third', { key: 'third' });
    expect(entered.slice(6)).toEqual(['other', 'third']);
  });

  it('serves background work last, and gives it only some of the places', async () => {
    const { entered, enter } = watched({ places: 4, background: 2 });
    for (let each = 0; each < 4; each += 1) void enter('background', { key: 'a', background: true });
    await settle();
    expect(entered).toEqual(['background', 'background']);
    const leaves = await Promise.all([enter('front', { key: 'a' }), enter('front', { key: 'a' })]);
    void enter('waited', { key: 'a' });
    leaves[0]?.();
    await settle();
    expect(entered.slice(2)).toEqual(['front', 'front', 'waited']);
  });

  it('refuses entrants above the limit of one key, and of all keys', async () => {
    const { enter } = watched({ places: 1, maxWaiting: 3, maxWaitingPerKey: 2 });
    const leave = await enter('a', { key: 'a' });
    const second = enter('a', { key: 'a' });
    void enter('a', { key: 'a', background: true });
    const crowd = (key: string): Promise<unknown> =>
      enter(key, { key }).then(
        () => 'entered',
        (error: unknown) => (error as CrowdedError).crowd,
      );
    expect(await crowd('a')).toBe('key');
    const waiting = crowd('b');
    expect(await crowd('c')).toBe('all');
    leave();
    (await second)();
    expect(await waiting).toBe('entered');
  });

  it('removes an entrant whose signal is aborted', async () => {
    const { queue, enter } = watched({ places: 1, maxWaitingPerKey: 1 });
    const leave = await enter('a', { key: 'a' });
    const impatient = new AbortController();
    const gone = enter('a', { key: 'a', signal: impatient.signal });
    impatient.abort(new Error('Enough.'));
    await expect(gone).rejects.toThrow('Enough.');
    expect(queue.waiting).toBe(0);
    const patient = enter('a', { key: 'a', signal: new AbortController().signal });
    leave();
    await patient;
    await expect(enter('a', { key: 'a', signal: AbortSignal.abort(new Error('Gone.')) })).rejects.toThrow('Gone.');
  });

  it('loses no place when entrants come and leave', async () => {
    const { queue, enter } = watched({ places: 3, reserved: 1, background: 2 });
    let inside = 0;
    let most = 0;
    const visit = async (each: number): Promise<void> => {
      const visitor = new AbortController();
      if (each % 7 === 0) setImmediate(() => visitor.abort(new Error('Left.')));
      const entrant = { key: `key ${each % 5}`, background: each % 2 === 0, signal: visitor.signal };
      const leave = await enter('', entrant).catch(() => undefined);
      if (leave === undefined) return;
      inside += 1;
      most = Math.max(most, inside);
      await settle();
      inside -= 1;
      leave();
    };
    await Promise.all(Array.from({ length: 300 }, (_, each) => visit(each)));
    expect([most, inside, queue.waiting]).toEqual([3, 0, 0]);
    await Promise.all([enter('', { key: 'x' }), enter('', { key: 'y' }), enter('', { key: 'z' })]);
  });
});
