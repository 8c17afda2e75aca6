import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../../src/observability/logger.ts';
import { createSteppableClock } from '../../support/clock.ts';
import { until } from '../../support/until.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

const configuredTimeout = 1_200;
/** Longer than these tests take. A call that ends earlier has another reason. */
const longTimeout = 300_000;
const logged: string[] = [];
const clock = createSteppableClock();
let harness: InvokeHarness;
/** A service with a long deadline, on the same mock. */
let patient: InvokeHarness;
let prompt: string;
let patientPrompt: string;

beforeAll(async () => {
  harness = await startInvokeHarness({
    environment: { INVOKE_TIMEOUT_MS: String(configuredTimeout) },
    log: createLogger('info', { write: (line) => logged.push(line) }),
  });
  prompt = await harness.createPrompt();
  patient = await startInvokeHarness({ environment: { INVOKE_TIMEOUT_MS: String(longTimeout) } });
  patientPrompt = await patient.createPrompt();
  // The first call loads the package of the provider.
  await harness.invoke(prompt);
  harness.mock.reset();
});
afterEach(() => {
  harness.mock.reset();
  patient.mock.reset();
});
afterAll(async () => {
  clock.restore();
  await Promise.all([harness.close(), patient.close()]);
});

async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const started = performance.now();
  return { value: await work, ms: performance.now() - started };
}

describe('deadline', () => {
  it('is the configured one, and ends the call', async () => {
    const { value: answer, ms } = await timed(harness.invoke(prompt, { model: 'mock-hang' }));
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-timeout']);
    expect(answer.body).toMatchObject({ provider: 'mock', model: 'mock-hang', retryable: false });
    expect(ms).toBeGreaterThanOrEqual(configuredTimeout - 5);
    const upstream = await harness.received(1);
    await upstream.ended;
    expect(upstream.aborted).toBe(true);
  });

  it('is lowered by X-Timeout-Ms', async () => {
    const answer = await patient.invoke(patientPrompt, { model: 'mock-hang' }, { 'X-Timeout-Ms': '150' });
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-timeout']);
  });

  it('is not raised by X-Timeout-Ms', async () => {
    const answer = await harness.invoke(prompt, { model: 'mock-hang' }, { 'X-Timeout-Ms': '600000' });
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-timeout']);
  });

  it.each([-3_600_000, 3_600_000])('does not change when the wall clock jumps by %i ms', async (step) => {
    const call = timed(harness.invoke(prompt, { model: 'mock-hang' }, { 'X-Timeout-Ms': '600' }));
    await harness.received(1);
    clock.step(step);
    const { value: answer, ms } = await call;
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-timeout']);
    expect(ms).toBeGreaterThanOrEqual(595);
  });

  it('covers retries and their pauses', async () => {
    patient.mock.behave('model-a', { kind: 'status', status: 503, headers: { 'Retry-After': '20' } });
    const answer = await patient.invoke(patientPrompt, {}, { 'X-Timeout-Ms': '10000' });
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-failed']);
    // It did not wait for a second attempt that would be too late.
    expect(patient.mock.requests).toHaveLength(1);
  });

  it('does not affect an answer in time', async () => {
    const answer = await patient.invoke(patientPrompt, { model: 'mock-slow-50' }, { 'X-Timeout-Ms': '60000' });
    expect(answer.status).toBe(200);
  });
});

describe('closing the connection', () => {
  it.each([{}, { 'Cache-Control': 'max-age=60' }])('cancels the call to the provider (%j)', async (headers) => {
    const canceled = 'provider_call_duration_seconds_count{provider="mock",outcome="canceled"}';
    const before = await harness.metric(canceled);
    const caller = new AbortController();
    const answer = harness.invokeUntil(caller.signal, prompt, { model: 'mock-hang' }, headers);
    const upstream = await harness.received(1);
    caller.abort();
    await expect(answer).rejects.toThrow();
    await upstream.ended;
    expect(upstream.aborted).toBe(true);
    await until(
      () => harness.metric(canceled),
      (count) => count === before + 1,
    );
  });

  it('is not a failure in log and metrics', async () => {
    logged.length = 0;
    const gone = 'http_request_duration_seconds_count{operation="invokePrompt",status="499"}';
    const before = await harness.metric(gone);
    const caller = new AbortController();
    const answer = harness.invokeUntil(caller.signal, prompt, { model: 'mock-hang' });
    const upstream = await harness.received(1);
    caller.abort();
    await expect(answer).rejects.toThrow();
    await upstream.ended;
    await until(
      () => harness.metric(gone),
      (count) => count === before + 1,
    );
    const levels = logged.map((line) => (JSON.parse(line) as { level: string }).level);
    expect(levels.filter((level) => level !== 'info')).toEqual([]);
  });

  it('between two attempts prevents the second one', async () => {
    const caller = new AbortController();
    const answer = harness.invokeUntil(caller.signal, prompt, { model: 'mock-503' });
    await (
      await harness.received(1)
    ).ended;
    caller.abort();
    await expect(answer).rejects.toThrow();
    await sleep(800);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('does not stop a call with an idempotency key, and its answer is stored', async () => {
    const caller = new AbortController();
    const headers = { 'Idempotency-Key': 'kept-after-hanging-up' };
    const body = { model: 'mock-held' };
    const answer = harness.invokeUntil(caller.signal, prompt, body, headers);
    const upstream = await harness.received(1);
    caller.abort();
    await expect(answer).rejects.toThrow();
    harness.mock.release();
    await upstream.ended;
    expect(upstream.aborted).toBe(false);

    let replay = await harness.invoke(prompt, body, headers);
    while (replay.status === 409) replay = await harness.invoke(prompt, body, headers);
    expect([replay.status, replay.headers['idempotency-replayed']]).toEqual([200, 'true']);
    expect(harness.mock.requests).toHaveLength(1);
  });
});
