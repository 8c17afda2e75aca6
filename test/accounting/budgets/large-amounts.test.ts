/** The highest prices and limits that can be set. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { fromAmount, mostOfBudget, showMoney } from '../../../src/base/runtime/money.ts';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { startAnother } from '../../support/per-operation.ts';
import type { TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { budgetsPath, setBudget, usd } from './budgets-harness.ts';

const invocationLogTimes = { beatMs: 50, termMs: 60_000, recoverEveryMs: 60_000, reportMs: 50 };
const highest = '999999.999999999';
/** Two million tokens of output, and eleven of input. */
const model = 'mock-held-says-2000000';
const costOfCall = (2_000_011n * 999_999_999_999_999n + 999_999n) / 1_000_000n;

let harness: InvokeHarness;
let service: TestService;
let other: TestService;
beforeAll(async () => {
  harness = await startInvokeHarness({ invocationLogTimes });
  ({ service } = harness);
  for (const name of [model, 'model-a']) {
    const body = { rates: [{ input: highest, output: highest }] };
    await service.call('PUT', `/api/v1/prices/mock/${name}`, { body });
  }
  const { OPENAI_COMPATIBLE_PROVIDERS = '' } = service.environment;
  other = await startAnother(service, { OPENAI_COMPATIBLE_PROVIDERS }, { invocationLogTimes });
});
afterAll(async () => {
  await other.close();
  await harness.close();
});

const nanos = ({ amount }: { amount: string }): bigint => fromAmount(amount);

it('counts costs to the last digit, and a budget up to eight million dollars', async () => {
  const prompt = await harness.createPrompt({ parameters: { max_output_tokens: 1 }, selected_model: model });
  const setBoth = async (): Promise<void> => {
    await setBudget(service, 'highest', { limit: usd(highest) });
    await setBudget(other, 'highest', { limit: usd(highest) });
  };
  await setBoth();
  const { body: budget } = await service.call('GET', `${budgetsPath}/highest`);
  expect(budget.limit).toEqual(usd(highest));

  // One call of each process is within what an int64 and a number can be, all of them are more than a budget counts.
  const send = (process: TestService): Promise<unknown> =>
    process.call('POST', `/api/v1/prompts/${prompt}/invoke`, { body: {} });
  let sum = 0n;
  for (const [index, processes] of [[service], [service, service, service, other, other, other]].entries()) {
    await setBoth();
    const sent = processes.map(send);
    await until(
      () => harness.mock.requests.length,
      (length) => length === processes.length,
    );
    harness.mock.release();
    const answers = (await Promise.all(sent)) as { body: { cost: { amount: string } } }[];
    for (const { body } of answers) expect(body.cost).toEqual(showMoney(costOfCall));
    harness.mock.reset();
    sum += BigInt(processes.length) * costOfCall;
    const counted = sum > BigInt(mostOfBudget) ? BigInt(mostOfBudget) : sum;
    const { body: costs } = await until(
      () => service.call('GET', '/api/v1/costs?by=key'),
      ({ body }) => body.total.calls === (index === 0 ? 1 : 7),
    );
    expect([costs.total.cost, costs.groups[0].sums.cost]).toEqual([showMoney(sum), showMoney(sum)]);
    const { body } = await until(
      () => service.call('GET', `${budgetsPath}/highest`),
      ({ body: { current } }) => current.held.amount === '0' && nanos(current.spent) === counted,
    );
    expect(body.current).toMatchObject({ spent: showMoney(counted), left: usd('0') });
    const refused = await harness.invoke(prompt, { model: 'model-a' });
    expect([refused.status, refused.body.left]).toEqual([402, usd('0')]);
    if (index === 0) await service.call('DELETE', `${budgetsPath}/highest`);
  }
});
