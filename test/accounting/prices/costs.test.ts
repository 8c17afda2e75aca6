/** What answers say that they cost. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { systemClock } from '../../../src/base/runtime/clock.ts';
import { startAnother } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { pricesPath } from './prices-harness.ts';

let harness: InvokeHarness;
let prompt: string;
beforeAll(async () => {
  harness = await startInvokeHarness();
  prompt = await harness.createPrompt();
  // 11 and 7 tokens: 11 × 0.1 + 7 × 0.4 millionths.
  await setPrice('model-a', { input: '0.1', output: '0.4' });
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(() => harness.close());

function setPrice(model: string, ...rates: object[]): Promise<Answer> {
  return harness.service.call('PUT', `${pricesPath}/mock/${model}`, { body: { rates } });
}

const cost = { amount: '0.0000039', currency: 'USD' };
const nothing = { amount: '0', currency: 'USD' };

describe('the cost of an answer', () => {
  it('is beside its usage', async () => {
    const { body } = await harness.invoke(prompt);
    expect(body).toMatchObject({ usage: { inputTokens: 11, outputTokens: 7 }, cost });
  });

  it('is in the end of a stream', async () => {
    const { text } = await harness.invoke(prompt, { stream: true });
    expect(text).toContain(
      '"usage":{"inputTokens":11,"outputTokens":7},"cost":{"amount":"0.0000039","currency":"USD"}',
    );
  });

  it('is unknown without a price, and without tokens', async () => {
    expect((await harness.invoke(prompt, { model: 'model-b' })).body.cost).toBeNull();
    harness.mock.behave('model-a', { kind: 'answer', usage: false });
    expect((await harness.invoke(prompt)).body.cost).toBeNull();
  });

  it('is unknown for a tier of the provider that has another price', async () => {
    const tier = async (service_tier: string): Promise<unknown> => {
      const options = { provider_options: { mock: { service_tier } } };
      return (await harness.invoke(prompt, options)).body.cost as unknown;
    };
    expect([await tier('flex'), await tier('priority'), await tier('default')]).toEqual([null, null, cost]);
  });

  it('is zero from the cache, and for those who join a call', async () => {
    const headers = { 'Cache-Control': 'max-age=60' };
    const body = { variables: { name: 'cached' } };
    expect((await harness.invoke(prompt, body, headers)).body.cost).toEqual(cost);
    expect((await harness.invoke(prompt, body, headers)).body.cost).toEqual(nothing);

    harness.mock.behave('model-a', { kind: 'answer', delay: 400 });
    const shared = { variables: { name: 'shared' } };
    const answers = Promise.all([1, 2, 3].map(() => harness.invoke(prompt, shared, headers)));
    const costs = (await answers).map((answer) => answer.body.cost.amount as string);
    expect(costs.toSorted()).toEqual(['0', '0', '0.0000039']);
  });

  it('is zero for echo', async () => {
    expect((await harness.invoke(prompt, { provider: 'echo' })).body.cost).toEqual(nothing);
  });

  it('follows a price from its date on', async () => {
    const price = { input: '1', output: '1' };
    await setPrice(
      'dated',
      price,
      { ...price, from: '2020-01-01T00:00:00Z', output: '2' },
      { ...price, from: '2999-01-01T00:00:00Z' },
    );
    const { body } = await harness.invoke(prompt, { model: 'dated' });
    expect(body.cost.amount).toBe('0.000025');
  });
});

describe('the cost of a test run', () => {
  it('is that of all its calls, unless one of them may have been billed and is not known', async () => {
    const run = async (...models: string[]): Promise<Answer> =>
      harness.service.call('POST', `/api/v1/prompts/${prompt}/test`, {
        body: { providers: models.map((model) => ({ provider: 'mock', model })) },
      });
    const { body } = await run('model-a', 'mock-401', 'model-a');
    expect(body.results.map((result: { cost?: unknown }) => result.cost)).toEqual([undefined, nothing, undefined]);
    expect(body.results[0].result.cost).toEqual(cost);
    expect(body.cost).toEqual({ amount: '0.0000078', currency: 'USD' });
    const found = await harness.service.call('GET', `/api/v1/test-runs/${body.id as string}`);
    expect(found.body.cost).toEqual(body.cost);
    expect((await run('model-a', 'mock-reset')).body.cost).toBeNull();
    expect((await run('model-a', 'model-b')).body.cost).toBeNull();
  });
});

describe('the record of an invocation', () => {
  const recordOf = async ({ headers }: Answer): Promise<{ cost: unknown; attempts: { cost: unknown }[] }> => {
    const path = `/api/v1/invocations/${headers['x-invocation-id'] ?? ''}`;
    const { body } = await until(
      () => harness.service.call('GET', path),
      ({ status }) => status === 200,
    );
    return body as { cost: unknown; attempts: { cost: unknown }[] };
  };

  it('has the cost of each attempt, and of all together', async () => {
    harness.mock.behave('model-a', { kind: 'status', status: 429 });
    const { cost: total, attempts } = await recordOf(await harness.invoke(prompt));
    expect([total, ...attempts.map((attempt) => attempt.cost)]).toEqual([cost, nothing, cost]);
  });

  it('has no cost if one attempt may have been billed and is not known', async () => {
    harness.mock.behave('model-a', { kind: 'status', status: 500 });
    const { cost: total, attempts } = await recordOf(await harness.invoke(prompt, { retries: 1 }));
    expect([total, ...attempts.map((attempt) => attempt.cost)]).toEqual([null, null, cost]);
  });

  it('costs nothing without an attempt', async () => {
    const { cost: total, attempts } = await recordOf(await harness.invoke(prompt, { version: 99 }));
    expect([total, attempts]).toEqual([nothing, []]);
  });
});

describe('a price that depends on the time', () => {
  it('is that of the begin of the call, in the answer and in the record', async () => {
    const times = ['2026-03-12T10:00:00Z', '2026-03-12T11:00:00Z'];
    let count = 0;
    const clock = {
      ...systemClock,
      now: () => {
        count += 1;
        return new Date(times[count % 2] ?? '');
      },
    };
    const other = await startInvokeHarness({ clock });
    try {
      const slug = await other.createPrompt();
      const price = { input: '0.1', output: '0.4' };
      const later = { from: '2026-03-12T10:30:00Z', input: '1', output: '4' };
      await other.service.call('PUT', `${pricesPath}/mock/model-a`, { body: { rates: [price, later] } });
      const seen = new Set<string>();
      for (let round = 0; round < 6; round += 1) {
        const stream = round % 2 === 0;
        const { body, text, headers } = await other.invoke(slug, { stream });
        const path = `/api/v1/invocations/${headers['x-invocation-id']}`;
        const { body: record } = await until(
          () => other.service.call('GET', path),
          ({ status }) => status === 200,
        );
        const { amount } = record.cost as { amount: string };
        if (stream) expect(text).toContain(`"cost":{"amount":"${amount}"`);
        else expect(body.cost.amount).toBe(amount);
        seen.add(amount);
        // The next round begins at the other time.
        clock.now();
      }
      expect([...seen].every((amount) => ['0.0000039', '0.000039'].includes(amount))).toBe(true);
    } finally {
      await other.close();
    }
  });
});

describe('an invocation that is left before its call', () => {
  it('costs nothing, and is not among those whose cost is unknown', async () => {
    const other = await startInvokeHarness({ environment: { PROVIDER_CONCURRENCY: '1' }, statisticsEveryMs: 20 });
    try {
      const slug = await other.createPrompt({ selected_model: 'mock-held' });
      const first = other.invoke(slug);
      await other.received(1);
      const leaving = new AbortController();
      const second = other.invokeUntil(leaving.signal, slug);
      await until(
        () => other.metric('provider_calls_waiting{provider="mock"}'),
        (waiting) => waiting === 1,
      );
      leaving.abort();
      await second.catch(() => undefined);
      other.mock.release();
      await first;
      const { body } = await until(
        () => other.service.call('GET', `/api/v1/prompts/${slug}/statistics`),
        ({ body: { totals } }) => totals.invocations === 2,
      );
      // The model has no price, so that the cost of the first is unknown.
      expect(body.totals).toMatchObject({ errors: 0, canceled: 1, without_usage: 0, without_cost: 1 });
    } finally {
      await other.close();
    }
  });
});

describe('metrics', () => {
  it('have costs, and calls whose cost is unknown, by provider and model', async () => {
    const paid = 'provider_cost_dollars_total{provider="mock",model="model-a"}';
    const unknown = 'provider_calls_without_cost_total{provider="mock",model="model-b"}';
    const before = [await harness.metric(paid), await harness.metric(unknown)] as const;
    await harness.invoke(prompt);
    await harness.invoke(prompt, { model: 'model-b' });
    expect(await harness.metric(paid)).toBeCloseTo(before[0] + 0.0000039, 12);
    expect(await harness.metric(unknown)).toBe(before[1] + 1);
  });
});

describe('another process', () => {
  it('sees a price within 5 seconds', async () => {
    const { OPENAI_COMPATIBLE_PROVIDERS = '' } = harness.service.environment;
    const other = await startAnother(harness.service, { OPENAI_COMPATIBLE_PROVIDERS });
    try {
      const costThere = async (): Promise<unknown> => {
        const { body } = await other.call('POST', `/api/v1/prompts/${prompt}/invoke`, { body: { model: 'other' } });
        return body.cost as unknown;
      };
      // It reads what was set before it started.
      const { body } = await other.call('POST', `/api/v1/prompts/${prompt}/invoke`);
      expect(body.cost).toEqual(cost);
      expect(await costThere()).toBeNull();
      await setPrice('other', { input: '0', output: '1' });
      const began = performance.now();
      const seen = await until(costThere, (found) => found !== null);
      expect(seen).toEqual({ amount: '0.000007', currency: 'USD' });
      expect(performance.now() - began).toBeLessThan(5_000);
    } finally {
      await other.close();
    }
  });
});
