import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Budget } from '../../../src/accounting/budgets/budget.ts';
import type { PeriodStore } from '../../../src/accounting/budgets/period-store.ts';
import { createRefusals } from '../../../src/accounting/budgets/refusals.ts';
import { createThresholds } from '../../../src/accounting/budgets/thresholds.ts';
import { databaseUnavailable } from '../../../src/storage/db/database-errors.ts';
import { createMovableClock } from '../../support/clock.ts';

const random = { uuid: () => randomUUID() };
const errors: [string, error: Error, repetitions: number][] = [
  ['again at once after an outage', databaseUnavailable(new Error('no answer')), 1],
  ['later after an unexpected error', new TypeError('a mistake in the program'), 0],
];
const budget = {
  id: 'one',
  name: 'One',
  scope: 'all',
  limit: '100',
  thresholds: [50],
  period: 'once',
} as unknown as Budget;
const terms = { id: 'one|once', revision: 1, since: new Date(), resetsAt: undefined };

describe('what could not be written of a budget', () => {
  it.each(errors)('is written %s: refusals', async (_what, error, repetitions) => {
    let calls = 0;
    const periods = {
      ensure() {
        calls += 1;
        return calls === 1 ? Promise.reject(error) : Promise.resolve();
      },
      refuse: () => Promise.resolve(),
    } as unknown as PeriodStore;
    const clock = createMovableClock();
    const refusals = createRefusals({ periods, clock, random });
    refusals.add(budget, terms as never, clock.now());
    await expect(refusals.report()).rejects.toThrow(error.message);
    await refusals.report();
    expect(calls).toBe(1 + repetitions);
  });

  it.each(errors)('is written %s: thresholds', async (_what, error, repetitions) => {
    let calls = 0;
    const spending: PeriodStore['spending'] = () => {
      calls += 1;
      return calls === 1 ? Promise.reject(error) : Promise.resolve([]);
    };
    const periods = { spending } as PeriodStore;
    const clock = createMovableClock();
    const thresholds = createThresholds({ periods, budgets: () => [budget], clock, random });
    await expect(thresholds.check()).rejects.toThrow(error.message);
    await thresholds.check();
    expect(calls).toBe(1 + repetitions);
    clock.advance(60_001);
    await thresholds.check();
    expect(calls).toBe(2 + repetitions);
  });
});
