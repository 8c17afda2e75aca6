import { afterAll, beforeEach, beforeAll, describe, expect, it } from '@jest/globals';
import { callerOf, failure, provider, request, startHarness, type Harness } from './providers-harness.ts';

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
  it('is limited per provider', async () => {
    const registry = harness.with({ settings: { concurrency: 4 } });
    const calls = Array.from({ length: 20 }, () => provider(registry, 'openai').generate(request('mock-slow-30')));
    await Promise.all(calls);
    expect(harness.mock.requests).toHaveLength(20);
    expect(harness.mock.mostConcurrent).toBe(4);
  });

  it('of one provider does not delay another', async () => {
    const registry = harness.with({ settings: { concurrency: 1 } });
    const caller = new AbortController();
    const stuck = provider(registry, 'openai').generate(request('mock-hang', { signal: caller.signal }));
    await expect(provider(registry, 'anthropic').generate(request('claude'))).resolves.toBeDefined();
    caller.abort(new Error('Gone.'));
    await expect(stuck).rejects.toThrow('Gone.');
  });

  it('leads to a time-out for a call that gets no place', async () => {
    const registry = harness.with({ settings: { concurrency: 1 } });
    const first = failure(registry, 'openai', request('mock-hang', { within: 400 }));
    const second = await failure(registry, 'openai', request('gpt', { within: 100 }));
    expect(second).toMatchObject({ type: 'provider-timeout', extensions: { retryable: true } });
    expect(second.message).toMatch(/before this call began/);
    await first;
    // The place is free again.
    await expect(provider(registry, 'openai').generate(request('gpt'))).resolves.toBeDefined();
  });

  it('is shared fairly: many calls of one key do not delay a call of another', async () => {
    const registry = harness.with({ settings: { concurrency: 1 } });
    const order: string[] = [];
    const call = async (keyId: string, model: string, background = false): Promise<void> => {
      await provider(registry, 'openai').generate(request(model, { principal: callerOf(keyId), background }));
      order.push(keyId);
    };
    const crowd = Array.from({ length: 10 }, () => call('crowd', 'mock-slow-20'));
    await Promise.all([...crowd, call('one', 'gpt')]);
    expect(order.indexOf('one')).toBeLessThan(3);
  });

  it('serves invocations before test runs, which can use half of the places', async () => {
    const registry = harness.with({ settings: { concurrency: 4 } });
    const order: string[] = [];
    const call = async (name: string, background: boolean): Promise<void> => {
      await provider(registry, 'openai').generate(request('mock-slow-30', { background }));
      order.push(name);
    };
    const runs = Array.from({ length: 8 }, () => call('run', true));
    const invocations = Array.from({ length: 6 }, () => call('invocation', false));
    await Promise.all([...runs, ...invocations]);
    expect(order.slice(0, 8).filter((name) => name === 'invocation')).toHaveLength(6);
  });

  it('reserves places that hanging calls cannot take', async () => {
    const registry = harness.with({ settings: { concurrency: 8 } });
    const caller = new AbortController();
    const hanging = Array.from({ length: 20 }, () =>
      provider(registry, 'openai').generate(
        request('mock-hang', { principal: callerOf('hung up'), signal: caller.signal }),
      ),
    );
    await expect(provider(registry, 'openai').generate(request('gpt'))).resolves.toBeDefined();
    caller.abort(new Error('Gone.'));
    for (const outcome of await Promise.allSettled(hanging)) expect(outcome.status).toBe('rejected');
  });
});
