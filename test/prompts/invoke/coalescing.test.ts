import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Behaviour } from '../../support/mock-provider.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

let harness: InvokeHarness;
let prompt: string;

beforeAll(async () => {
  harness = await startInvokeHarness();
  prompt = await harness.createPrompt();
  // The first call loads the package of the provider.
  await harness.invoke(prompt);
  harness.mock.reset();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

let asked = 0;
const slowly = (ms: number | 'hang'): { model: string; variables: { name: string } } => ({
  model: ms === 'hang' ? 'mock-hang' : `mock-slow-${ms}`,
  variables: { name: `guest ${(asked += 1)}` },
});
const willing = { 'Cache-Control': 'max-age=60' };
const within = (ms: number): Record<string, string> => ({ ...willing, 'X-Timeout-Ms': String(ms) });

/** Waits until this number of callers has joined a call since `before` was counted. */
async function joined(before: number, count = 1): Promise<void> {
  await until(joinedSoFar, (sofar) => sofar >= before + count);
}
const joinedSoFar = (): Promise<number> => harness.metric('invoke_cache_total{result="joined"}');

describe('identical simultaneous invocations', () => {
  it('share one provider call', async () => {
    const body = slowly(2000);
    const answers = await Promise.all(Array.from({ length: 20 }, () => harness.invoke(prompt, body, willing)));
    expect(harness.mock.requests).toHaveLength(1);
    for (const { status, headers, body: answer } of answers) {
      // The one that made the call pays for it.
      expect([status, { ...answer, cost: 0 }]).toEqual([200, { ...answers[0]?.body, cost: 0 }]);
      expect(headers['x-cached']).toBe('false');
      expect(headers).not.toHaveProperty('age');
      // The duration of the call, for each caller that joined it.
      expect(Number(headers['x-latency-ms'])).toBeGreaterThanOrEqual(1900);
    }
    expect((await harness.invoke(prompt, body, willing)).headers['x-cached']).toBe('true');
  });

  it.each<Record<string, string>>([{}, { 'Cache-Control': 'no-store' }, { 'Cache-Control': 'no-cache' }])(
    'do not share with one that sends %j',
    async (headers) => {
      const body = slowly(150);
      const first = harness.invoke(prompt, body, willing);
      await harness.received(1);
      const second = harness.invoke(prompt, body, headers);
      expect([(await first).status, (await second).status]).toEqual([200, 200]);
      expect(harness.mock.requests).toHaveLength(2);
    },
  );

  it('join the newest call', async () => {
    const body = slowly(300);
    const first = harness.invoke(prompt, body, willing);
    await harness.received(1);
    const refresh = harness.invoke(prompt, body, { 'Cache-Control': 'no-cache' });
    await harness.received(2);
    const third = harness.invoke(prompt, body, willing);
    await Promise.all([first, refresh, third]);
    expect(harness.mock.requests).toHaveLength(2);
  });

  it('share its failure, and the next invocation calls again', async () => {
    const body = slowly(0);
    harness.mock.behave(body.model, { kind: 'hang' });
    const before = await joinedSoFar();
    const first = harness.invoke(prompt, body, within(800));
    await harness.received(1);
    const second = harness.invoke(prompt, body, within(700));
    await joined(before);
    const answers = await Promise.all([first, second]);
    expect(answers.map(problemOf)).toEqual(['provider-timeout', 'provider-timeout']);
    expect(harness.mock.requests).toHaveLength(1);
    expect((await harness.invoke(prompt, body, willing)).status).toBe(200);
  });

  it('share a refusal', async () => {
    const body = { ...slowly(0), model: 'mock-429-1' };
    const before = await joinedSoFar();
    // The first attempt is refused with a wait of one second. The others join during this second.
    const first = harness.invoke(prompt, body, willing);
    await harness.received(1);
    const second = harness.invoke(prompt, body, willing);
    await joined(before);
    const answers: Answer[] = await Promise.all([first, second]);
    expect(answers.map(problemOf)).toEqual(['provider-rate-limited', 'provider-rate-limited']);
    expect(new Set(answers.map(({ body: { request_id } }) => request_id as string)).size).toBe(2);
    expect(harness.mock.requests).toHaveLength(3);
  });
});

describe('deadlines of a shared call', () => {
  it('end each caller at its own time; a caller with a later deadline keeps the call alive', async () => {
    const body = slowly(1_200);
    const before = await joinedSoFar();
    const hasty = harness.invoke(prompt, body, within(600));
    await harness.received(1);
    const patient = harness.invoke(prompt, body, within(10_000));
    await joined(before);
    const timedOut = await hasty;
    expect([timedOut.status, problemOf(timedOut)]).toEqual([502, 'provider-timeout']);
    expect(timedOut.body).toMatchObject({ provider: 'mock', model: body.model, retryable: false });
    expect((await patient).status).toBe(200);
    expect(harness.mock.requests).toHaveLength(1);
    expect(harness.mock.requests[0]?.aborted).toBe(false);
    expect((await harness.invoke(prompt, body, willing)).headers['x-cached']).toBe('true');
  });

  it('continue retries for callers with a later deadline', async () => {
    const body = slowly(0);
    const refusal: Behaviour = { kind: 'status', status: 503, headers: { 'Retry-After': '1' } };
    harness.mock.behave(body.model, refusal, refusal);
    const before = await joinedSoFar();
    // Enough time for the second attempt, but not for the third.
    const hasty = harness.invoke(prompt, body, within(1_900));
    await harness.received(1);
    const patient = harness.invoke(prompt, body, within(10_000));
    await joined(before);
    expect((await Promise.all([hasty, patient])).map(({ status }) => status)).toEqual([502, 200]);
    expect(harness.mock.requests).toHaveLength(3);
  });

  it('end the call with the last caller', async () => {
    const body = slowly('hang');
    const before = await joinedSoFar();
    const first = harness.invoke(prompt, body, within(800));
    const upstream = await harness.received(1);
    const second = harness.invoke(prompt, body, within(700));
    await joined(before);
    expect((await Promise.all([first, second])).map(problemOf)).toEqual(['provider-timeout', 'provider-timeout']);
    await upstream.ended;
    expect(upstream.aborted).toBe(true);
  });
});

describe('leaving a shared call', () => {
  it('does not affect the other callers', async () => {
    const body = slowly(800);
    const before = await joinedSoFar();
    const starter = new AbortController();
    const first = harness.invokeUntil(starter.signal, prompt, body, willing);
    const upstream = await harness.received(1);
    const second = harness.invoke(prompt, body, willing);
    await joined(before);
    starter.abort();
    await expect(first).rejects.toThrow();
    expect((await second).status).toBe(200);
    expect([harness.mock.requests.length, upstream.aborted]).toEqual([1, false]);
  });

  it('cancels it when all callers have left', async () => {
    const body = slowly('hang');
    const before = await joinedSoFar();
    const callers = [new AbortController(), new AbortController(), new AbortController()] as const;
    const call = ({ signal }: AbortController): Promise<Response> => harness.invokeUntil(signal, prompt, body, willing);
    const [first, ...others] = callers;
    const answers = Promise.allSettled([call(first), harness.received(1).then(() => Promise.all(others.map(call)))]);
    await joined(before, 2);
    const upstream = await harness.received(1);
    callers[0].abort();
    callers[1].abort();
    await sleep(100);
    expect(upstream.aborted).toBe(false);
    callers[2].abort();
    await upstream.ended;
    expect(upstream.aborted).toBe(true);
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('does not cancel a call with an idempotency key, whose answer is stored', async () => {
    const body = slowly(800);
    const before = await joinedSoFar();
    const [starter, keyed] = [new AbortController(), new AbortController()];
    const first = harness.invokeUntil(starter.signal, prompt, body, willing);
    const upstream = await harness.received(1);
    const second = harness.invokeUntil(keyed.signal, prompt, body, { ...willing, 'Idempotency-Key': 'stays' });
    await joined(before);
    starter.abort();
    keyed.abort();
    await Promise.allSettled([first, second]);
    await upstream.ended;
    expect(upstream.aborted).toBe(false);
  });
});
