import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createMemoryQueue, type MemoryQueue, type Share } from '../../../src/base/limits/memory-queue.ts';

const never = new AbortController().signal;

function createQueue(options: Partial<Parameters<typeof createMemoryQueue>[0]> = {}): MemoryQueue {
  return createMemoryQueue({
    capacity: 100,
    perKey: 60,
    maxWaiting: 10,
    maxWaitingPerKey: 5,
    waitLimitMs: 60_000,
    patienceMs: 60_000,
    ...options,
  });
}

describe('a queue for memory', () => {
  it('gives at once what is there, and lets others wait until something is given back', async () => {
    const queue = createQueue();
    const [first] = [await queue.enter('a', 70, never), await queue.enter('b', 30, never)];
    const order: string[] = [];
    const waiting = queue.enter('c', 60, never).then(() => order.push('c'));
    await turn();
    expect([queue.held, queue.waiting, order]).toEqual([100, 1, []]);
    first.release();
    first.release();
    await waiting;
    expect([queue.held, queue.waiting, order]).toEqual([90, 0, ['c']]);
  });

  it('counts more than there is as all', async () => {
    const queue = createQueue();
    const share = await queue.enter('a', 1_000, never);
    expect([share.size, queue.held]).toEqual([100, 100]);
    share.release();
    expect(queue.held).toBe(0);
  });

  it('serves the key that holds least first; many requests of one key do not delay others', async () => {
    const queue = createQueue();
    const first = await queue.enter('a', 60, never);
    const order: string[] = [];
    const waiting = ['a', 'a', 'a', 'b'].map((key) =>
      queue.enter(key, 60, never).then((share) => {
        order.push(key);
        return share;
      }),
    );
    await turn();
    first.release();
    for (const share of waiting.slice(0, 3)) {
      void share.then((own) => {
        own.release();
      });
    }
    const other = await waiting[3];
    expect(order.indexOf('b')).toBeLessThan(2);
    other?.release();
    await Promise.all(waiting);
    expect(queue.held).toBe(0);
  });

  it("refuses above a key's share for so long as the key holds something, while others get theirs", async () => {
    const queue = createQueue({ waitLimitMs: 20 });
    await queue.enter('a', 50, never);
    const refused = queue.enter('a', 20, never);
    const other = await queue.enter('b', 40, never);
    await expect(refused).rejects.toMatchObject({ name: 'CrowdedError', crowd: 'key' });
    await expect(queue.enter('c', 20, never)).rejects.toMatchObject({ crowd: 'all' });
    other.release();
    expect((await queue.enter('c', 20, never)).size).toBe(20);
  });

  it.each([
    ['any that has room, for a while', 60_000, 40, ['small', 'large']],
    ['none that has more than a quarter, later', -1, 40, ['large', 'small']],
    ['one that has less than a quarter, later', -1, 20, ['small', 'large']],
  ])('lets smaller requests of other keys overtake a large one: %s', async (_, patienceMs, bytes, expected) => {
    const queue = createQueue({ patienceMs });
    const [held, more] = [await queue.enter('a', 50, never), await queue.enter('d', 50, never)];
    const order: string[] = [];
    const enter = async (name: string, size: number): Promise<void> => {
      const share = await queue.enter(name, size, never);
      order.push(name);
      share.release();
    };
    const large = enter('large', 100);
    await turn();
    const small = enter('small', bytes);
    await turn();
    held.release();
    await turn();
    more.release();
    await Promise.all([large, small]);
    expect(order).toEqual(expected);
  });

  it('keeps three quarters for a large request that has waited for long, however many small ones come', async () => {
    const queue = createQueue({ patienceMs: -1, maxWaiting: 100 });
    const held = await queue.enter('a', 80, never);
    const large = queue.enter('b', 75, never);
    await turn();
    const small = Array.from({ length: 30 }, (_, index) => queue.enter(`small-${index}`, 5, never));
    await turn();
    expect(queue.held).toBe(100);
    held.release();
    const share = await large;
    expect([share.size, queue.held]).toEqual([75, 100]);
    share.release();
    for (const next of small) (await next).release();
    expect([queue.held, queue.waiting]).toEqual([0, 0]);
  });

  it('gives more to who has something before others, and above the limit if all wait for more', async () => {
    const queue = createQueue();
    const [one, two]: Share[] = [await queue.enter('a', 50, never), await queue.enter('b', 50, never)];
    const order: string[] = [];
    const others = queue.enter('c', 10, never).then(() => order.push('c'));
    const more = one?.grow(30, never).then(() => order.push('a'));
    await turn();
    expect(order).toEqual([]);
    const alsoMore = two?.grow(30, never).then(() => order.push('b'));
    await more;
    expect([order, queue.held]).toEqual([['a'], 130]);
    one?.release();
    await Promise.all([alsoMore, others]);
    expect([order, queue.held]).toEqual([['a', 'b', 'c'], 90]);
  });

  it('forgets who leaves, and refuses at once when too many wait', async () => {
    const queue = createQueue({ maxWaitingPerKey: 1, maxWaiting: 2 });
    const held = await queue.enter('a', 100, never);
    const leaving = new AbortController();
    const left = queue.enter('b', 10, leaving.signal);
    await expect(queue.enter('b', 10, never)).rejects.toMatchObject({ name: 'CrowdedError', crowd: 'key' });
    const stays = queue.enter('c', 10, never);
    await expect(queue.enter('d', 10, never)).rejects.toMatchObject({ name: 'CrowdedError', crowd: 'all' });
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(queue.waiting).toBe(1);
    held.release();
    expect((await stays).size).toBe(10);
    await expect(queue.enter('e', 1, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });
});
