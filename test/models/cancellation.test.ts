import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { failure, provider, request, startHarness, type Harness } from './providers-harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
  await harness.registry.preload();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

/** Waits until the provider has received this number of requests. */
async function received(count: number): Promise<void> {
  while (harness.mock.requests.length < count) await sleep(5);
}

describe.each(['openai', 'anthropic', 'google', 'local'])('canceling a call to %s', (id) => {
  it.each(['mock-hang', 'mock-stall'])('closes the connection to the provider (%s)', async (model) => {
    const caller = new AbortController();
    const call = provider(harness.registry, id).generate(request(model, { signal: caller.signal }));
    await received(1);
    const reason = new Error('The caller hung up.');
    caller.abort(reason);

    await expect(call).rejects.toBe(reason);
    const [upstream] = harness.mock.requests;
    await upstream?.ended;
    expect(upstream?.aborted).toBe(true);
  });
});

describe('canceling', () => {
  it('before the call sends nothing', async () => {
    const reason = new Error('Gone.');
    const signal = AbortSignal.abort(reason);
    await expect(provider(harness.registry, 'openai').generate(request('gpt', { signal }))).rejects.toBe(reason);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('between two attempts ends the pause', async () => {
    const caller = new AbortController();
    const call = provider(harness.registry, 'openai').generate(request('mock-429-3', { signal: caller.signal }));
    await received(1);
    await sleep(50);
    caller.abort(new Error('Gone.'));
    await expect(call).rejects.toThrow('Gone.');
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('does not affect other calls', async () => {
    const caller = new AbortController();
    const canceled = provider(harness.registry, 'openai').generate(request('mock-hang', { signal: caller.signal }));
    const other = provider(harness.registry, 'openai').generate(request('mock-slow-100'));
    await received(2);
    caller.abort(new Error('Gone.'));
    await expect(canceled).rejects.toThrow('Gone.');
    await expect(other).resolves.toMatchObject({ finishReason: 'stop' });
  });

  it('leaves no listener on a signal that is used later', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    await provider(harness.registry, 'openai').generate(request('gpt', { signal }));
    await failure(harness.registry, 'openai', request('mock-400', { signal }));
    expect(listeners).toBe(0);
  });
});

describe('a deadline', () => {
  it('closes the connection to the provider', async () => {
    await failure(harness.registry, 'openai', request('mock-hang', { within: 100 }));
    const [upstream] = harness.mock.requests;
    await upstream?.ended;
    expect(upstream?.aborted).toBe(true);
  });

  it.each([-1_000, 0])('that is %i ms away is a time-out immediately', async (within) => {
    const problem = await failure(harness.registry, 'openai', request('mock-hang', { within }));
    expect(problem.type).toBe('provider-timeout');
  });

  it('far away does not end the call', async () => {
    const result = await provider(harness.registry, 'openai').generate(request('mock-slow-50', { within: 2 ** 40 }));
    expect(result.finishReason).toBe('stop');
  });
});
