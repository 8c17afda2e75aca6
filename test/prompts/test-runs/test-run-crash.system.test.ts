import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createMemoryBudget } from '../../../src/base/limits/memory-budget.ts';
import type { Provider } from '../../../src/models/provider.ts';
import type { TestRequest } from '../../../src/prompts/test-runs/test-runs.ts';
import { startAnother } from '../../support/per-operation.ts';
import { startChildService, type ChildService } from './child-service.ts';
import {
  createPrompt,
  ended,
  hasResults,
  onMock,
  problemOf,
  resultsPath,
  runPath,
  createTestRun,
  setUpTestRuns,
  startRun,
  testPath,
} from './test-runs-harness.ts';
import { until } from '../../support/until.ts';
import { observe } from './observer.ts';

const harness = setUpTestRuns();

const post = (url: string, prompt: string, body: unknown, headers: Record<string, string>): Promise<Response> =>
  fetch(url + testPath(prompt), {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${harness.service.adminKey}`, 'content-type': 'application/json', ...headers },
  });

/** Sweeps as other processes do, but gives up a run after 300 ms. */
async function sweepUntilInterrupted(id: string): Promise<void> {
  const { testRuns } = observe(harness, { staleMs: 300 });
  await until(
    async () => {
      await testRuns.sweep();
      return (await testRuns.get(id)).status;
    },
    (status) => status !== 'running',
  );
}

describe('a service that is killed', () => {
  const startChild = (): Promise<ChildService> => startChildService(harness.service.environment);

  it('leaves runs that become interrupted, and does not repeat their calls', async () => {
    const prompt = await createPrompt(harness.service);
    const child = await startChild();
    const started = await post(child.url, prompt, onMock('mock-hang', 'model-a'), { Prefer: 'respond-async' });
    const { id } = (await started.json()) as { id: string };
    await until(
      () => harness.mock.requests.length,
      (count) => count === 2,
    );
    await child.kill();

    expect((await harness.service.call('GET', runPath(id))).body.status).toBe('running');
    await sweepUntilInterrupted(id);
    const run = await harness.service.call('GET', runPath(id));
    expect(run.body).toMatchObject({ status: 'interrupted', finished_at: expect.any(String) });
    const results = await harness.service.call('GET', resultsPath(id));
    expect([results.status, problemOf(results)]).toEqual([409, 'test-run-not-stored']);
    expect(harness.mock.requests).toHaveLength(2);
    expect(await hasResults(harness.service, id)).toBe(false);
  });

  it('reports the lost run to a repeated request, and costs nothing before the caller starts a new run', async () => {
    const prompt = await createPrompt(harness.service);
    const headers = { 'Idempotency-Key': 'crash' };
    const child = await startChild();
    const cut = post(child.url, prompt, onMock('mock-hang'), headers).catch(() => undefined);
    await until(
      () => harness.mock.requests.length,
      (count) => count === 1,
    );
    await child.kill();
    await cut;
    const repeat = (): ReturnType<typeof createTestRun> =>
      createTestRun(harness.service, prompt, onMock('mock-hang'), headers);
    for (const _try of [1, 2]) {
      const running = await repeat();
      expect([running.status, problemOf(running)]).toEqual([409, 'idempotency-key-in-use']);
      expect(running.headers['retry-after']).toBe('2');
    }
    const { body } = await harness.service.call('GET', `/api/v1/prompts/${prompt}/test-runs`);
    await sweepUntilInterrupted(body.data[0].id as string);
    const interrupted = await repeat();
    expect([interrupted.status, problemOf(interrupted)]).toEqual([409, 'test-run-not-stored']);
    expect(interrupted.body.detail).toContain(body.data[0].id);
    expect(harness.mock.requests).toHaveLength(1);

    harness.mock.behave('mock-hang', { kind: 'answer' });
    const anew = await repeat();
    expect(anew.status).toBe(201);
    expect(anew.body.id).not.toBe(body.data[0].id);
    expect(harness.mock.requests).toHaveLength(2);
  });
});

describe('a service that is stopped', () => {
  const another = (SHUTDOWN_TIMEOUT_MS: string): ReturnType<typeof startAnother> => {
    const { OPENAI_COMPATIBLE_PROVIDERS = '' } = harness.service.environment;
    return startAnother(harness.service, { OPENAI_COMPATIBLE_PROVIDERS, SHUTDOWN_TIMEOUT_MS });
  };

  it('finishes its runs first', async () => {
    const service = await another('10000');
    const id = await startRun(service, await createPrompt(service), onMock('mock-held'));
    await until(
      () => harness.mock.requests.length,
      (count) => count === 1,
    );
    const closing = service.close();
    harness.mock.release();
    await closing;
    const run = await harness.service.call('GET', runPath(id));
    expect(run.body.status).toBe('done');
    expect((await harness.service.call('GET', resultsPath(id))).status).toBe(200);
  });

  it('interrupts runs that do not finish in time, and cancels their calls', async () => {
    const service = await another('300');
    const id = await startRun(service, await createPrompt(service), onMock('mock-hang', 'model-a'));
    await until(
      () => harness.mock.requests.length,
      (count) => count === 2,
    );
    await service.close();
    expect((await harness.service.call('GET', runPath(id))).body.status).toBe('interrupted');
    await until(
      () => harness.mock.requests.find(({ model }) => model === 'mock-hang')?.aborted,
      (aborted) => aborted === true,
    );
  });
});

function invoker(resourceId: string): TestRequest['invoker'] {
  return {
    principal: { kind: 'key', id: 'a key', family: 'a key', name: 'A key' },
    requestId: 'a request',
    memory: createMemoryBudget({ perKey: Infinity, perProcess: Infinity }).forRequest('a key'),
    signal: new AbortController().signal,
    traceparent: undefined,
    tracestate: undefined,
    resourceId,
    note: () => undefined,
  };
}

describe('drain', () => {
  const request = async (): Promise<TestRequest> => ({
    invoker: invoker(randomUUID()),
    isRepeatable: false,
    slugOrId: await createPrompt(harness.service),
    version: undefined,
    variables: undefined,
    targets: [{ provider: 'echo' }],
    respondAsync: false,
    tags: [],
  });

  it('answers the waiting callers of interrupted runs, and accepts no more runs', async () => {
    const called = Promise.withResolvers<undefined>();
    const provider = slowEcho(60_000, called.resolve);
    const { testRuns } = observe(harness, { providers: { get: () => provider } });
    const first = await request();
    const waiting = expect(testRuns.run(first)).rejects.toMatchObject({ type: 'interrupted' });
    await called.promise;
    await testRuns.drain(0);
    await waiting;
    expect((await testRuns.get(first.invoker.resourceId)).status).toBe('interrupted');
    await expect(testRuns.run(await request())).rejects.toMatchObject({ type: 'shutting-down' });
  });

  it('interrupts a run that is just being started', async () => {
    const { testRuns } = observe(harness, { providers: { get: () => slowEcho(60_000) } });
    const first = await request();
    const waiting = expect(testRuns.run(first)).rejects.toMatchObject({ type: 'interrupted' });
    await testRuns.drain(0);
    await waiting;
    expect((await testRuns.get(first.invoker.resourceId)).status).toBe('interrupted');
  });
});

describe('the heartbeat', () => {
  it('does not interrupt a run that takes longer than the term', async () => {
    const prompt = await createPrompt(harness.service);
    const registry = new Map([['echo', slowEcho(3_000)]]);
    const worker = observe(harness, { providers: { get: (id) => registry.get(id) }, heartbeatMs: 50 });
    const id = '11111111-1111-4111-8111-111111111111';
    const run = worker.testRuns.run({
      invoker: invoker(id),
      isRepeatable: false,
      slugOrId: prompt,
      version: undefined,
      variables: undefined,
      targets: [{ provider: 'echo' }],
      respondAsync: false,
      tags: [],
    });
    const watcher = observe(harness, { staleMs: 1_500 });
    let finished = false;
    void run.finally(() => (finished = true));
    while (!finished) await watcher.testRuns.sweep();
    expect((await run).run.status).toBe('done');
  });
});

describe('a worker that was given up but still runs', () => {
  it('removes what it stored, and reports to its caller', async () => {
    const prompt = await createPrompt(harness.service);
    const answer = createTestRun(harness.service, prompt, onMock('mock-held'));
    await until(
      () => harness.mock.requests.length,
      (count) => count === 1,
    );
    const { body } = await harness.service.call('GET', `/api/v1/prompts/${prompt}/test-runs`);
    const id = body.data[0].id as string;
    await sweepUntilInterrupted(id);
    harness.mock.release();
    const { status, body: problem } = await answer;
    expect([status, problem.type]).toEqual([409, 'urn:prompt-gateway:problem:test-run-not-stored']);
    expect((await ended(harness.service, id)).body.status).toBe('interrupted');
    expect(await hasResults(harness.service, id)).toBe(false);
  });
});

function slowEcho(milliseconds: number, onCall?: (value: undefined) => void): Provider {
  const result = {
    content: [{ type: 'text', text: 'late' }],
    finishReason: 'stop',
    usage: { inputTokens: 0, outputTokens: 0 },
  } as const;
  return {
    id: 'echo',
    name: 'Echo',
    models: ['echo-1'],
    defaultModel: 'echo-1',
    embeddingModels: [],
    configured: true,
    settings: [],
    async *answer(_request, { signal }) {
      onCall?.(undefined);
      yield { type: 'finish', result: await sleep(milliseconds, result, { signal }) };
    },
    unsupported: async () => [],
    mostInputs: async () => 1,
    rewritten: async () => [],
    outputLimit: async () => undefined,
    ceiling: async () => ({ inputTokens: 0, outputTokens: 0, isKept: true, likelyInputTokens: 0 }),
  };
}
