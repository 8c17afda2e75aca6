import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../src/observability/logger.ts';
import { createSteppableClock } from '../support/clock.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

const configuredTimeout = 1_200;
const logged: string[] = [];
const clock = createSteppableClock();
let harness: InvokeHarness;
let prompt: string;

beforeAll(async () => {
  harness = await startInvokeHarness({
    environment: { INVOKE_TIMEOUT_MS: String(configuredTimeout) },
    log: createLogger('info', { write: (line) => logged.push(line) }),
  });
  prompt = await harness.createPrompt();
  // The first call loads the provider's package.
  await harness.invoke(prompt);
  harness.mock.reset();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  clock.restore();
  await harness.close();
});

async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const started = performance.now();
  return { value: await work, ms: performance.now() - started };
}

describe('deadline', () => {
  it('is the configured one, and the call ends with it', async () => {
    const { value: answer, ms } = await timed(harness.invoke(prompt, { model: 'mock-hang' }));
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-timeout']);
    expect(answer.body).toMatchObject({ provider: 'mock', model: 'mock-hang', retryable: true });
    expect(ms).toBeGreaterThanOrEqual(configuredTimeout - 5);
    const upstream = await harness.received(1);
    await upstream.ended;
    expect(upstream.aborted).toBe(true);
  });

  it('is lowered by X-Timeout-Ms', async () => {
    const { value: answer, ms } = await timed(
      harness.invoke(prompt, { model: 'mock-hang' }, { 'X-Timeout-Ms': '150' }),
    );
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-timeout']);
    expect(ms).toBeLessThan(configuredTimeout);
  });

  it('is not raised by X-Timeout-Ms', async () => {
    const { value: answer, ms } = await timed(
      harness.invoke(prompt, { model: 'mock-slow-2500' }, { 'X-Timeout-Ms': '600000' }),
    );
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-timeout']);
    expect(ms).toBeLessThan(2_400);
  });

  it.each([-3_600_000, 3_600_000])('is the same when the clock steps by %i ms', async (step) => {
    const call = timed(harness.invoke(prompt, { model: 'mock-hang' }, { 'X-Timeout-Ms': '600' }));
    await harness.received(1);
    clock.step(step);
    const { value: answer, ms } = await call;
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-timeout']);
    expect(ms).toBeGreaterThanOrEqual(595);
  });

  it('covers retries and their pauses', async () => {
    const { value: answer, ms } = await timed(harness.invoke(prompt, { model: 'mock-500' }, { 'X-Timeout-Ms': '100' }));
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-failed']);
    expect(harness.mock.requests).toHaveLength(1);
    expect(ms).toBeLessThan(configuredTimeout);
  });

  it('leaves an answer in time alone', async () => {
    expect((await harness.invoke(prompt, { model: 'mock-slow-50' }, { 'X-Timeout-Ms': '1000' })).status).toBe(200);
  });
});

describe('hanging up', () => {
  it.each([{}, { 'Cache-Control': 'max-age=60' }])('cancels the call upstream (%j)', async (headers) => {
    const cancelled = 'provider_call_duration_seconds_count{provider="mock",outcome="cancelled"}';
    const before = await harness.metric(cancelled);
    const caller = new AbortController();
    const answer = harness.invokeUntil(caller.signal, prompt, { model: 'mock-hang' }, headers);
    const upstream = await harness.received(1);
    caller.abort();
    await expect(answer).rejects.toThrow();
    await upstream.ended;
    expect(upstream.aborted).toBe(true);
    expect(await harness.metric(cancelled)).toBe(before + 1);
  });

  it('is no failure in log and metrics', async () => {
    logged.length = 0;
    const gone = 'http_request_duration_seconds_count{operation="invokePrompt",status="499"}';
    const before = await harness.metric(gone);
    const caller = new AbortController();
    const answer = harness.invokeUntil(caller.signal, prompt, { model: 'mock-hang' });
    const upstream = await harness.received(1);
    caller.abort();
    await expect(answer).rejects.toThrow();
    await upstream.ended;
    expect(await harness.metric(gone)).toBe(before + 1);
    const levels = logged.map((line) => (JSON.parse(line) as { level: string }).level);
    expect(levels.filter((level) => level !== 'info')).toEqual([]);
  });

  it('between two attempts leaves it at the first', async () => {
    const caller = new AbortController();
    const answer = harness.invokeUntil(caller.signal, prompt, { model: 'mock-500' });
    await (
      await harness.received(1)
    ).ended;
    caller.abort();
    await expect(answer).rejects.toThrow();
    await sleep(800);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('leaves a call with an idempotency key running, and its answer is kept', async () => {
    const caller = new AbortController();
    const headers = { 'Idempotency-Key': 'kept-after-hanging-up' };
    const body = { model: 'mock-slow-300' };
    const answer = harness.invokeUntil(caller.signal, prompt, body, headers);
    const upstream = await harness.received(1);
    caller.abort();
    await expect(answer).rejects.toThrow();
    await upstream.ended;
    expect(upstream.aborted).toBe(false);

    let replay = await harness.invoke(prompt, body, headers);
    while (replay.status === 409) replay = await harness.invoke(prompt, body, headers);
    expect([replay.status, replay.headers['idempotency-replayed']]).toEqual([200, 'true']);
    expect(harness.mock.requests).toHaveLength(1);
  });
});
