/** What calls of hosted models count, with the limits and prices of the table. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { fromAmount } from '../../../src/base/runtime/money.ts';
import { findTablePrice } from '../../../src/accounting/prices/price-table.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import type { Answer, TestService } from '../../support/service.ts';
import { mockUsage } from '../../support/mock-vendors.ts';
import { until } from '../../support/until.ts';
import { startMockProvider, type MockProvider } from '../../support/mock-provider.ts';
import { budgetsPath, setBudget, usd } from './budgets-harness.ts';

const million = 1_000_000;

let vendor: MockProvider;
let harness: InvokeHarness;
let service: TestService;
beforeAll(async () => {
  vendor = await startMockProvider();
  const environment = {
    OPENAI_API_KEY: 'sk-of-the-tests',
    OPENAI_BASE_URL: vendor.url,
    ANTHROPIC_API_KEY: 'sk-of-the-tests',
    ANTHROPIC_BASE_URL: vendor.url,
  };
  harness = await startInvokeHarness({
    environment,
    invocationLogTimes: { beatMs: 50, termMs: 60_000, recoverEveryMs: 60_000, reportMs: 50 },
  });
  ({ service } = harness);
  await service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates: [{ input: '1', output: '4' }] } });
});
afterAll(async () => {
  await harness.close();
  await vendor.close();
});
beforeEach(async () => {
  vendor.reset();
  harness.mock.reset();
  const { body } = await service.call('GET', budgetsPath);
  for (const { name } of body.data) await service.call('DELETE', `${budgetsPath}/${name}`);
});

/** Leaves a stream after its first words. @returns the record of its invocation */
async function leave(provider: string, model: string, parameters: object): Promise<Answer['body']> {
  const slug = await harness.createPrompt({ selected_provider: provider, selected_model: model, parameters });
  vendor.behave(model, { kind: 'stall' });
  const leaving = new AbortController();
  const answer = await harness.invokeUntil(leaving.signal, slug, { stream: true });
  expect(answer.status).toBe(200);
  await answer.body?.getReader().read();
  leaving.abort();
  const path = `/api/v1/invocations/${answer.headers.get('x-invocation-id')}`;
  const { body } = await until(
    () => service.call('GET', path),
    ({ status }) => status === 200,
  );
  return body;
}

it('refuses an option that changes the price', async () => {
  await setBudget(service, 'strict', { limit: usd('8.01') });
  const slug = await harness.createPrompt({
    ...{ selected_provider: 'openai', selected_model: 'gpt-4.1', parameters: { max_output_tokens: 50 } },
    provider_options: { openai: { serviceTier: 'priority' } },
  });
  const { status, body } = await harness.invoke(slug);
  expect([status, body]).toMatchObject([
    402,
    { cause: 'priced-option', provider: 'openai', model: 'gpt-4.1', detail: expect.stringContaining('Leave it out') },
  ]);
});

describe('a call that its caller left', () => {
  it('counts no more output than the model can write', async () => {
    await setBudget(service, 'shared', { limit: usd('8.01') });
    const { attempts } = await leave('openai', 'gpt-4.1', { max_output_tokens: million });
    expect(vendor.requests[0]?.body).toMatchObject({ max_tokens: million });
    expect(attempts).toMatchObject([{ usage_source: 'ceiling', usage: { outputTokens: 32_768 } }]);
    const { body } = await until(
      () => service.call('GET', `${budgetsPath}/shared`),
      ({ body: { current } }) => current.spent.amount !== '0' && current.held.amount === '0',
    );
    const spent = fromAmount(body.current.spent.amount as string);
    expect(spent).toBe(fromAmount(attempts[0].cost.amount as string));
    expect(spent).toBeLessThan(fromAmount('0.27'));
  });

  it('counts the input that the provider has said', async () => {
    await setBudget(service, 'shared', { limit: usd('8.01') });
    const model = 'claude-sonnet-4-5';
    const { attempts } = await leave('anthropic', model, { max_output_tokens: 1_000 });
    const [rate] = findTablePrice('anthropic', model)?.rates ?? [];
    expect(attempts).toMatchObject([
      {
        usage_source: 'ceiling',
        usage: { inputTokens: mockUsage.input, outputTokens: 1_000 },
        cost: { basis: 'ceiling', amount: '0.015033' },
        estimate: { usage: { inputTokens: mockUsage.input } },
      },
    ]);
    expect(rate).toMatchObject({ input: 3_000_000_000n, output: 15_000_000_000n });
  });
});

describe('a model that charges for more than tokens', () => {
  it.each(['gpt-5-image', 'gpt-4o-mini-search-preview', 'gpt-audio', 'o3-deep-research'])(
    'has no known cost: %s',
    async (model) => {
      await setBudget(service, 'shared', { limit: usd('8') });
      const parameters = { max_output_tokens: 10 };
      const slug = await harness.createPrompt({ selected_provider: 'openai', selected_model: model, parameters });
      const refused = await harness.invoke(slug);
      expect([refused.status, problemOf(refused), vendor.requests]).toEqual([402, 'cost-unknown', []]);
      await service.call('DELETE', `${budgetsPath}/shared`);
      const answer = await harness.invoke(slug);
      expect([answer.status, answer.body.cost]).toEqual([200, null]);
    },
  );
});

describe('a limit of output tokens that is larger than what a budget assumes', () => {
  const invoke = async (provider: string, model: string): Promise<Answer> => {
    const parameters = { max_output_tokens: 30_000 };
    return harness.invoke(
      await harness.createPrompt({ selected_provider: provider, selected_model: model, parameters }),
    );
  };

  it('is lowered for a model whose own limit is unknown, and the answer says so', async () => {
    await setBudget(service, 'shared', { limit: usd('8'), assume_max_output_tokens: 500 });
    const answer = await invoke('mock', 'model-a');
    expect(answer.body.warnings).toMatchObject([{ code: 'assumed-output-limit' }]);
    expect(harness.mock.requests[0]?.body).toMatchObject({ max_tokens: 500 });
    const { body } = await service.call('GET', `/api/v1/invocations/${answer.headers['x-invocation-id']}`);
    expect(body.assumed_max_output_tokens).toBe(500);
  });

  it('stays for a model whose own limit is known', async () => {
    await setBudget(service, 'shared', { limit: usd('8'), assume_max_output_tokens: 500 });
    const answer = await invoke('openai', 'gpt-4.1');
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty('warnings');
    expect(vendor.requests[0]?.body).toMatchObject({ max_tokens: 30_000 });
  });
});
