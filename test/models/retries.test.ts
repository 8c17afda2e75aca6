import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { RetryNotice } from '../../src/models/call/retries.ts';
import { textOf, type FailedAttempt } from '../../src/models/language-model.ts';
import { failure, provider, request, startHarness, type Harness } from './providers-harness.ts';
import type { Behaviour } from '../support/mock-provider.ts';
import { systemRandom } from '../../src/base/runtime/random.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

describe('retries', () => {
  it.each([1, 2])('succeed after %i answers of an overloaded server', async (failures) => {
    const result = await provider(harness.registry, 'openai').generate(request(`mock-flaky-${failures}`));
    expect(textOf(result)).toBe(`Hello from mock-flaky-${failures}.`);
    expect(harness.mock.requests).toHaveLength(failures + 1);
  });

  it('end after two', async () => {
    const problem = await failure(harness.registry, 'openai', request('mock-flaky-3'));
    expect(problem).toMatchObject({ type: 'provider-failed', extensions: { provider_status: 503 } });
    expect(harness.mock.requests).toHaveLength(3);
  });

  it('are reported', async () => {
    const notices: RetryNotice[] = [];
    const registry = harness.with({
      onRetry: (notice) => notices.push(notice),
      random: { ...systemRandom, fraction: () => 0 },
    });
    await provider(registry, 'openai').generate(request('mock-flaky-2'));
    const common = { provider: 'openai', model: 'mock-flaky-2', problem: 'provider-failed', status: 503 };
    expect(notices).toMatchObject([
      { ...common, attempt: 1, delay: 250 },
      { ...common, attempt: 2, delay: 500 },
    ]);
  });

  it('vary their pause by at most half', async () => {
    const delays: number[] = [];
    const registry = harness.with({
      onRetry: ({ delay }) => delays.push(delay),
      random: { ...systemRandom, fraction: () => 0.5 },
    });
    await provider(registry, 'openai').generate(request('mock-flaky-2'));
    expect(delays).toEqual([187.5, 375]);
  });

  it('wait as long as Retry-After asks', async () => {
    harness.mock.behave('gpt', { kind: 'status', status: 429, headers: { 'Retry-After': '1' } });
    const start = performance.now();
    await provider(harness.registry, 'openai').generate(request('gpt'));
    expect(performance.now() - start).toBeGreaterThanOrEqual(990);
    expect(harness.mock.requests).toHaveLength(2);
  });

  it('are skipped if the pause would exceed the deadline', async () => {
    // With a pause, the test would not end in time.
    const problem = await failure(harness.registry, 'openai', request('mock-429-300', { within: 200_000 }));
    expect(problem).toMatchObject({ type: 'provider-rate-limited', headers: { 'Retry-After': '300' } });
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('are as few as the caller allows', async () => {
    await failure(harness.registry, 'openai', request('mock-flaky-3', { maxAttempts: 1 }));
    expect(harness.mock.requests).toHaveLength(1);
    await failure(harness.registry, 'openai', request('mock-flaky-3', { maxAttempts: 2 }));
    expect(harness.mock.requests).toHaveLength(3);
  });

  it('share one deadline', async () => {
    harness.mock.behave('gpt', { kind: 'status', status: 503 }, { kind: 'hang' });
    const call = request('gpt', { within: 2_000 });
    const problem = await failure(harness.registry, 'openai', call);
    expect(problem.type).toBe('provider-timeout');
    expect(performance.now()).toBeGreaterThanOrEqual(call.deadline - 5);
    expect(harness.mock.requests).toHaveLength(2);
  });

  it('do not follow an answer that may have been charged', async () => {
    harness.mock.behave('gpt', { kind: 'cut' });
    await failure(harness.registry, 'openai', request('gpt'));
    expect(harness.mock.requests).toHaveLength(1);
  });

  it.each([
    ['no answer began', { kind: 'reset' }],
    ['the answer broke off', { kind: 'cut' }],
    ['a server failed', { kind: 'status', status: 500 }],
    ['nothing can be read', { kind: 'body', contentType: 'text/html', body: '<p>' }],
  ] as const)('follow what may have been charged as often as the caller says: %s', async (_what, behaviour) => {
    for (const retries of [0, 1, 2]) {
      harness.mock.reset();
      harness.mock.behave('gpt', ...Array<Behaviour>(3).fill(behaviour));
      await failure(harness.registry, 'openai', request('gpt', { retries }));
      expect(harness.mock.requests).toHaveLength(retries + 1);
    }
  });

  it('are three calls at most, whatever failed', async () => {
    const [overloaded, broken]: Behaviour[] = [{ kind: 'status', status: 503 }, { kind: 'reset' }];
    if (!overloaded || !broken) throw new Error();
    harness.mock.behave('gpt', overloaded, broken, overloaded);
    await failure(harness.registry, 'openai', request('gpt', { retries: 1 }));
    expect(harness.mock.requests).toHaveLength(3);
    harness.mock.reset();
    harness.mock.behave('gpt', broken, broken, overloaded);
    await failure(harness.registry, 'openai', request('gpt', { retries: 1 }));
    expect(harness.mock.requests).toHaveLength(2);
  });
});

describe('failed attempts', () => {
  const attemptsOf = async (model: string, changes: Parameters<typeof request>[1] = {}): Promise<FailedAttempt[]> => {
    const attempts: FailedAttempt[] = [];
    const call = request(model, { onFailedAttempt: (attempt) => attempts.push(attempt), ...changes });
    await provider(harness.registry, 'openai')
      .generate(call)
      .catch(() => undefined);
    return attempts;
  };

  it('are each reported to the caller', async () => {
    harness.mock.behave('gpt', { kind: 'status', status: 503 }, { kind: 'status', status: 429 });
    const common = { provider: 'openai', model: 'gpt', may_be_billed: false };
    expect(await attemptsOf('gpt')).toMatchObject([
      { ...common, problem: 'provider-failed' },
      { ...common, problem: 'provider-rate-limited' },
    ]);
    expect(harness.mock.requests).toHaveLength(3);
  });

  it.each([
    ['mock-401', 'provider-refused-credentials', false],
    ['mock-cut', 'provider-bad-answer', true],
    ['mock-garbage', 'provider-bad-answer', true],
    ['mock-huge', 'provider-bad-answer', true],
  ] as const)('of %s say whether the provider may charge for them', async (model, problem, mayBeBilled) => {
    expect(await attemptsOf(model)).toMatchObject([{ provider: 'openai', model, problem, may_be_billed: mayBeBilled }]);
  });

  it.each([
    ['a connection that closed before an answer', { kind: 'reset' }, true],
    ['a gateway that waited too long', { kind: 'status', status: 504 }, true],
    ['a server that is overloaded', { kind: 'status', status: 503 }, false],
  ] as const)('by %s say so too', async (_what, behaviour, mayBeBilled) => {
    harness.mock.behave('gpt', behaviour);
    expect(await attemptsOf('gpt', { maxAttempts: 1 })).toMatchObject([
      { problem: 'provider-failed', may_be_billed: mayBeBilled },
    ]);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('without a connection are not charged for', async () => {
    const attempts: FailedAttempt[] = [];
    const registry = harness.with({
      settings: { builtIn: { openai: { apiKey: 'k', baseUrl: 'http://127.0.0.1:1' } } },
    });
    const call = request('gpt', { maxAttempts: 1, onFailedAttempt: (attempt) => attempts.push(attempt) });
    await failure(registry, 'openai', call);
    expect(attempts).toMatchObject([{ problem: 'provider-failed', may_be_billed: false }]);
  });

  it('that wait for the provider until the deadline may be charged for', async () => {
    const attempts = await attemptsOf('mock-hang', { within: 100 });
    expect(attempts).toMatchObject([{ problem: 'provider-timeout', may_be_billed: true }]);
  });

  it('that were canceled are not reported', async () => {
    expect(await attemptsOf('mock-hang', { signal: AbortSignal.timeout(50) })).toEqual([]);
  });
});
