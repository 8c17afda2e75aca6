/** Budgets whose clock is set. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { createSteppableClock } from '../../support/clock.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { budgetsPath, setBudget, usd } from './budgets-harness.ts';

const clock = createSteppableClock();
const dayMs = 86_400_000;

let harness: InvokeHarness;
let prompt: string;
beforeAll(async () => {
  harness = await startInvokeHarness({
    invocationLogTimes: { beatMs: 50, termMs: 60_000, recoverEveryMs: 60_000, reportMs: 50 },
  });
  const rates = [{ input: '1', output: '4' }];
  await harness.service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates } });
  prompt = await harness.createPrompt({ parameters: { max_output_tokens: 50 } });
});
afterAll(async () => {
  clock.restore();
  await harness.close();
});

/** The period in progress, when nothing else is. @param spent that is expected */
async function current(name: string, spent: string): Promise<Answer['body']> {
  const { body } = await until(
    () => harness.service.call('GET', `${budgetsPath}/${name}`),
    ({ body: { current: found } }) => found.spent.amount === spent && found.held.amount === '0',
  );
  return body.current;
}

describe('a budget whose clock is set', () => {
  it('counts in the period in progress again after the clock was 40 days ahead', async () => {
    await setBudget(harness.service, 'monthly', { limit: usd('1'), period: 'month' });
    expect((await harness.invoke(prompt)).status).toBe(200);
    const before = await current('monthly', '0.000039');
    clock.step(40 * dayMs);
    expect((await harness.invoke(prompt)).status).toBe(200);
    const ahead = await current('monthly', '0.000039');
    expect(ahead.since > before.resets_at).toBe(true);
    clock.step(-40 * dayMs);
    expect((await harness.invoke(prompt)).status).toBe(200);
    expect((await current('monthly', '0.000078')).since).toBe(before.since);
    // A call belongs to the period in which it was reserved.
    clock.step(40 * dayMs);
    expect((await current('monthly', '0.000039')).since).toBe(ahead.since);
    clock.step(-40 * dayMs);
  });

  it('stays in a period that has begun when the clock is corrected a little', async () => {
    await setBudget(harness.service, 'daily', { limit: usd('1'), period: 'day' });
    const { resets_at: midnight } = await current('daily', '0');
    const untilMidnight = Date.parse(midnight as string) - Date.now();
    clock.step(untilMidnight + 1_000);
    expect((await harness.invoke(prompt)).status).toBe(200);
    clock.step(-120_000);
    expect((await harness.invoke(prompt)).status).toBe(200);
    clock.step(121_000);
    expect((await current('daily', '0.000078')).since).toBe(midnight);
  });
});
