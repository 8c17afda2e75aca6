/** Numbers of tokens that a provider gives and that are not plausible: in answers, records, sums, budgets, the log and metrics. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fromAmount, showMoney } from '../../../src/base/runtime/money.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { setBudget, usd } from '../budgets/budgets-harness.ts';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';

interface Attempt {
  readonly usage_source: string;
  readonly usage: object;
  readonly cost: { readonly amount: string } | null;
  readonly estimate?: object;
}

const logged: string[] = [];
let harness: InvokeHarness;
let prompt: string;
beforeAll(async () => {
  harness = await startInvokeHarness({
    log: createLogger('warn', { write: (line) => logged.push(line) }),
    statisticsEveryMs: 50,
    invocationLogTimes: { beatMs: 50, termMs: 60_000, recoverEveryMs: 60_000, reportMs: 50 },
  });
  prompt = await harness.createPrompt({ parameters: { max_output_tokens: 50 } });
  await setBudget(harness.service, 'all', { limit: usd('1000') });
});
afterAll(() => harness.close());

const post = (path: string, body: unknown): Promise<Answer> => harness.service.call('POST', path, { body });

async function setPrice(model: string): Promise<void> {
  const body = { rates: [{ input: '1', output: '4' }] };
  await harness.service.call('PUT', `/api/v1/prices/mock/${model}`, { body });
}

async function invocationOf({ headers, body }: Answer): Promise<Answer['body']> {
  const id = headers['x-invocation-id'] ?? body.results[0].invocation_id;
  const { body: record } = await until(
    () => harness.service.call('GET', `/api/v1/invocations/${id}`),
    ({ status }) => status === 200,
  );
  return record;
}

const messages = [{ role: 'user', content: 'Hello' }];
const stream = true;

/** Every way to a provider. */
const ways: readonly (readonly [name: string, send: (model: string) => Promise<Answer>])[] = [
  ['an invocation', (model) => harness.invoke(prompt, { model })],
  ['a streamed invocation', (model) => harness.invoke(prompt, { model, stream })],
  ['a chat completion', (model) => post('/v1/chat/completions', { model: `mock/${model}`, messages, max_tokens: 50 })],
  [
    'a streamed chat completion',
    (model) =>
      post('/v1/chat/completions', {
        ...{ model: `mock/${model}`, messages, max_tokens: 50, stream },
        stream_options: { include_usage: true },
      }),
  ],
  ['a response', (model) => post('/v1/responses', { model: `mock/${model}`, input: 'Hello', max_output_tokens: 50 })],
  [
    'a streamed response',
    (model) => post('/v1/responses', { model: `mock/${model}`, input: 'Hello', max_output_tokens: 50, stream }),
  ],
  ['a message', (model) => post('/v1/messages', { model: `mock/${model}`, messages, max_tokens: 50 })],
  ['a streamed message', (model) => post('/v1/messages', { model: `mock/${model}`, messages, max_tokens: 50, stream })],
  ['a test run', (model) => post(`/api/v1/prompts/${prompt}/test`, { providers: [{ provider: 'mock', model }] })],
];

/** The largest number that is exact, one that is not, and the largest that a double can be. */
const absurd = ['9007199254740991', '90071992547409930', '1e308'] as const;

describe('a number of tokens that is not plausible', () => {
  it.each(ways)('counts as the ceiling in %s, and is reported', async (way, send) => {
    let sum = 0n;
    const metric = (model: string): Promise<number> =>
      harness.metric(`provider_calls_implausible_usage_total{provider="mock",model="${model}"}`);
    const model = `says-${ways.findIndex(([name]) => name === way)}-says-${absurd[0]}`;
    await setPrice(model);
    const [others, lines] = [await metric('other'), logged.length];
    for (const times of [1, 2]) {
      const answer = await send(model);
      expect(Math.floor(answer.status / 100)).toBe(2);
      expect(answer.text.replaceAll(model, '')).not.toContain(absurd[0]);
      const record = await invocationOf(answer);
      const [attempt] = record.attempts as Attempt[];
      expect(record.attempts).toHaveLength(1);
      const { inputTokens } = attempt?.usage as { inputTokens: number };
      const cost = inputTokens * 1_000 + 50 * 4_000;
      expect(attempt).toMatchObject({
        usage_source: 'ceiling',
        usage: { inputTokens, outputTokens: 50 },
        cost: { ...showMoney(BigInt(cost)), basis: 'ceiling' },
        estimate: { usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) } },
      });
      expect(inputTokens).toBeLessThan(5_000);
      expect(record.cost).toEqual(showMoney(BigInt(cost)));
      expect(record.usage.outputTokens).toBeLessThan(50);
      if (answer.text.includes('"amount"')) expect(answer.text).toContain(`"amount":"${record.cost.amount}"`);
      sum += BigInt(cost);
      for (const by of ['day', 'key', 'prompt', 'version', 'model', 'tag']) {
        const { body: costs } = await harness.service.call('GET', `/api/v1/costs?by=${by}&model=${model}`);
        expect(costs.total).toMatchObject({ calls: times, cost: showMoney(sum), ceiling_cost: showMoney(sum) });
        expect(costs.total.output_tokens).toBeLessThan(100);
        if (by !== 'tag') expect(costs.groups).toEqual([expect.objectContaining({ sums: costs.total })]);
      }
    }
    expect(await metric('other')).toBe(others + 2);
    const reported = logged.slice(lines).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(reported).toHaveLength(2);
    expect(reported[0]).toMatchObject({
      ...{ level: 'warn', provider: 'mock', model, usage: { outputTokens: Number(absurd[0]) } },
      ...{ invocation_id: expect.any(String), ceiling: { outputTokens: 50 } },
    });
  });

  it('leaves budgets with the sum of the log, statistics with estimates, and blocks nothing', async () => {
    const { body: costs } = await harness.service.call('GET', '/api/v1/costs');
    const { body: budget } = await until(
      () => harness.service.call('GET', '/api/v1/budgets/all'),
      ({ body }) => body.current.held.amount === '0' && body.current.spent.amount === costs.total.cost.amount,
    );
    expect(budget).not.toHaveProperty('blocked_models');
    expect(fromAmount(budget.current.left.amount)).toBe(
      fromAmount('1000') - fromAmount(costs.total.cost.amount as string),
    );
    const { body: statistics } = await until(
      () => harness.service.call('GET', `/api/v1/prompts/${prompt}/statistics`),
      ({ body }) => body.totals.invocations === 6,
    );
    expect(statistics.totals).toMatchObject({ invocations: 6, output_tokens: 60, without_usage: 6 });
  });

  it('is not kept in the cache', async () => {
    const model = `cached-says-${absurd[0]}`;
    await setPrice(model);
    const send = (): Promise<Answer> => harness.invoke(prompt, { model }, { 'Cache-Control': 'max-age=60' });
    const [first, second] = [await send(), await send()];
    expect([first.body.usage, second.body.usage, second.body.cost]).toEqual([{}, {}, usd('0')]);
    expect(first.body.cost.basis).toBe('ceiling');
  });

  it.each(['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'])(
    'is noticed in %s',
    async (name) => {
      for (const number of absurd) {
        const model = `body-${name}`;
        await setPrice(model);
        const usage = {
          ...{ prompt_tokens: 11, completion_tokens: 7 },
          prompt_tokens_details: { cached_tokens: 1 },
          completion_tokens_details: { reasoning_tokens: 1 },
        };
        const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }];
        const answer = { id: 'c', object: 'chat.completion', created: 1_790_000_000, model, choices, usage };
        const body = JSON.stringify(answer).replace(new RegExp(`("${name}":)\\d+`), `$1${number}`);
        harness.mock.behave(model, { kind: 'body', contentType: 'application/json', body });
        const lines = logged.length;
        const { body: answered } = await harness.invoke(prompt, { model });
        expect([answered.usage, answered.cost.basis]).toEqual([{}, 'ceiling']);
        expect(logged.slice(lines)).toEqual([expect.stringContaining('numbers of tokens that are not plausible')]);
      }
    },
  );

  it('leaves the cost unknown if the provider got no limit', async () => {
    const model = `unlimited-says-${absurd[0]}`;
    await setPrice(model);
    await setBudget(harness.service, 'all', { limit: usd('1000'), unpriced: 'allow' });
    const unlimited = await harness.createPrompt();
    const answer = await harness.invoke(unlimited, { model });
    expect(answer.body).toMatchObject({ usage: {}, cost: null });
    const record = await invocationOf(answer);
    expect(record.attempts[0]).toMatchObject({ usage_source: 'estimated', cost: null });
    expect(record.usage.outputTokens).toBeLessThan(50);
  });

  it('is more than two million, or than twice the ceiling', async () => {
    const bases = async (tokens: number, max_output_tokens: number): Promise<unknown[]> => {
      const found: unknown[] = [];
      for (const said of [tokens, tokens + 1]) {
        const model = `bound-says-${said}`;
        await setPrice(model);
        // Lifts what the call before has blocked.
        await setBudget(harness.service, 'all', { limit: usd('1000'), unpriced: 'allow' });
        const { body } = await harness.invoke(prompt, { model, parameters: { max_output_tokens } });
        found.push(body.cost.basis ?? body.cost.amount);
      }
      return found;
    };
    expect(await bases(2_000_000, 50)).toEqual(['8.000011', 'ceiling']);
    expect(await bases(3_000_000, 1_500_000)).toEqual(['12.000011', 'ceiling']);
  });
});
