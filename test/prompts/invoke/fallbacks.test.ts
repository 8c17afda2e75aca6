import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../../src/observability/logger.ts';
import type { Answer } from '../../support/service.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

const logged: string[] = [];
let harness: InvokeHarness;

beforeAll(async () => {
  harness = await startInvokeHarness({ log: createLogger('warn', { write: (line) => logged.push(line) }) });
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

type Fallback = { provider: string; model?: string };
const promptOf = (model: string, ...fallbacks: Fallback[]): Promise<string> =>
  harness.createPrompt({ selected_model: model, fallbacks });
const spare = (model: string): Fallback => ({ provider: 'spare', model });
const called = (): string[] => harness.mock.requests.map(({ model }) => model);
const urn = (problem: string): string => `urn:prompt-gateway:problem:${problem}`;
const attempt = (model: string, problem: string, may_be_billed = false, provider = 'mock'): object => ({
  provider,
  model,
  problem: urn(problem),
  may_be_billed,
});
const attemptsOf = ({ body }: Answer): unknown => (body as { attempts?: unknown }).attempts;

const failures: [model: string, problem: string, mayBeBilled: boolean][] = [
  ['mock-500', 'provider-failed', true],
  ['mock-503-1', 'provider-failed', false],
  ['mock-408', 'provider-failed', true],
  ['mock-429', 'provider-rate-limited', false],
  ['mock-401', 'provider-refused-credentials', false],
  ['mock-403', 'provider-refused-credentials', false],
  ['mock-garbage', 'provider-bad-answer', true],
  ['mock-partial', 'provider-bad-answer', true],
  ['mock-cut', 'provider-bad-answer', true],
];

describe('a fallback', () => {
  it.each(failures)('answers after %s, which is called once', async (model, problem, mayBeBilled) => {
    const answer = await harness.invoke(await promptOf(model, { provider: 'spare' }));
    expect(answer).toMatchObject({ status: 200, headers: { 'x-provider': 'spare', 'x-model': 'spare-a' } });
    expect(attemptsOf(answer)).toMatchObject([attempt(model, problem, mayBeBilled)]);
    expect(called()).toEqual([model, 'spare-a']);
  });

  it('answers after a time-out, within the share of the time that is left', async () => {
    const prompt = await promptOf('mock-hang', { provider: 'spare' });
    const answer = await harness.invoke(prompt, {}, { 'X-Timeout-Ms': '6000' });
    expect(answer.status).toBe(200);
    expect(attemptsOf(answer)).toMatchObject([attempt('mock-hang', 'provider-timeout', true)]);
    expect(Number(answer.headers['x-latency-ms'])).toBeGreaterThanOrEqual(2_990);
    expect(called()).toEqual(['mock-hang', 'spare-a']);
    await harness.mock.requests[0]?.ended;
    expect(harness.mock.requests[0]?.aborted).toBe(true);
  });

  it.each(['mock-400', 'mock-404', 'mock-422'])('is not called after %s', async (model) => {
    const answer = await harness.invoke(await promptOf(model, { provider: 'spare' }));
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-failed']);
    expect(attemptsOf(answer)).toMatchObject([attempt(model, 'provider-failed')]);
    expect(called()).toEqual([model]);
  });

  it('is called in its place, and only the last target is called again', async () => {
    const prompt = await promptOf('mock-500', spare('mock-429'), spare('mock-flaky-2'), { provider: 'echo' });
    const first = await harness.invoke(prompt);
    expect(first.headers).toMatchObject({ 'x-provider': 'echo', 'x-model': 'echo-1' });
    expect(called()).toEqual(['mock-500', 'mock-429', 'mock-flaky-2']);
    harness.mock.reset();
    const last = await harness.invoke(await promptOf('mock-500', spare('mock-429'), spare('mock-flaky-2')));
    expect(last.headers).toMatchObject({ 'x-provider': 'spare', 'x-model': 'mock-flaky-2' });
    expect(called()).toEqual(['mock-500', 'mock-429', 'mock-flaky-2', 'mock-flaky-2', 'mock-flaky-2']);
    expect(attemptsOf(last)).toHaveLength(4);
  });

  it('is left out if it is the same as a target before it', async () => {
    const prompt = await promptOf('mock-503', { provider: 'mock', model: 'mock-503' });
    const answer = await harness.invoke(prompt);
    expect(problemOf(answer)).toBe('provider-failed');
    expect(called()).toEqual(['mock-503', 'mock-503', 'mock-503']);
  });

  it('does not hide who was asked', async () => {
    const first = 'provider_call_duration_seconds_count{provider="mock",outcome="provider-failed"}';
    const second = 'provider_call_duration_seconds_count{provider="spare",outcome="succeeded"}';
    const before = [await harness.metric(first), await harness.metric(second)];
    await harness.invoke(await promptOf('mock-500', { provider: 'spare' }));
    expect([await harness.metric(first), await harness.metric(second)]).toEqual(before.map((count) => count + 1));
    expect(logged.map((line) => JSON.parse(line) as object).at(-1)).toMatchObject({
      msg: 'the next provider is called',
      problem: 'provider-failed',
      provider: 'mock',
      model: 'mock-500',
      provider_status: 500,
    });
  });

  it('has to be configured before anything is called', async () => {
    const answer = await harness.invoke(await promptOf('model-a', { provider: 'echo' }, { provider: 'openai' }));
    expect([answer.status, problemOf(answer)]).toEqual([422, 'provider-not-configured']);
    expect(answer.body).toMatchObject({ provider: 'openai', errors: [{ pointer: '#/fallbacks/1/provider' }] });
    expect(called()).toEqual([]);
  });
});

describe('when all targets fail', () => {
  it('the answer is the failure of the last one, with all calls', async () => {
    const answer = await harness.invoke(await promptOf('mock-garbage', spare('mock-429')));
    expect(answer.status).toBe(502);
    expect(answer.body).toMatchObject({
      type: urn('provider-rate-limited'),
      provider: 'spare',
      model: 'mock-429',
      attempts: [
        attempt('mock-garbage', 'provider-bad-answer', true),
        ...Array<object>(3).fill(attempt('mock-429', 'provider-rate-limited', false, 'spare')),
      ],
    });
    expect(called()).toEqual(['mock-garbage', 'mock-429', 'mock-429', 'mock-429']);
  });

  it.each([
    [3, 3],
    [4, 2],
    [5, 1],
  ])('with %i fallbacks, the last one is called %i times, so that there are six calls', async (count, times) => {
    const models = Array.from({ length: count }, (_, index) => `mock-50${index + 1}`);
    models.fill('mock-529', count - 1);
    const answer = await harness.invoke(await promptOf('mock-507', ...models.map(spare)));
    expect(answer.status).toBe(502);
    expect(called()).toEqual(['mock-507', ...models.slice(0, -1), ...Array<string>(times).fill('mock-529')]);
    expect(attemptsOf(answer)).toHaveLength(6);
  });

  it('the attempt of a single target is part of the answer too', async () => {
    const answer = await harness.invoke(await promptOf('mock-400'));
    expect(attemptsOf(answer)).toMatchObject([attempt('mock-400', 'provider-failed')]);
  });
});

describe('the answer cache', () => {
  it('has an entry for each target', async () => {
    const prompt = await promptOf('mock-500', { provider: 'spare' });
    const body = { variables: { name: 'cached' } };
    const cached = { 'Cache-Control': 'max-age=60' };
    const first = await harness.invoke(prompt, body, cached);
    expect(first.headers).toMatchObject({ 'x-provider': 'spare', 'x-cached': 'false' });
    const second = await harness.invoke(prompt, body, cached);
    expect(second.headers).toMatchObject({ 'x-provider': 'spare', 'x-cached': 'true' });
    expect(attemptsOf(second)).toHaveLength(1);
    expect(called()).toEqual(['mock-500', 'spare-a', 'mock-500']);
    const third = await harness.invoke(prompt, body, { 'Cache-Control': 'only-if-cached' });
    expect(third.headers).toMatchObject({ 'x-provider': 'spare', 'x-cached': 'true' });
    expect(third.body).not.toHaveProperty('attempts');
    harness.mock.behave('mock-500', { kind: 'answer' });
    const recovered = await harness.invoke(prompt, body, cached);
    expect(recovered.headers).toMatchObject({ 'x-provider': 'mock', 'x-cached': 'false' });
    expect(called()).toHaveLength(4);
  });
});
