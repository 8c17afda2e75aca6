import { afterAll, beforeEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createSemaphore } from '../../src/providers/semaphore.ts';
import { failure, provider, request, startHarness, type Harness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

describe('concurrency', () => {
  it('is bounded per provider', async () => {
    const registry = harness.with({ settings: { concurrency: 4 } });
    const calls = Array.from({ length: 20 }, () => provider(registry, 'openai').generate(request('mock-slow-30')));
    await Promise.all(calls);
    expect(harness.mock.requests).toHaveLength(20);
    expect(harness.mock.mostConcurrent).toBe(4);
  });

  it('of one provider does not hold up another', async () => {
    const registry = harness.with({ settings: { concurrency: 1 } });
    const caller = new AbortController();
    const stuck = provider(registry, 'openai').generate(request('mock-hang', { signal: caller.signal }));
    await expect(provider(registry, 'anthropic').generate(request('claude'))).resolves.toBeDefined();
    caller.abort(new Error('Gone.'));
    await expect(stuck).rejects.toThrow('Gone.');
  });

  it('ends in a time-out for a call whose turn does not come', async () => {
    const registry = harness.with({ settings: { concurrency: 1 } });
    const first = failure(registry, 'openai', request('mock-hang', { within: 400 }));
    const second = await failure(registry, 'openai', request('gpt', { within: 100 }));
    expect(second).toMatchObject({ type: 'provider-timeout', extensions: { retryable: true } });
    expect(second.message).toMatch(/before it was the turn of this one/);
    await first;
    // The place is free again.
    await expect(provider(registry, 'openai').generate(request('gpt'))).resolves.toBeDefined();
  });
});

describe('createSemaphore', () => {
  const { signal } = new AbortController();

  it('lets waiters in one by one, in their order', async () => {
    const semaphore = createSemaphore(1);
    const order: string[] = [];
    await semaphore.acquire(signal);
    const waiters = ['a', 'b', 'c'].map((name) => semaphore.acquire(signal).then(() => order.push(name)));
    for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      semaphore.release();
      await new Promise(setImmediate);
      expect(order).toEqual(expected);
    }
    await Promise.all(waiters);
  });

  it('forgets a waiter that gives up, and keeps the place', async () => {
    const semaphore = createSemaphore(1);
    await semaphore.acquire(signal);
    const impatient = new AbortController();
    const gone = semaphore.acquire(impatient.signal);
    const patient = semaphore.acquire(signal);
    impatient.abort(new Error('Enough.'));
    await expect(gone).rejects.toThrow('Enough.');
    semaphore.release();
    await expect(patient).resolves.toBeUndefined();
  });

  it('does not take a place for a signal that is aborted already', async () => {
    const semaphore = createSemaphore(1);
    await expect(semaphore.acquire(AbortSignal.abort(new Error('Gone.')))).rejects.toThrow('Gone.');
    await expect(semaphore.acquire(signal)).resolves.toBeUndefined();
  });
});
